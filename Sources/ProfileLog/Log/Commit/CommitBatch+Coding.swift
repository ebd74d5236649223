/// The bytes of a commit batch, for a transport that carries it to another store.
///
/// ```
/// format uint32 BE | bytes of the content uint64 BE | content | CRC-32C of all before it uint32 LE
///
/// content: first position | first name | names | records | tombstones | forgotten names | rows of meta
/// ```
///
/// Numbers in the content are varints. A list is a count and its items; bytes and texts are a length and as many bytes.
/// A tombstone is a position and the bytes of the record; a row of `meta` is its name and its value.
extension CommitBatch {
    /// Raised when the layout changes.
    static let format: UInt32 = 1
    private static let frontBytes = 12
    private static let checksumBytes = 4

    /// The reason why bytes are no commit batch.
    package enum DecodingError: Error, Hashable, CustomStringConvertible {
        /// A newer program wrote the batch.
        case newerFormat(needed: UInt32, known: UInt32)
        /// The bytes are not what was encoded.
        case damaged(reason: String)

        package var description: String {
            switch self {
            case .newerFormat(let needed, let known):
                "The commit batch is of format \(needed); this program knows formats up to \(known)."
            case .damaged(let reason): "The commit batch is damaged: \(reason)."
            }
        }
    }

    /// The batch as bytes.
    package func encoded() -> [UInt8] {
        var writer = WireWriter(capacity: bytes.count + 256)
        writer.littleEndian(Self.format.bigEndian)
        writer.littleEndian(UInt64(0))
        writer.varint(firstPosition)
        writer.varint(UInt64(firstName))
        writer.list(names) { $0.bytes(Array($1.text.utf8)) }
        writer.varint(UInt64(count))
        forEachRecord { writer.bytes($0) }
        writer.list(tombstones) {
            $0.varint($1.position)
            $0.bytes($1.tombstone)
        }
        writer.list(forgottenNames) { $0.varint(UInt64($1)) }
        writer.list(meta) {
            $0.bytes(Array($1.name.utf8))
            $0.bytes($1.value)
        }
        var encoded = Array(writer.bytes)
        let length = UInt64(encoded.count - Self.frontBytes)
        withUnsafeBytes(of: length.bigEndian) { encoded.replaceSubrange(4..<Self.frontBytes, with: $0) }
        encoded.appendChecksum()
        return encoded
    }

    /// The batch that `encoded()` gave these bytes.
    package init(decoding encoded: [UInt8]) throws(DecodingError) {
        self.init()
        try withTypedBytes(encoded) { (bytes) throws(DecodingError) in try read(bytes) }
    }

    private mutating func read(_ encoded: UnsafeRawBufferPointer) throws(DecodingError) {
        guard encoded.count >= 4 else { throw .damaged(reason: "it has no format") }
        let format = encoded.bigEndian32()
        guard format <= Self.format else { throw .newerFormat(needed: format, known: Self.format) }
        let around = Self.frontBytes + Self.checksumBytes
        guard encoded.count >= around, encoded.bigEndian64(at: 4) == UInt64(encoded.count - around) else {
            throw .damaged(reason: "\(encoded.count) bytes are not its length")
        }
        guard RecordHeader.hasRightChecksum(encoded) else { throw .damaged(reason: "it fails its checksum") }
        var reader = WireReader(encoded.slice(Self.frontBytes..<(encoded.count - Self.checksumBytes)))
        firstPosition = reader.varint()
        firstName = reader.number()
        names = reader.list { Name($0.text()) }
        for _ in 0..<reader.count() {
            bytes.append(contentsOf: reader.bytes())
            ends.append(bytes.count)
        }
        tombstones = reader.list { BuriedRecord(position: $0.varint(), tombstone: Array($0.bytes())) }
        forgottenNames = reader.list { $0.number() }
        meta = reader.list { MetaRow(name: $0.text(), value: Array($0.bytes())) }
        guard !reader.isBad, reader.isAtEnd, format == Self.format else {
            throw .damaged(reason: "its content is none of a batch")
        }
    }
}

extension WireWriter {
    fileprivate mutating func list<Item>(_ items: [Item], _ write: (inout WireWriter, Item) -> Void) {
        varint(UInt64(items.count))
        for item in items { write(&self, item) }
    }

    fileprivate mutating func bytes(_ bytes: UnsafeRawBufferPointer) {
        varint(UInt64(bytes.count))
        raw(bytes)
    }

    fileprivate mutating func bytes(_ bytes: [UInt8]) { bytes.withUnsafeBytes { self.bytes($0) } }
}

extension WireReader {
    fileprivate mutating func list<Item>(_ read: (inout WireReader) -> Item) -> [Item] {
        var items: [Item] = []
        for _ in 0..<count() {
            if isBad { break }
            items.append(read(&self))
        }
        return items
    }

    /// A number of a name.
    fileprivate mutating func number() -> UInt32 {
        let number = UInt32(exactly: varint())
        if number == nil { fail() }
        return number ?? 0
    }
}
