internal import ProfileLogSnippets
internal import Synchronization

/// The store as requests reach it: the log, and the writer that commits for many callers, if there is one.
package final class RequestStore: Sendable {
    package let log: EventLog
    /// Counts of its requests and appends so far.
    package let activity: APIActivity
    /// Compares what is read with the log, if the program calls it.
    package let auditor: Auditor
    /// The catalogue, kept in memory by the first request that needs it.
    package let catalogue: LiveState<CatalogueProjection>
    /// The channels that fail, as a test asked for.
    package let failingChannels = FailingChannels()
    private let writer: LogWriter?
    private let declared = Mutex<[ComputedTrait]>([])
    private let declaredSegments = Mutex<[Segment]>([])

    /// The projections that a log for this API keeps states of. Without them all answers are the same, and the first
    /// ones take longer.
    package static let projections: [any Projection.Type] = [
        ProfileProjection.self, UsageProjection.self, CatalogueProjection.self,
    ]

    /// The computed traits, as the workspace file declares them. None of them is stored.
    package var traits: [ComputedTrait] {
        get { declared.withLock { $0 } }
        set { declared.withLock { $0 = newValue } }
    }

    /// The segments, as the workspace file declares them.
    package var segments: [Segment] {
        get { declaredSegments.withLock { $0 } }
        set { declaredSegments.withLock { $0 = newValue } }
    }

    /// A reader that opens a view for each read.
    package var reader: LogReader { withTraits(log.reader) }

    /// Lends a reader whose reads are all of one view: an answer made of them is of one moment.
    package func read<Value>(_ body: (LogReader) throws -> Value) throws -> Value {
        try log.withReader { try body(withTraits($0)) }
    }

    private func withTraits(_ reader: LogReader) -> LogReader {
        var reader = reader
        reader.traits = traits
        return reader
    }

    /// Commits for many callers at once by `writer`; without it on the caller's thread, for programs that do one thing
    /// at a time.
    package init(_ log: EventLog, _ writer: LogWriter? = nil, _ activity: APIActivity = APIActivity()) {
        self.log = log
        auditor = Auditor(log)
        catalogue = LiveState(log)
        self.writer = writer
        self.activity = activity
    }

    /// Stores `append`; with `evenIfFull` it is never `overloaded`.
    package func commit(_ append: PreparedAppend, evenIfFull: Bool = false) async throws -> AppendReceipt {
        let receipt: AppendReceipt
        if let writer, !evenIfFull {
            activity.enter()
            defer { activity.leave() }
            let phases = RequestPhases.current
            let begin = phases?.now
            let written = await writer.answer(append)
            if let phases, let begin { phases.add(written, since: begin) }
            receipt = try written.result.get()
        } else {
            receipt = try await perform(evenIfFull: evenIfFull) { log in try log.commit(append) }
        }
        activity.stored(receipt)
        return receipt
    }

    /// Runs work that commits several times, on the writer's thread if there is one; with `evenIfFull` it is never
    /// `overloaded`.
    package func perform<Value: Sendable>(
        evenIfFull: Bool = false, _ work: @escaping @Sendable (EventLog) throws -> Value
    ) async throws -> Value {
        activity.enter()
        defer { activity.leave() }
        guard let writer else { return try work(log) }
        guard let phases = RequestPhases.current else {
            return try await writer.perform(evenIfFull: evenIfFull, work)
        }
        let begin = phases.now
        return try await writer.perform(evenIfFull: evenIfFull) { log in
            let taken = phases.now
            phases.add(taken - begin, to: .wait)
            defer { phases.add(phases.now - taken, to: .commit) }
            return try work(log)
        }
    }

    /// As `read`, for what may take long.
    package func readSlowly<Value: Sendable>(
        _ body: @escaping @Sendable (LogReader) throws -> Value
    ) async throws -> Value {
        try await performSlowly { [self] _ in try read(body) }
    }

    /// Runs long work during which others may commit: on the slow path if there is a writer, a read among the reads.
    package func performSlowly<Value: Sendable>(
        _ work: @escaping @Sendable (EventLog) throws -> Value
    ) async throws -> Value {
        activity.enter()
        defer { activity.leave() }
        guard writer != nil else { return try work(log) }
        if ReadBudget.current != nil { return try work(log) }
        return try await SlowPath.run { [log] in try work(log) }
    }
}

/// Counts the writes of a ``RequestStore``, for metrics.
package final class APIActivity: Sendable {
    private let waitingCount = Atomic<Int>(0)
    private let appendCount = Atomic<Int>(0)
    private let eventCount = Atomic<Int>(0)

    package init() {}

    /// Writes that wait for the disk, those of the commit under way included.
    package var waiting: Int { waitingCount.load(ordering: .relaxed) }
    /// Appends that were stored and acknowledged, without repetitions and without those of launches and devices.
    package var appends: Int { appendCount.load(ordering: .relaxed) }
    /// Events in these appends.
    package var events: Int { eventCount.load(ordering: .relaxed) }

    package func enter() { waitingCount.add(1, ordering: .relaxed) }

    package func leave() { waitingCount.subtract(1, ordering: .relaxed) }

    package func stored(_ receipt: AppendReceipt) {
        if receipt.isRepetition || receipt.places.isEmpty { return }
        appendCount.add(1, ordering: .relaxed)
        eventCount.add(receipt.places.count, ordering: .relaxed)
    }
}
