internal import CCRC32C

/// CRC-32C (Castagnoli), the checksum after each record and name.
@usableFromInline
package func crc32c(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    profilelog_crc32c(bytes.baseAddress, bytes.count)
}
