/// The bytes by which two states of a device are compared: what the tables and the tail say, and what its events say.
extension DeviceState {
    /// The status, then the items by position.
    package var bytes: [UInt8] {
        var writer = WireWriter()
        let begin = writer.beginMessage(1)
        status.write(to: &writer)
        writer.endMessage(begin)
        for item in items.values.sorted(by: { $0.position < $1.position }) {
            let begin = writer.beginMessage(2)
            writer.field(1, varint: item.position)
            writer.field(2, varint: item.user)
            writer.field(3, varint: UInt64(item.storage.rawValue))
            writer.field(4, varint: UInt64(item.kind?.rawValue ?? 0))
            if let place = item.queued {
                writer.field(5, varint: place.position)
                writer.field(6, varint: place.index)
            }
            writer.endMessage(begin)
        }
        return Array(writer.bytes)
    }
}
