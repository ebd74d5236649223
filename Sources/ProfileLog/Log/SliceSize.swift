/// How many rows a slice of a flush writes: fewer if slices take long, as each row may be on a page of its own.
struct SliceSize {
    private static let least = 128
    private static let (short, long) = (Duration.milliseconds(10), Duration.milliseconds(25))

    private let most: Int
    private(set) var rows: Int
    let now: @Sendable () -> ContinuousClock.Instant

    init(most: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.most = most
        self.now = now
        rows = most
    }

    /// Follows the time that the rows of a slice took, begun at `begin`.
    mutating func learn(since begin: ContinuousClock.Instant) {
        let duration = now() - begin
        if duration > Self.long { rows = min(most, max(Self.least, rows / 2)) }
        if duration < Self.short { rows = min(most, rows * 2) }
    }
}
