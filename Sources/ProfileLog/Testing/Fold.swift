public import ProfileLog

/// The state of the user after `steps`, folded by a real log: nothing is imitated.
///
/// ```swift
/// let song = CustomEvent(name: "played song", properties: [.init("minutes", 3)])
/// let minutes = try fold(MinutesPlayed.self, given: [.logged(song), .saved(song), .launch, .void(0)])
/// ```
///
/// Throws what the log refuses, as an `AppendError`. If the projection traps, standard error names the event first.
public func fold<P: UserProjection>(_: P.Type, given steps: [Given]) throws -> P.State {
    try NamedProjection<P>.history.state(after: steps)
}

/// As for a user, the state of the whole store.
public func fold<P: StoreProjection>(_: P.Type, given steps: [Given]) throws -> P.State {
    try NamedProjection<P>.history.state(after: steps)
}

/// As for a user, the state of the device.
public func fold<P: DeviceProjection>(_: P.Type, given steps: [Given]) throws -> P.State {
    try NamedProjection<P>.history.state(after: steps)
}

/// Histories that are folded by `P`, with the read of the state that they are about.
struct FoldedHistory<P: Projection> {
    let read: (EventLog) throws -> P.State

    /// The state at the end of `steps`.
    func state(after steps: [Given]) throws -> P.State {
        var playback = try Playback(projections: [P.self])
        for step in steps { try playback.play(step) }
        return try read(playback.log)
    }
}

extension UserProjection {
    static var history: FoldedHistory<Self> { .init { try $0.state(of: Self.self, for: Playback.user) } }
}

extension StoreProjection {
    static var history: FoldedHistory<Self> { .init { try $0.state(of: Self.self) } }
}

extension DeviceProjection {
    static var history: FoldedHistory<Self> { .init { try $0.state(of: Self.self, on: Playback.device) } }
}
