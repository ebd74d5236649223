internal import Foundation
internal import ProfileLogRequests

/// A file with the lines of an export, written from front to back: only what the caller passes is in memory.
///
/// Its content is stored, not compressed; every reader of the format reads that.
protocol ExportArchive {
    init(_ file: FileHandle)
    /// Begins the next part.
    mutating func begin(_ name: String) throws
    mutating func append(_ bytes: [UInt8]) throws
    mutating func finish() throws
}

/// A zip file with one entry for each part.
struct ZipArchive: ExportArchive {
    private let file: FileHandle
    private var offset: UInt64 = 0
    private var entries: [Entry] = []

    private struct Entry {
        let name: [UInt8]
        let offset: UInt64
        var bytes: UInt64 = 0
        var checksum = ChecksumIEEE()
    }

    /// The offset of the checksum in an entry.
    private static let checksumOffset: UInt64 = 14

    init(_ file: FileHandle) { self.file = file }

    mutating func begin(_ name: String) throws {
        try end()
        let entry = Entry(name: Array(name.utf8), offset: offset)
        entries.append(entry)
        var header: [UInt8] = []
        header.append(little: UInt32(0x0403_4B50))
        Self.describe(entry, to: &header)
        header += entry.name
        try write(header)
    }

    mutating func append(_ bytes: [UInt8]) throws {
        entries[entries.count - 1].bytes += UInt64(bytes.count)
        entries[entries.count - 1].checksum.add(bytes)
        try write(bytes)
    }

    mutating func finish() throws {
        try end()
        let begin = offset
        for entry in entries {
            var row: [UInt8] = []
            row.append(little: UInt32(0x0201_4B50))
            row.append(little: UInt16(20))  // made by version 2.0
            Self.describe(entry, to: &row)
            row += [UInt8](repeating: 0, count: 10)  // comment, disk, attributes
            row.append(little: UInt32(truncatingIfNeeded: entry.offset))
            row += entry.name
            try write(row)
        }
        var end: [UInt8] = []
        end.append(little: UInt32(0x0605_4B50))
        end.append(little: UInt32(0))  // disks
        end.append(little: UInt16(entries.count))
        end.append(little: UInt16(entries.count))
        end.append(little: UInt32(truncatingIfNeeded: offset - begin))
        end.append(little: UInt32(truncatingIfNeeded: begin))
        end.append(little: UInt16(0))  // comment
        try write(end)
    }

    /// Version, flags, method, time, checksum, both sizes, the name's length and that of extra fields: alike in both
    /// kinds of header.
    private static func describe(_ entry: Entry, to bytes: inout [UInt8]) {
        bytes.append(little: UInt16(20))  // needs version 2.0
        bytes.append(little: UInt16(0x0800))  // the name is UTF-8
        bytes.append(little: UInt16(0))  // stored
        bytes.append(little: UInt32(0x0021_0000))  // 1980-01-01
        bytes.append(little: entry.checksum.value)
        bytes.append(little: UInt32(truncatingIfNeeded: entry.bytes))
        bytes.append(little: UInt32(truncatingIfNeeded: entry.bytes))
        bytes.append(little: UInt16(entry.name.count))
        bytes.append(little: UInt16(0))
    }

    /// Writes into the header of the open entry what only its end shows.
    private func end() throws {
        guard let entry = entries.last else { return }
        var facts: [UInt8] = []
        facts.append(little: entry.checksum.value)
        facts.append(little: UInt32(truncatingIfNeeded: entry.bytes))
        facts.append(little: UInt32(truncatingIfNeeded: entry.bytes))
        try file.seek(toOffset: entry.offset + Self.checksumOffset)
        try file.write(contentsOf: facts)
        try file.seek(toOffset: offset)
    }

    private mutating func write(_ bytes: [UInt8]) throws {
        // Beyond, the format needs other headers; and the directory at the end needs room.
        guard offset + UInt64(bytes.count) < 0xFFF0_0000, entries.count <= 0xFFFF else {
            throw APIError(
                status: 507, code: "export_too_large", error: "The export is larger than a zip file can be (4 GiB).",
                remedy: "Ask for fewer fields, or for output_format gzip.")
        }
        try file.write(contentsOf: bytes)
        offset += UInt64(bytes.count)
    }
}

/// A gzip file with all parts, one after the other.
struct GzipArchive: ExportArchive {
    private let file: FileHandle
    private var bytes: UInt32 = 0
    private var checksum = ChecksumIEEE()
    private var hasBegun = false

    init(_ file: FileHandle) { self.file = file }

    mutating func begin(_ name: String) throws {
        if hasBegun { return }
        hasBegun = true
        try file.write(contentsOf: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF] as [UInt8])
    }

    /// As blocks of at most 65,535 bytes that are stored as they are.
    mutating func append(_ content: [UInt8]) throws {
        var rest = content[...]
        while !rest.isEmpty {
            let part = rest.prefix(0xFFFF)
            rest = rest.dropFirst(0xFFFF)
            try file.write(contentsOf: Self.block(part, isLast: false))
        }
        checksum.add(content)
        bytes &+= UInt32(truncatingIfNeeded: content.count)
    }

    mutating func finish() throws {
        var end = Self.block([], isLast: true)
        end.append(little: checksum.value)
        end.append(little: bytes)
        try file.write(contentsOf: end)
    }

    private static func block(_ bytes: ArraySlice<UInt8>, isLast: Bool) -> [UInt8] {
        var block: [UInt8] = [isLast ? 1 : 0]
        block.append(little: UInt16(bytes.count))
        block.append(little: ~UInt16(bytes.count))
        return block + bytes
    }
}

/// The CRC-32 of zip and gzip files (polynomial 0xEDB88320), byte by byte from a table.
struct ChecksumIEEE {
    private var register: UInt32 = .max

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { register = register >> 8 ^ Self.table[Int((register ^ UInt32(byte)) & 0xFF)] }
    }

    var value: UInt32 { ~register }
}

extension [UInt8] {
    /// Appends `number`, its lowest byte first, as zip and gzip have all numbers.
    mutating func append(little number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
