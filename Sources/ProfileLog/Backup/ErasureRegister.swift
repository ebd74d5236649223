internal import Glibc

/// The erasure of a user, without personal data: for copies of a store from before it.
package struct RegisteredErasure: Hashable, Sendable {
    /// The position of the event `userErased`.
    package let position: Position
    /// The erased user. Each user who was merged into that one, and is erased with it, has an entry of their own: the
    /// merge may be later than a copy.
    package let user: UserNumber
    package let recordedAt: Timestamp
    /// The ID of the history in which it happened (`LogHistory`).
    package let history: UInt64
    /// The place and the time of the user's first event: in another history the number may be another person's, whose
    /// first event is elsewhere.
    package let first: Position
    package let firstAt: Timestamp

    package init(
        position: Position, user: UserNumber, recordedAt: Timestamp, history: UInt64, first: Position,
        firstAt: Timestamp
    ) {
        (self.position, self.user, self.recordedAt, self.history) = (position, user, recordedAt, history)
        (self.first, self.firstAt) = (first, firstAt)
    }
}

/// The erasures of a store, as `profilecli erasures export` writes them: JSON Lines, one erasure each.
package struct ErasureRegister: Hashable, Sendable {
    /// The file in the folder of a restored store with the erasures that its log does not tell of.
    package static let fileName = "erasures.jsonl"

    package let store: [UInt8]
    /// In the order of their positions.
    package var erasures: [RegisteredErasure]

    package init(store: [UInt8], erasures: [RegisteredErasure]) {
        (self.store, self.erasures) = (store, erasures)
    }

    /// A line for each erasure, with the ID of the store; a line with the ID alone comes first.
    package var lines: [String] {
        [Self.line { $0.member("store", Hexadecimal.text(store)) }]
            + erasures.map { erasure in
                Self.line { json in
                    json.member("store", Hexadecimal.text(store))
                    erasure.write(to: &json)
                }
            }
    }

    private static func line(_ write: (inout JSONWriter) -> Void) -> String {
        String(decoding: JSONWriter.bytes(ofObject: write), as: UTF8.self)
    }

    /// Reads what `lines` gives. The reason of the error names the line.
    package init(_ text: String) throws(BackupFault) {
        var store: [UInt8]?
        var erasures: [RegisteredErasure] = []
        for (index, line) in text.split(separator: "\n").enumerated() {
            let place = "line \(index + 1)"
            guard let value = try? JSON.parse(String(line)), case .object = value else {
                throw BackupFault("\(place) is no JSON object")
            }
            let fields = ManifestFields(value, place)
            let id = try fields.bytes("store", count: 16)
            if let store, store != id { throw BackupFault("\(place) is of another store") }
            store = id
            if value["position"] != nil { erasures.append(try RegisteredErasure(fields)) }
        }
        guard let store else { throw BackupFault("it has no line") }
        self.init(store: store, erasures: erasures.sorted { $0.position < $1.position })
    }
}

extension RegisteredErasure {
    func write(to json: inout JSONWriter) {
        json.member("position", position.rawValue)
        json.member("user", user.rawValue)
        json.member("recorded_at", .int(recordedAt.rawValue))
        json.member("history", LogHistory.text(of: history))
        json.member("first", first.rawValue)
        json.member("first_at", .int(firstAt.rawValue))
    }

    init(_ fields: ManifestFields) throws(BackupFault) {
        self.init(
            position: try fields.position("position"), user: UserNumber(rawValue: try fields.count("user")),
            recordedAt: try fields.time("recorded_at"), history: try fields.history("history"),
            first: try fields.position("first"), firstAt: try fields.time("first_at"))
    }
}

extension ErasureRegister {
    /// Reads the erasures at `path`: a file that `lines` fills, the manifest of a backup, or the folder of one.
    package static func read(_ path: String) throws(BackupError) -> ErasureRegister {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .unreachable(path: path, code: errno) }
        if status.st_mode & S_IFMT == S_IFDIR {
            guard let manifest = try BackupFolder.manifest(in: path) else { throw .noBackup(path: path) }
            return manifest.register
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/")
        guard let bytes = try BackupFolder.content(of: String(parts.last ?? ""), in: folder) else {
            throw .unreachable(path: path, code: ENOENT)
        }
        if bytes.starts(with: "{\"format\":".utf8) { return try Manifest(bytes, path: folder).register }
        do throws(BackupFault) {
            return try ErasureRegister(String(decoding: bytes, as: UTF8.self))
        } catch {
            throw .damagedErasures(path: path, reason: error.reason)
        }
    }
}
