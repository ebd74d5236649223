internal import ProfileLogRequests

/// A store that is made for tests and gone when its service ends: the one kind that can be emptied, and whose time can
/// be set.
package protocol EphemeralStore: Sendable {
    /// What its log takes for the time. The store in its place will have another one.
    var clock: StoreClock { get }

    /// Puts an empty store in its place, with the fixtures of the start if `withFixtures` and with a clock that goes
    /// like the system's, and tells how many events the new store holds. If that fails, this one stays as it is.
    func reset(withFixtures: Bool) async throws -> (events: UInt64, clock: StoreClock)
}
