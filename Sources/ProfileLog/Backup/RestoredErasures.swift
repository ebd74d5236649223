/// The erasures that a restore applies to records from before them: the backup is a copy that is older than an erasure.
///
/// Records become tombstones and names become empty, as `Eraser` leaves them. There is no event `userErased`: the log
/// ends before it.
package struct RestoredErasures: Sendable {
    /// Users whose records become tombstones: the erased ones, and all who were merged into them.
    package private(set) var users: Set<UInt64> = []
    /// The number of their records that have content.
    package private(set) var events: UInt64 = 0
    /// The numbers of names that no other user has used up to the end.
    private(set) var forgottenNames: Set<UInt32> = []

    /// Nothing to erase.
    package init() {}

    /// Finds what `register` erases in a backup up to position `end`. Reads all segments twice, if there may be
    /// anything.
    init(
        _ register: ErasureRegister, in reader: BackupReader, upTo end: Position, names: NamesSegment,
        _ progress: (LogProgress) throws -> Void
    ) throws {
        // What the backup knows was erased in its segments.
        let unknown = Set(register.erasures).subtracting(reader.manifest.erasures)
        if unknown.isEmpty { return }
        users = try Self.users(of: unknown, reader, progress)
        if users.isEmpty { return }
        var own = [Bool](repeating: false, count: names.rows.count + 1)
        var others = own
        try reader.forEachRecord(upTo: end, stage: "names", progress) { position, record in
            let header = try RecordHeader(record, at: position.rawValue)
            guard let body = RecordBody(header.body) else { throw reader.unreadable(position) }
            if body.erased { return }
            let isErased = self.isErased(header)
            if isErased { events += 1 }
            body.forEachName(header.kind) { number in
                guard number < own.count else { return }
                if isErased { own[Int(number)] = true } else { others[Int(number)] = true }
            }
        }
        for number in own.indices where own[number] && !others[number] { forgottenNames.insert(UInt32(number)) }
    }

    /// The users of `erasures` who are the same persons in the backup, and all who were merged into them there.
    private static func users(
        of erasures: Set<RegisteredErasure>, _ reader: BackupReader, _ progress: (LogProgress) throws -> Void
    ) throws -> Set<UInt64> {
        var wanted: [UInt64: [RegisteredErasure]] = [:]
        for erasure in erasures { wanted[erasure.user.rawValue, default: []].append(erasure) }
        var sources: [UInt64: [UInt64]] = [:]
        var waiting: [UInt64] = []
        try reader.forEachRecord(upTo: reader.manifest.position, stage: "users", progress) { position, record in
            let header = try RecordHeader(record, at: position.rawValue)
            if header.version == 1, let known = wanted[header.user],
                known.contains(where: { $0.first == position && $0.firstAt.rawValue == header.recordedAt })
            {
                waiting.append(header.user)
            }
            if header.kind == .usersMerged, let source = RecordBody(header.body)?.otherUser {
                sources[header.user, default: []].append(source)
            }
        }
        var users: Set<UInt64> = []
        while let user = waiting.popLast() {
            if users.insert(user).inserted { waiting += sources[user] ?? [] }
        }
        return users
    }

    /// Tells whether the record becomes a tombstone. An earlier erasure of the same user stays in the log.
    private func isErased(_ header: RecordHeader) -> Bool { users.contains(header.user) && header.kind != .userErased }

    /// The tombstone in place of `record`; nil if it stays as it is.
    func tombstone(of record: UnsafeRawBufferPointer, at position: Position) throws -> [UInt8]? {
        if users.isEmpty { return nil }
        let header = try RecordHeader(record, at: position.rawValue)
        guard isErased(header), let body = RecordBody(header.body), !body.erased else { return nil }
        return Tombstone.record(of: header)
    }
}

extension BackupReader {
    /// Calls `body` with the records up to `end` in order, each of which has a right checksum.
    func forEachRecord(
        upTo end: Position, stage: String, _ progress: (LogProgress) throws -> Void,
        _ body: (Position, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        for file in manifest.segments where file.first <= end {
            try segment(file).forEachRecord(to: end, body)
            try progress(
                LogProgress(stage: stage, done: min(file.last, end).rawValue, total: end.rawValue))
        }
    }

    /// The error of a record whose checksum is right, and which this program cannot read.
    func unreadable(_ position: Position) -> BackupError {
        let name = manifest.segment(at: position)?.file.name ?? Manifest.fileName
        return .damaged(path: "\(path)/\(name)", reason: "the record at position \(position.rawValue) is unreadable")
    }
}
