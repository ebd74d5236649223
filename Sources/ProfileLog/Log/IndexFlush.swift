/// A flush of the caches, as the process that writes its next slice has it in memory.
struct IndexFlush: Sendable {
    /// How many rows are looked for at once: so many that the look at the whole tail pays, and so few that they are quickly in order.
    private static let rowsAtOnce = 16_384
    /// A tail with so many candidates is looked through in a few milliseconds.
    static let quicklyFound = 65_536

    private(set) var progress: FlushProgress
    let tail: Guarded<Tail>
    /// What comes behind the target. It grows with each slice, so that nobody waits for it at the end.
    let successor: Guarded<Tail>
    private let snapshotInterval: Int
    /// The next rows of the stage in their order; nil if they were not looked for yet.
    private var rows: ArraySlice<Int>?
    /// Whether these are all that the stage has left.
    private var areAll = false

    /// A flush that goes on at `progress`. `tail` holds what lies between its checkpoint and its target, the last of which was recorded at
    /// `recordedAt`.
    init(_ progress: FlushProgress, _ tail: Guarded<Tail>, recordedAt: Int64, snapshotInterval: Int) {
        self.progress = progress
        self.tail = tail
        self.snapshotInterval = snapshotInterval
        let users = tail.withReading { $0.userCount(visibleTo: progress.target) }
        successor = Guarded(Tail(base: progress.target, userCount: users, lastRecordedAt: recordedAt))
    }

    /// Whether the rows to write next are known.
    var hasRows: Bool { rows != nil }
    /// How much must be looked at to find them.
    var candidates: Int { tail.withReading { $0.candidates(for: progress.stage) } }

    /// What a row of the stage is counted for. A snapshot looks up as many records as there are events between two; it counts for fewer rows,
    /// as a flush in which all users get one must end before too much gathers behind it, and slices go by the time that they take too.
    var rowCost: Int { progress.stage == .snapshots ? max(1, min(snapshotInterval, 8)) : 1 }

    /// Looks for the rows to write next, `limit` of them or more.
    mutating func findRows(_ limit: Int) {
        let limit = max(limit, Self.rowsAtOnce)
        let found = tail.withReading { tail in
            tail.rows(of: progress, snapshotInterval: snapshotInterval, limit: limit)
        }
        areAll = found.count < limit
        rows = found[...]
    }

    /// Takes the next rows of the stage, `limit` at most: none if the stage has no more.
    mutating func takeRows(_ limit: Int) -> ArraySlice<Int> {
        guard let known = rows else { return [] }
        let next = known.prefix(limit)
        if let last = next.last { progress.last = tail.withReading { $0.key(of: last, in: progress.stage) } }
        let rest = known.dropFirst(next.count)
        rows = rest.isEmpty && !areAll ? nil : rest
        return next
    }

    /// Goes on to the next stage, and answers whether there is one.
    mutating func beginNextStage() -> Bool {
        guard let stage = progress.stage.next else { return false }
        progress.stage = stage
        progress.last = nil
        rows = nil
        return true
    }

    /// Goes on where another process has come with the same flush. The rows that are known begin behind `progress`: they are looked for again
    /// if that is not yet reached.
    mutating func moveOn(to further: FlushProgress) {
        if further == progress { return }
        if further.stage == progress.stage, let known = rows, let last = further.last, !further.isBehind(progress) {
            rows = tail.withReading { tail in
                known.drop { !tail.stands($0, behind: last, in: further.stage) }
            }
            if rows?.isEmpty == true, !areAll { rows = nil }
        } else {
            rows = nil
        }
        progress = further
    }
}
