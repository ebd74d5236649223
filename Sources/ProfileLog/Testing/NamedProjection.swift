internal import CFolding
internal import ProfileLog

/// The projection `P`. If it traps, standard error says first what it was doing:
///
///     ProfileLog: the projection coins trapped in apply, at position 12 (customEventLogged)
enum NamedProjection<P: Projection>: Projection {
    typealias Key = P.Key

    static var name: String { P.name }
    static var revision: UInt32 { P.revision }
    static var initial: P.State { P.initial }

    static func apply(_ event: borrowing EventView, to state: inout P.State) {
        begin("apply", event)
        P.apply(event, to: &state)
        folding_end()
    }

    static func applyWaiting(_ item: borrowing EventView, to state: inout P.State) {
        begin("applyWaiting", item)
        P.applyWaiting(item, to: &state)
        folding_end()
    }

    static func merge(_ source: P.State, into target: inout P.State, by event: borrowing EventView) {
        begin("merge", event)
        P.merge(source, into: &target, by: event)
        folding_end()
    }

    static func encode(_ state: P.State) -> [UInt8] {
        begin("encode")
        defer { folding_end() }
        return P.encode(state)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer) -> P.State? {
        begin("decode")
        defer { folding_end() }
        return P.decode(bytes)
    }

    private static func begin(_ function: String, _ event: borrowing EventView) {
        let kind = event.kind.map { "\($0)" } ?? "an unknown kind"
        begin("\(function), at position \(event.position.rawValue) (\(kind))")
    }

    private static func begin(_ place: String) { folding_begin("the projection \(P.name) trapped in \(place)") }
}

extension NamedProjection: UserProjection where P: UserProjection {}
extension NamedProjection: StoreProjection where P: StoreProjection {}
extension NamedProjection: DeviceProjection where P: DeviceProjection {}
