/// A part of the log of a value: its writes, or what was counted, numbered from 1 in the order in which they took
/// effect. What comes later gets the next numbers, so pages in either direction fit together.
package struct BlamePage: Hashable, Sendable {
    /// The number after which the page begins; backward, before which. Nil for the first entry; backward, the last.
    package var after: Int?
    /// The most entries.
    package var limit: Int
    /// Tells whether the newest entry comes first.
    package var isBackward: Bool

    /// The whole log, or a part of it.
    package init(after: Int? = nil, limit: Int = .max, isBackward: Bool = false) {
        (self.after, self.limit, self.isBackward) = (after, limit, isBackward)
    }

    /// The place of a page in its log.
    package struct Place: Hashable, Sendable {
        /// The number of the first entry of the page.
        package var first: Int
        /// The number of all entries of the log.
        package var total: Int
        /// Tells whether others follow after the page, in its direction.
        package var hasMore: Bool
    }

    /// The entries of `log` that are on the page, and their place.
    func part<Entry>(of log: [Entry]) -> (entries: [Entry], place: Place) {
        if isBackward {
            let end = after.map { min(max($0 - 1, 0), log.count) } ?? log.count
            let length = min(limit, end)
            return (
                Array(log[(end - length)..<end].reversed()),
                Place(first: end, total: log.count, hasMore: end > length)
            )
        }
        let start = min(max(after ?? 0, 0), log.count)
        let length = min(limit, log.count - start)
        return (
            Array(log[start..<(start + length)]),
            Place(first: start + 1, total: log.count, hasMore: start + length < log.count)
        )
    }
}
