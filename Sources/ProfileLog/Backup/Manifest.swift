/// The content of a backup: its files, the end of its log, the rows of table `meta`, and the register of erasures.
///
/// `manifest.json` is one JSON object. Its last line has the SHA-256 of the lines before it:
///
/// ```
/// {"format":1,"program":"0.1.0","store":"…", …,
/// "segments":[
/// {"file":"log/00000001.seg","bytes":6291456,"sha256":"…","first":1,"last":65536, …}
/// ],
/// "erasures":[
/// ],
/// "sha256":"…"}
/// ```
///
/// A file that it does not name is no part of the backup.
package struct Manifest: Hashable, Sendable {
    package static let format = 1
    package static let fileName = "manifest.json"

    /// A file of the backup.
    package struct File: Hashable, Sendable {
        /// Its path in the folder, as in `log/00000042.g7.seg`.
        package let name: String
        package let bytes: Int
        package let sha256: [UInt8]

        package init(name: String, content: [UInt8]) {
            (self.name, bytes, sha256) = (name, content.count, SHA256.hash(content))
        }

        init(name: String, bytes: Int, sha256: [UInt8]) {
            (self.name, self.bytes, self.sha256) = (name, bytes, sha256)
        }
    }

    /// A segment of the log.
    package struct SegmentFile: Hashable, Sendable {
        package let file: File
        package let first, last: Position
        /// The times of its first and its last record.
        package let firstAt, lastAt: Timestamp

        package var number: UInt64 { Segment.number(of: first) }
        package var isClosed: Bool { last == Segment.last(of: number) }
    }

    /// A file of settings, as `keys.json`.
    package struct SettingsFile: Hashable, Sendable {
        /// The name that a restore gives it.
        package let name: String
        package let file: File
    }

    /// The version of the program that wrote it.
    package var program: String
    package var store: [UInt8]
    /// The ID of the newest history; 0 for a store that was never restored.
    package var history: UInt64
    /// The time at which the backup was made, by the clock of that machine.
    package var written: Timestamp
    /// The time of the last verification by the service that writes the backup; nil if there was none.
    package var verified: Timestamp?
    /// The position of the last event of the backup; 0 if it has none.
    package var position: Position
    /// The time of the last event.
    package var recordedAt: Timestamp
    /// All files are as after the erasures up to this position. It may be after `position`: a run was stopped.
    package var erasedUpTo: Position
    /// The counters of erasures in table `meta`.
    package var rewrites, nameErasures: UInt32
    /// The rows of table `meta`, in the order of their keys.
    package var meta: [CommitBatch.MetaRow]
    package var names: File
    package var nameCount: UInt32
    /// In the order of their positions, without gaps; only the last one may be open.
    package var segments: [SegmentFile]
    package var settings: [SettingsFile]
    /// The register of erasures, in the order of their positions.
    package var erasures: [RegisteredErasure]
    /// The segment that the next run reads again, to find a disk that forgets.
    package var nextCheck: UInt64

    package var register: ErasureRegister { ErasureRegister(store: store, erasures: erasures) }

    /// All files of the backup but the manifest.
    package var files: [File] { segments.map(\.file) + [names] + settings.map(\.file) }

    /// The segment that has `position`; nil if none has.
    package func segment(at position: Position) -> SegmentFile? {
        guard position > .start, position <= self.position else { return nil }
        let index = Int(Segment.number(of: position) - 1)
        return index < segments.count ? segments[index] : nil
    }

    /// The segment with the last event that was recorded at `time` or before; nil if all are later.
    package func lastSegment(notAfter time: Timestamp) -> SegmentFile? { segments.last { $0.firstAt <= time } }
}

// MARK: - Writing

extension Manifest {
    /// The content of the file.
    package var bytes: [UInt8] {
        var lines = JSONWriter.bytes(ofObject: writeHead)
        lines[lines.count - 1] = UInt8(ascii: ",")
        lines.append(0x0A)
        Self.write("segments", segments, to: &lines) { $0.write(to: &$1) }
        Self.write("erasures", erasures, to: &lines) { $0.write(to: &$1) }
        return lines + Self.lastLine(of: lines)
    }

