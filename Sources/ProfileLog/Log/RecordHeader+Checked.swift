extension RecordHeader {
    /// The header of the record that is at `position` of the log. Throws `StorageError.damaged` with the place if there
    /// is none, or if its checksum is not that of its bytes.
    @inlinable
    @inline(__always)
    package init(_ record: UnsafeRawBufferPointer?, at position: UInt64) throws {
        guard let record else { throw StorageError.damaged(place: "position \(position) of the log is missing") }
        guard Self.hasRightChecksum(record), let header = RecordHeader(record) else {
            throw StorageError.damaged(place: "the record at position \(position) fails its checksum")
        }
        self = header
    }
}
