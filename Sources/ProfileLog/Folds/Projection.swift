/// A pure fold: the same events in the same order always give the same state, and equal states the same bytes.
///
/// Conform to one of the three protocols below it, which say what one state covers: ``UserProjection`` a user,
/// ``StoreProjection`` the whole store, ``DeviceProjection`` a device.
///
/// Contents reach `apply` when they take effect: what is logged at once, what is saved or queued with its flush or
/// sending. What is rejected, discarded, void or erased never does.
public protocol Projection: Sendable {
    /// The state of a fold so far: of one user, of one device, of the whole store.
    associatedtype State: Sendable
    /// The key that the events of one state share; the three protocols give it, each its own: a type that conforms to
    /// two of them does not compile.
    associatedtype Key
    /// Names the cached state on disk, and survives a rename of the type. 1 to 64 bytes without U+0000, not `index`,
    /// `flush`, `generations` or the name of a projection of the library.
    static var name: String { get }
    /// Raised when `apply` or the bytes change meaning: a state cached under another revision is dropped and replayed.
    static var revision: UInt32 { get }
    /// The state before the first event.
    static var initial: State { get }
    /// Folds one event into `state`: no clock, no I/O, no randomness, no failure. `event` decodes only what is asked of
    /// it.
    static func apply(_ event: borrowing EventView, to state: inout State)
    /// Called when something is saved or queued: its content has no effect yet, and may never have. For folds that
    /// count what waits; by default nothing.
    static func applyWaiting(_ item: borrowing EventView, to state: inout State)
    /// Adds `source`, the state of a user that `event` merges into the target's (spec/rest-api 2.6). Pure like `apply`,
    /// and called before `event` itself is applied; in the scope of users only. By default nothing is added.
    static func merge(_ source: State, into target: inout State, by event: borrowing EventView)
    /// The state's bytes: equal for equal states.
    static func encode(_ state: State) -> [UInt8]
    /// The state that `encode` wrote; nil if the bytes are invalid. They are not aligned, and valid during the call
    /// only: the state must copy what it keeps.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> State?
}

/// A projection with a state for each user: it gets snapshots, and reads as of any version.
public protocol UserProjection: Projection where Key == UserID {}

/// A projection with one state of the whole store. The stored state is a checkpoint, with the position that it has
/// reached.
public protocol StoreProjection: Projection where Key == Never {}

/// A projection with a state for each device that events name (`EventView.device`). All of them are one row of the
/// store.
public protocol DeviceProjection: Projection where Key == Name {}

extension Projection {
    /// The scope, as a value.
    package static var scope: ProjectionScope {
        if Key.self == Never.self { return .store }
        return Key.self == Name.self ? .device : .user
    }
}

extension Projection {
    /// Does nothing.
    @inlinable public static func applyWaiting(_ item: borrowing EventView, to state: inout State) {}
    /// Adds nothing.
    @inlinable public static func merge(_ source: State, into target: inout State, by event: borrowing EventView) {}
}

/// The key that the events folded into one state share.
package enum ProjectionScope: Sendable {
    /// The user: states fold in parallel.
    case user
    /// The device that the event names (`EventView.device`).
    case device
    /// Nothing: all events in order.
    case store
}
