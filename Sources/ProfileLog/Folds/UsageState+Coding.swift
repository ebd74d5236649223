/// The state as a message: equal states, equal bytes, as everything is in ascending order.
extension UsageProjection {
    private enum Field {
        static let app: UInt32 = 1
        static let appOnDevices: UInt32 = 2
        static let device: UInt32 = 3
        static let waiting: UInt32 = 4
    }

    /// The state's bytes.
    package static func encode(_ state: UsageState) -> [UInt8] {
        var writer = WireWriter()
        for (app, use) in state.apps.sorted(by: { $0.key < $1.key }) { write(use, of: app, as: Field.app, to: &writer) }
        if let use = state.appOnDevices { write(use, of: nil, as: Field.appOnDevices, to: &writer) }
        for device in state.devices.sorted() { writer.field(Field.device, text: device.text) }
        for (position, item) in state.waiting.sorted(by: { $0.key < $1.key }) {
            let begin = writer.beginMessage(Field.waiting)
            writer.field(1, text: item.app.text)
            writer.field(2, varint: position)
            writer.field(3, signed: item.at.rawValue)
            writer.endMessage(begin)
        }
        return Array(writer.bytes)
    }

    private static func write(
        _ use: UsageState.AppUse, of app: Name?, as field: UInt32, to writer: inout WireWriter
    ) {
        let begin = writer.beginMessage(field)
        if let app { writer.field(1, text: app.text) }
        writer.field(2, varint: use.sessions)
        writer.field(3, signed: use.first.rawValue)
        writer.field(4, signed: use.last.rawValue)
        writer.endMessage(begin)
    }

    /// The state that `encode` wrote; nil if the bytes are invalid.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> UsageState? {
        var state = UsageState()
        var reader = WireReader(bytes)
        while let field = reader.field() {
            guard field.type == .bytes else { return nil }
            if field.number == Field.device {
                state.devices.insert(Name(reader.text()))
                continue
            }
            guard let row = Row(reader.bytes()) else { return nil }
            switch field.number {
            case Field.app: state.apps[row.app] = row.use
            case Field.appOnDevices: state.appOnDevices = row.use
            case Field.waiting: state.waiting[row.number] = .init(app: row.app, at: row.first)
            default: return nil
            }
        }
        return reader.isBad ? nil : state
    }

    /// A message within: an app, a number of sessions or a position, and times.
    private struct Row {
        var app: Name = ""
        var number: UInt64 = 0
        var first = Timestamp(rawValue: 0)
        var last = Timestamp(rawValue: 0)

        var use: UsageState.AppUse { .init(sessions: number, first: first, last: last) }

        init?(_ message: UnsafeRawBufferPointer) {
            var reader = WireReader(message)
            while let field = reader.field() {
                switch (field.number, field.type) {
                case (1, .bytes): app = Name(reader.text())
                case (2, .varint): number = reader.varint()
                case (3, .varint): first = Timestamp(rawValue: reader.signed())
                case (4, .varint): last = Timestamp(rawValue: reader.signed())
                default: return nil
                }
            }
            if reader.isBad { return nil }
        }
    }
}
