/// How many rows a slice of a flush writes: fewer if slices take long, as each row may be on a page of its own.
struct SliceSize {
    private static let least = 128
    private static let (short, long) = (Duration.milliseconds(10), Duration.milliseconds(25))

    private let most: Int
    private(set) var rows: Int

    init(most: Int) {
        self.most = most
        rows = most
    }

    /// Follows the time that a slice took.
    mutating func learn(_ duration: Duration) {
        if duration > Self.long { rows = min(most, max(Self.least, rows / 2)) }
        if duration < Self.short { rows = min(most, rows * 2) }
    }
}