    private static func lastLine(of lines: [UInt8]) -> [UInt8] {
        Array("\"sha256\":\"\(Hexadecimal.text(SHA256.hash(lines)))\"}\n".utf8)
    }

    private func writeHead(_ json: inout JSONWriter) {
        json.member("format", Self.format)
        json.member("program", program)
        json.member("store", Hexadecimal.text(store))
        json.member("history", LogHistory.text(of: history))
        json.member("written_at", .int(written.rawValue))
        json.member("verified_at", verified.map { AttributeValue.int($0.rawValue) } ?? .null)
        json.member("position", position.rawValue)
        json.member("recorded_at", .int(recordedAt.rawValue))
        json.member("erased_up_to", erasedUpTo.rawValue)
        json.member("rewrites", UInt64(rewrites))
        json.member("name_erasures", UInt64(nameErasures))
        json.member("next_check", nextCheck)
        json.objects("meta", meta) { json, row in
            json.member("name", row.name)
            json.member("value", Hexadecimal.text(row.value))
        }
        json.object("names") { json in
            names.write(to: &json)
            json.member("count", UInt64(nameCount))
        }
        json.objects("settings", settings) { json, settings in
            json.member("name", settings.name)
            settings.file.write(to: &json)
        }
    }

    /// Writes an array with an object in each line.
    private static func write<Element>(
        _ key: String, _ elements: [Element], to lines: inout [UInt8], _ write: (Element, inout JSONWriter) -> Void
    ) {
        lines += Array("\"\(key)\":[\n".utf8)
        for (index, element) in elements.enumerated() {
            lines += JSONWriter.bytes(ofObject: { write(element, &$0) })
            if index < elements.count - 1 { lines.append(UInt8(ascii: ",")) }
            lines.append(0x0A)
        }
        lines += Array("],\n".utf8)
    }
}

extension Manifest.File {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("file", name)
        json.member("bytes", bytes)
        json.member("sha256", Hexadecimal.text(sha256))
    }

    fileprivate init(_ fields: ManifestFields) throws(BackupFault) {
        let name = try fields.text("file")
        // A manifest must not lead out of its folder.
        guard BackupFolder.isFileName(name) else { throw BackupFault("it names \(name)") }
        self.init(
            name: name, bytes: Int(try fields.count("bytes")), sha256: try fields.bytes("sha256", count: 32))
    }
}

extension Manifest.SegmentFile {
    fileprivate func write(to json: inout JSONWriter) {
        file.write(to: &json)
        json.member("first", first.rawValue)
        json.member("last", last.rawValue)
        json.member("first_at", .int(firstAt.rawValue))
        json.member("last_at", .int(lastAt.rawValue))
    }

    fileprivate init(_ fields: ManifestFields) throws(BackupFault) {
        self.init(
            file: try Manifest.File(fields), first: try fields.position("first"), last: try fields.position("last"),
            firstAt: try fields.time("first_at"), lastAt: try fields.time("last_at"))
    }
}

// MARK: - Reading

extension Manifest {
    /// Reads the file's content. A newer format is an error of its own, `newerFormat`.
    package init(_ bytes: [UInt8], path: String) throws(BackupError) {
        let file = "\(path)/\(Self.fileName)"
        let (fields, format): (ManifestFields, Int64)
        do throws(BackupFault) {
            fields = try Self.fields(bytes)
            format = try fields.integer("format")
        } catch {
            throw .damaged(path: file, reason: error.reason)
        }
        if format > Self.format { throw .newerFormat(path: path, needed: format) }
        do throws(BackupFault) { self = try Self(fields) } catch { throw .damaged(path: file, reason: error.reason) }
    }

    /// The object, if its last line has the hash of the lines before it.
    private static func fields(_ bytes: [UInt8]) throws(BackupFault) -> ManifestFields {
        guard bytes.last == 0x0A, let feed = bytes.dropLast().lastIndex(of: 0x0A) else {
            throw BackupFault("it is cut")
        }
        let lines = Array(bytes[...feed])
        guard Array(bytes[(feed + 1)...]) == lastLine(of: lines) else {
            throw BackupFault("it fails its checksum, or its end is missing")
        }
        guard let value = try? JSON.parse(bytes), case .object = value else {
            throw BackupFault("it is no JSON object")
        }
        return ManifestFields(value, "it")
    }

