/// A pure fold: the same events in the same order always give the same state, and equal states the same bytes.
///
/// One that is folded by user gets snapshots, reads as of any version, replay and its proof; those of a device or of
/// the whole store are folded by a `Replayer`.
public protocol Projection: Sendable {
    /// The state of a fold so far: of one user, of one device, of the whole store.
    associatedtype State: Sendable
    /// Names the cached state on disk, and survives a rename of the type. 1 to 64 bytes without U+0000, not `index`,
    /// `flush`, `generations` or the name of a projection of the library.
    static var name: String { get }
    /// Raised when `apply` or the bytes change meaning: a state cached under another revision is dropped and replayed.
    static var revision: UInt32 { get }
    /// The key that the events of one state share. The default is the user.
    static var scope: ProjectionScope { get }
    /// The state before the first event.
    static var initial: State { get }
    /// Folds one event into `state`: no clock, no I/O, no randomness, no failure. `event` decodes only what is asked of
    /// it.
    static func apply(_ event: borrowing EventView, to state: inout State)
    /// As `apply(_:to:)`, by the rules that held for the event. The default knows no rules.
    static func apply(_ event: borrowing EventView, to state: inout State, under rules: BoundRules)
    /// Adds `source`, the state of a user who was merged into the target's (spec/rest-api 2.6). Pure like `apply`, and
    /// called before the `usersMerged` event itself is applied. By default nothing is added.
    static func merge(_ source: State, into target: inout State)
    /// As `merge(_:into:)`, by the rules that held for the merge. The default knows no rules.
    static func merge(_ source: State, into target: inout State, under rules: BoundRules)
    /// The state's bytes: equal for equal states.
    static func encode(_ state: State) -> [UInt8]
    /// The state that `encode` wrote; nil if the bytes are invalid. They are not aligned, and valid during the call
    /// only: the state must copy what it keeps.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> State?
}

extension Projection {
    /// The scope is the user.
    public static var scope: ProjectionScope { .user }
    /// Adds nothing.
    public static func merge(_ source: State, into target: inout State) {}
    /// Calls `apply(_:to:)`.
    public static func apply(_ event: borrowing EventView, to state: inout State, under rules: BoundRules) {
        apply(event, to: &state)
    }
    /// Calls `merge(_:into:)`.
    public static func merge(_ source: State, into target: inout State, under rules: BoundRules) {
        merge(source, into: &target)
    }
}

/// The key that the events folded into one state share.
public enum ProjectionScope: Sendable {
    /// The user: states fold in parallel.
    case user
    /// The device that the event names (`EventView.device`): states fold in parallel.
    case device
    /// Nothing: all events in order.
    case store
}
