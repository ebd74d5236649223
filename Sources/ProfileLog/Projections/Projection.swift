/// A pure fold: the same events in the same order always give the same state, and equal states the same bytes.
///
/// Folded for each user apart. A type that conforms gets snapshots, reads as of any version, replay and its proof.
public protocol Projection: Sendable {
    /// What has been folded so far of one user.
    associatedtype State: Sendable
    /// Names the cached state on disk, and outlives a rename of the type. At most 64 bytes.
    static var name: String { get }
    /// Raised when `apply` changes meaning: a state cached under another revision is dropped and replayed.
    static var revision: UInt32 { get }
    /// The state before the first event.
    static var initial: State { get }
    /// Folds one event into `state`: no clock, no I/O, no randomness, no failure. `event` decodes only what is asked of it.
    static func apply(_ event: borrowing EventView, to state: inout State)
    /// The state's bytes: equal for equal states.
    static func encode(_ state: State) -> [UInt8]
    /// The state that `encode` wrote; nil if the bytes are none.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> State?
}
