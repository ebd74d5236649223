/// The states of a projection by device, as one state over the whole store: it is stored, proved and erased like any
/// other of these.
package enum ByDevice<P: Projection>: StoreProjection {
    /// The name of the projection.
    package static var name: String { P.name }
    /// The revision of the projection.
    package static var revision: UInt32 { P.revision }
    /// No device.
    package static var initial: [Name: P.State] { [:] }

    /// Folds the event into the states of its devices.
    package static func apply(_ event: borrowing EventView, to states: inout [Name: P.State]) {
        for device in event.devices { P.apply(event.on(device), to: &states[device, default: P.initial]) }
    }

    /// As `apply`, for what waits.
    package static func applyWaiting(_ item: borrowing EventView, to states: inout [Name: P.State]) {
        for device in item.devices { P.applyWaiting(item.on(device), to: &states[device, default: P.initial]) }
    }

    /// Each device with its state, in the order of their IDs.
    package static func encode(_ states: [Name: P.State]) -> [UInt8] {
        var writer = WireWriter()
        for (device, state) in states.sorted(by: { $0.key < $1.key }) {
            writer.text(device.text)
            let bytes = P.encode(state)
            writer.varint(UInt64(bytes.count))
            bytes.withUnsafeBytes { writer.raw($0) }
        }
        return Array(writer.bytes)
    }

    /// The states that `encode` wrote; nil if the bytes are invalid.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> [Name: P.State]? {
        var states: [Name: P.State] = [:]
        var reader = WireReader(bytes)
        while !reader.isAtEnd, !reader.isBad {
            let device = Name(reader.text())
            guard let state = P.decode(reader.bytes()), !reader.isBad else { return nil }
            states[device] = state
        }
        return reader.isBad ? nil : states
    }
}
