/// Folds the events of each device into its pending-flush state: what waits in which storage and list, since when, and
/// its user.
///
/// The same state is kept live in tables `devices` and `pending`; `replay --verify` compares the two.
package enum PendingProjection: Projection {
    package static let name = "pending"
    package static let revision: UInt32 = 2
    package static let scope = ProjectionScope.device
    package static var initial: DeviceState { DeviceState() }

    package static func apply(_ event: borrowing EventView, to state: inout DeviceState) {
        guard let device = event.device, let body = RecordBody(event.header.body) else { return }
        DeviceChange.forEach(event.header, body, event.position.rawValue) { name, change in
            if name == device { state.apply(change) }
        }
    }

    /// The status, then the items by position.
    package static func encode(_ state: DeviceState) -> [UInt8] {
        var writer = WireWriter()
        let begin = writer.beginMessage(1)
        state.status.write(to: &writer)
        writer.endMessage(begin)
        for item in state.items.values.sorted(by: { $0.position < $1.position }) {
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

    package static func decode(_ bytes: UnsafeRawBufferPointer) -> DeviceState? {
        var state = DeviceState()
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .bytes):
                guard let status = DeviceStatus(reader.bytes()) else { return nil }
                state.status = status
            case (2, .bytes):
                guard let item = item(reader.bytes()) else { return nil }
                state.items[item.position] = item
            default: return nil
            }
        }
        return reader.isBad ? nil : state
    }

    private static func item(_ bytes: UnsafeRawBufferPointer) -> PendingItem? {
        var fields: [UInt64?] = Array(repeating: nil, count: 7)
        var reader = WireReader(bytes)
        while let field = reader.field() {
            guard field.type == .varint, field.number < 7 else { return nil }
            fields[Int(field.number)] = reader.varint()
        }
        guard !reader.isBad, let position = fields[1], let user = fields[2], let storage = fields[3] else { return nil }
        var item = PendingItem(
            storage: StorageCode(rawValue: UInt32(truncatingIfNeeded: storage)), user: user, position: position,
            kind: fields[4].flatMap { PendingKind(rawValue: UInt8(truncatingIfNeeded: $0)) })
        if let place = fields[5] { item.queued = .init(position: place, index: fields[6] ?? 0) }
        return item
    }
}
