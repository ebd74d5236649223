/// A store that is made for tests and gone when its service ends: the one kind that can be emptied, and whose time can be set.
public protocol EphemeralStore: Sendable {
    /// What its log takes for the time.
    var clock: StoreClock { get }

    /// Puts an empty store in its place, with the fixtures of the start if `withFixtures`, lets the clock go like the system's, and
    /// tells how many events the new store holds.
    func reset(withFixtures: Bool) async throws -> UInt64
}
