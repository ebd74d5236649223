internal import CCRC32C

/// CRC-32C (Castagnoli), the checksum after each record and name.
@usableFromInline
package func crc32c(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    profilelog_crc32c(bytes.baseAddress, bytes.count)
}

extension [UInt8] {
    /// Appends the CRC-32C of the bytes, little-endian.
    package mutating func appendChecksum() {
        let checksum = withUnsafeBytes { crc32c($0) }
        Swift.withUnsafeBytes(of: checksum.littleEndian) { append(contentsOf: $0) }
    }
}
