/// The names of a backup with their numbers, as table `names` has them.
///
/// A pure function of the rows. Numbers are big-endian.
///
/// ```
/// header   "PLNAMES\0" | format, uint32 | store, 16 bytes | history, uint64 | number of names, uint32
/// name     number of the row's bytes, uint32 | the row: UTF-8 and CRC-32C. Names are numbered from 1, in order
/// footer   CRC-32C of all bytes before, uint32
/// ```
package struct NamesSegment: Hashable, Sendable {
    package static let format: UInt32 = 1
    private static let magic = Array("PLNAMES\0".utf8)
    private static let headerBytes = 40
    private static let footerBytes = 4

    package let store: [UInt8]
    package let history: UInt64
    /// The rows in the order of their numbers, from 1. A name that was erased has a checksum alone.
    package let rows: [[UInt8]]

    package init(store: [UInt8], history: UInt64, rows: [[UInt8]]) {
        (self.store, self.history, self.rows) = (store, history, rows)
    }

    /// The whole file.
    package var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.appendBigEndian(Self.format)
        bytes += store
        bytes.appendBigEndian(history)
        bytes.appendBigEndian(UInt32(rows.count))
        for row in rows {
            bytes.appendBigEndian(UInt32(row.count))
            bytes += row
        }
        let checksum = bytes.withUnsafeBytes { crc32c($0) }
        bytes.appendBigEndian(checksum)
        return bytes
    }

    /// Reads a file. Compares all checksums, those of the names too.
    package init(_ bytes: [UInt8]) throws(BackupFault) {
        let parts = try withTypedBytes(bytes) { (file) throws(BackupFault) in try Self.read(file) }
        (store, history, rows) = parts
    }

    private static func read(
        _ file: UnsafeRawBufferPointer
    ) throws(BackupFault) -> (store: [UInt8], history: UInt64, rows: [[UInt8]]) {
        guard file.count >= headerBytes + footerBytes else { throw BackupFault("it is cut") }
        guard file.slice(0..<8).elementsEqual(magic) else { throw BackupFault("it is no file of names") }
        let needed = file.bigEndian32(at: 8)
        guard needed == format else { throw BackupFault("it is of format \(needed)") }
        let end = file.count - footerBytes
        guard file.bigEndian32(at: end) == crc32c(file.slice(0..<end)) else {
            throw BackupFault("it fails its checksum")
        }
        var rows: [[UInt8]] = []
        var offset = headerBytes
        for number in 0..<file.bigEndian32(at: 36) {
            guard offset + 4 <= end else { throw BackupFault("name \(number + 1) is missing") }
            let (begin, length) = (offset + 4, Int(file.bigEndian32(at: offset)))
            guard begin + length <= end, RecordHeader.hasRightChecksum(file.slice(begin..<begin + length)) else {
                throw BackupFault("name \(number + 1) fails its checksum")
            }
            rows.append(Array(file[begin..<begin + length]))
            offset = begin + length
        }
        guard offset == end else { throw BackupFault("it has bytes after its last name") }
        return (Array(file[12..<28]), file.bigEndian64(at: 28), rows)
    }
}
