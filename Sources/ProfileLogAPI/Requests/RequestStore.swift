internal import ProfileLog

/// The store as requests reach it: the log, and the writer that commits for many callers, if there is one.
final class RequestStore: Sendable {
    let log: EventLog
    /// What has been asked of it and stored so far.
    let activity: APIActivity
    private let writer: LogWriter?

    /// Without a writer, commits are done on the caller's thread.
    init(_ log: EventLog, _ writer: LogWriter?, _ activity: APIActivity) {
        self.log = log
        self.writer = writer
        self.activity = activity
    }

    /// Stores `append`; with `evenIfFull` it is never `overloaded`.
    func commit(_ append: PreparedAppend, evenIfFull: Bool = false) async throws -> AppendReceipt {
        let receipt: AppendReceipt
        if let writer, !evenIfFull {
            activity.enter()
            defer { activity.leave() }
            receipt = try await writer.commit(append)
        } else {
            receipt = try await perform(evenIfFull: evenIfFull) { log in try log.commit(append) }
        }
        activity.stored(receipt)
        return receipt
    }

    /// Runs work that commits several times, on the writer's thread if there is one; with `evenIfFull` it is never
    /// `overloaded`.
    func perform<Value: Sendable>(
        evenIfFull: Bool = false, _ work: @escaping @Sendable (EventLog) throws -> Value
    ) async throws -> Value {
        activity.enter()
        defer { activity.leave() }
        if let writer { return try await writer.perform(evenIfFull: evenIfFull, work) }
        return try work(log)
    }

    /// Runs long work during which others may commit: on the slow path if there is a writer.
    func performSlowly<Value: Sendable>(
        _ work: @escaping @Sendable (EventLog) throws -> Value
    ) async throws -> Value {
        activity.enter()
        defer { activity.leave() }
        guard writer != nil else { return try work(log) }
        return try await SlowPath.run { [log] in try work(log) }
    }
}
