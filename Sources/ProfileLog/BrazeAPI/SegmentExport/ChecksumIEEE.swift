internal import ProfileLogRequests

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
