/// Writes and reads the state: its parts in a fixed order, each in ascending order, so that equal states have equal
/// bytes.
extension UsageProjection {
    package static func encode(_ state: UsageState) -> [UInt8] {
        var writer = WireWriter()
        writer.varint(UInt64(state.apps.count))
        for (app, use) in state.apps.sorted(by: { $0.key < $1.key }) {
            writer.text(app.text)
            write(use, to: &writer)
        }
        writer.byte(state.appOnDevices == nil ? 0 : 1)
        if let use = state.appOnDevices { write(use, to: &writer) }
        writer.varint(UInt64(state.devices.count))
        for device in state.devices.sorted() { writer.text(device.text) }
        return Array(writer.bytes)
    }

    private static func write(_ use: UsageState.AppUse, to writer: inout WireWriter) {
        writer.varint(use.sessions)
        writer.littleEndian(use.first.rawValue)
        writer.littleEndian(use.last.rawValue)
    }

    package static func decode(_ bytes: UnsafeRawBufferPointer) -> UsageState? {
        var state = UsageState()
        var reader = WireReader(bytes)
        for _ in 0..<reader.count() { state.apps[Name(reader.text())] = use(&reader) }
        if reader.varint() == 1 { state.appOnDevices = use(&reader) }
        for _ in 0..<reader.count() { state.devices.insert(Name(reader.text())) }
        return reader.isBad || !reader.isAtEnd ? nil : state
    }

    private static func use(_ reader: inout WireReader) -> UsageState.AppUse {
        .init(sessions: reader.varint(), first: reader.timestamp(), last: reader.timestamp())
    }
}
