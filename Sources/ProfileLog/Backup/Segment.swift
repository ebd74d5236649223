/// A part of the log in a backup: the records of up to 65,536 positions, as table `log` has them.
///
/// A pure function of the rows: the same rows always give the same bytes. Numbers are big-endian.
///
/// ```
/// header   "PLSEGMNT" | format, uint32 | store, 16 bytes | history, uint64 | first and last position, uint64 each
///          | CRC-32C of the bytes before, uint32
/// record   number of its bytes, uint32 | its bytes, which end with their own CRC-32C
/// footer   number of records, uint64 | CRC-32C of all bytes before, uint32
/// ```
///
/// Segment `n`, from 1, begins with position `(n - 1) * 65_536 + 1`. It is *closed* if it has all of its positions;
/// only the last segment of a backup may be open.
package struct Segment: Sendable {
    /// The positions of a closed segment.
    package static let positions: UInt64 = 65_536
    package static let format: UInt32 = 1
    static let magic = Array("PLSEGMNT".utf8)
    static let headerBytes = 56
    static let footerBytes = 12
    /// The shortest record that `RecordHeader` reads.
    private static let shortestRecord = 12

    /// The ID of the store.
    package let store: [UInt8]
    /// The ID of the history (`LogHistory`); 0 for a store that was never restored.
    package let history: UInt64
    package let first, last: Position
    /// The whole file.
    package let bytes: [UInt8]
    /// The offset of each record's bytes, and of the footer.
    private let offsets: [Int]

    package var number: UInt64 { Self.number(of: first) }
    package var count: Int { offsets.count - 1 }

    /// The number of the segment that has `position`.
    package static func number(of position: Position) -> UInt64 { (position.rawValue - 1) / positions + 1 }

    /// The first position of a segment.
    package static func first(of number: UInt64) -> Position { Position(rawValue: (number - 1) * positions + 1) }

    /// The last position of a closed segment.
    package static func last(of number: UInt64) -> Position { Position(rawValue: number * positions) }

    /// Reads a file. Compares all checksums, those of the records too.
    package init(_ bytes: [UInt8]) throws(BackupFault) {
        let parts = try withTypedBytes(bytes) { (file) throws(BackupFault) in try Self.read(file) }
        (store, history, first, last, offsets) = parts
        self.bytes = bytes
    }

    private typealias Parts = (
        store: [UInt8], history: UInt64, first: Position, last: Position, offsets: [Int]
    )

    private static func read(_ file: UnsafeRawBufferPointer) throws(BackupFault) -> Parts {
        guard file.count >= headerBytes + footerBytes else { throw BackupFault("it is cut") }
        guard file.slice(0..<8).elementsEqual(magic) else { throw BackupFault("it is no segment of a log") }
        let needed = file.bigEndian32(at: 8)
        guard needed == format else { throw BackupFault("it is of format \(needed)") }
        guard file.bigEndian32(at: 52) == crc32c(file.slice(0..<52)) else {
            throw BackupFault("its header fails its checksum")
        }
        let (first, last) = (file.bigEndian64(at: 36), file.bigEndian64(at: 44))
        guard first % positions == 1, first <= last, last - first < positions else {
            throw BackupFault("its header has impossible positions")
        }
        let end = file.count - footerBytes
        guard file.bigEndian64(at: end) == last - first + 1,
            file.bigEndian32(at: end + 8) == crc32c(file.slice(0..<end + 8))
        else { throw BackupFault("its footer fails its checksum") }
        var offsets: [Int] = []
        offsets.reserveCapacity(Int(last - first) + 2)
        var offset = headerBytes
        for position in first...last {
            guard offset + 4 <= end else { throw BackupFault("position \(position) is missing") }
            let (begin, length) = (offset + 4, Int(file.bigEndian32(at: offset)))
            guard length >= shortestRecord, begin + length <= end else {
                throw BackupFault("the record at position \(position) has an impossible length")
            }
            let record = file.slice(begin..<begin + length)
            guard RecordHeader.hasRightChecksum(record), RecordHeader(record) != nil else {
                throw BackupFault("the record at position \(position) fails its checksum")
            }
            offsets.append(begin)
            offset = begin + length
        }
        guard offset == end else { throw BackupFault("it has bytes after its last record") }
        offsets.append(end + 4)
        return (
            Array(file[12..<28]), file.bigEndian64(at: 28), Position(rawValue: first), Position(rawValue: last), offsets
        )
    }

    /// Calls `body` with the records in order.
    package func forEachRecord(
        from: Position = .start, to: Position = Position(rawValue: .max),
        _ body: (Position, UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        try bytes.withUnsafeBytes { file in
            var position = max(first, from)
            while position <= min(last, to) {
                try body(position, file.slice(range(of: position)))
                position = position.next
            }
        }
    }

    /// Lends the record at `position`, which is of this segment.
    package func withRecord<Result>(
        at position: Position, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try bytes.withUnsafeBytes { try body($0.slice(range(of: position))) }
    }

    private func range(of position: Position) -> Range<Int> {
        let index = Int(position.rawValue - first.rawValue)
        return offsets[index]..<offsets[index + 1] - 4
    }

    /// The time of the record at `position`.
    package func recordedAt(_ position: Position) -> Timestamp {
        withRecord(at: position) { Timestamp(rawValue: RecordHeader($0)?.recordedAt ?? 0) }
    }
}

/// Writes the bytes of a segment, record by record.
package struct SegmentWriter {
    private let first: Position
    private var bytes: [UInt8]
    package private(set) var count: UInt64 = 0

    /// The bytes written so far.
    package var size: Int { bytes.count }
    /// The position of the next record.
    package var next: Position { Position(rawValue: first.rawValue + count) }

    /// Begins the segment `number`, which will have some `expected` bytes; 0 if that is not known.
    package init(store: [UInt8], history: UInt64, number: UInt64, expecting expected: Int = 0) {
        first = Segment.first(of: number)
        bytes = []
        // More than it needs costs nothing, and one byte too few a copy.
        bytes.reserveCapacity(expected + expected / 8)
        bytes += Segment.magic
        bytes.appendBigEndian(Segment.format)
        bytes += store
        bytes.appendBigEndian(history)
        bytes.appendBigEndian(first.rawValue)
        // The last position and the checksum are known at the end.
        bytes += [UInt8](repeating: 0, count: Segment.headerBytes - bytes.count)
    }

    /// Adds the record of the next position.
    package mutating func append(_ record: UnsafeRawBufferPointer) {
        bytes.appendBigEndian(UInt32(record.count))
        bytes.append(contentsOf: record)
        count += 1
    }

    /// The whole file. The writer is empty then: there is one copy of the bytes.
    package mutating func finish() -> [UInt8] {
        var file: [UInt8] = []
        swap(&file, &bytes)
        var last: [UInt8] = []
        last.appendBigEndian(first.rawValue + count - 1)
        file.replaceSubrange(44..<52, with: last)
        let checksum = file.withUnsafeBytes { crc32c($0.slice(0..<52)) }
        var header: [UInt8] = []
        header.appendBigEndian(checksum)
        file.replaceSubrange(52..<56, with: header)
        file.appendBigEndian(count)
        let whole = file.withUnsafeBytes { crc32c($0) }
        file.appendBigEndian(whole)
        return file
    }
}