    private init(_ fields: ManifestFields) throws(BackupFault) {
        let names = try fields.object("names")
        self.init(
            program: try fields.text("program"), store: try fields.bytes("store", count: 16),
            history: try fields.history("history"), written: try fields.time("written_at"),
            verified: try fields.optionalTime("verified_at"),
            position: try fields.position("position"), recordedAt: try fields.time("recorded_at"),
            erasedUpTo: try fields.position("erased_up_to"), rewrites: UInt32(clamping: try fields.count("rewrites")),
            nameErasures: UInt32(clamping: try fields.count("name_erasures")), meta: [], names: try File(names),
            nameCount: UInt32(clamping: try names.count("count")), segments: [], settings: [], erasures: [],
            nextCheck: try fields.count("next_check"))
        for row in try fields.objects("meta") {
            meta.append(.init(name: try row.text("name"), value: try row.bytes("value")))
        }
        for entry in try fields.objects("settings") {
            let name = try entry.text("name")
            guard BackupFolder.isPlainName(name) else { throw BackupFault("it names \(name)") }
            settings.append(SettingsFile(name: name, file: try File(entry)))
        }
        for entry in try fields.objects("erasures") { erasures.append(try RegisteredErasure(entry)) }
        for entry in try fields.objects("segments") { segments.append(try SegmentFile(entry)) }
        try checkOrder()
    }

    private func checkOrder() throws(BackupFault) {
        var end = Position.start
        for segment in segments {
            guard segment.first == end.next, segment.first == Segment.first(of: segment.number),
                segment.last >= segment.first, segment.last <= Segment.last(of: segment.number)
            else { throw BackupFault("its segments are not in order") }
            if segment.file != segments.last?.file, !segment.isClosed {
                throw BackupFault("its segments are not in order")
            }
            end = segment.last
        }
        guard end == position else { throw BackupFault("its segments end at position \(end.rawValue)") }
    }
}

/// The members of an object of a manifest. What is missing or of another type is a fault of the file.
struct ManifestFields {
    private let value: AttributeValue
    private let place: String

    init(_ value: AttributeValue, _ place: String) { (self.value, self.place) = (value, place) }

    private func fault(_ key: String) -> BackupFault { BackupFault("\(place) has no right \(key)") }

    func text(_ key: String) throws(BackupFault) -> String {
        guard case .string(let text)? = value[Name(key)] else { throw fault(key) }
        return text
    }

    func integer(_ key: String) throws(BackupFault) -> Int64 {
        guard case .int(let number)? = value[Name(key)] else { throw fault(key) }
        return number
    }

    func count(_ key: String) throws(BackupFault) -> UInt64 {
        let number = try integer(key)
        guard number >= 0 else { throw fault(key) }
        return UInt64(number)
    }

    func position(_ key: String) throws(BackupFault) -> Position { Position(rawValue: try count(key)) }
    func time(_ key: String) throws(BackupFault) -> Timestamp { Timestamp(rawValue: try integer(key)) }

    /// A time, or null.
    func optionalTime(_ key: String) throws(BackupFault) -> Timestamp? {
        if case .null? = value[Name(key)] { return nil }
        return try time(key)
    }

    /// Bytes in hexadecimal digits, as many as `count` if that is given.
    func bytes(_ key: String, count: Int? = nil) throws(BackupFault) -> [UInt8] {
        guard let bytes = Hexadecimal.bytes(try text(key)), count ?? bytes.count == bytes.count else {
            throw fault(key)
        }
        return bytes
    }

    /// The ID of a history, in 16 hexadecimal digits.
    func history(_ key: String) throws(BackupFault) -> UInt64 {
        try bytes(key, count: 8).withUnsafeBytes { $0.bigEndian64() }
    }

    func object(_ key: String) throws(BackupFault) -> ManifestFields {
        guard let value = value[Name(key)], case .object = value else { throw fault(key) }
        return ManifestFields(value, place)
    }

    func objects(_ key: String) throws(BackupFault) -> [ManifestFields] {
        guard case .array(let elements)? = value[Name(key)] else { throw fault(key) }
        return elements.map { ManifestFields($0, place) }
    }
}
