internal import ProfileLogSnippets
internal import Synchronization

/// The times of the phases of one request, for the log of slow requests.
///
/// A service gives one to each request's task; other programs have none, and then nothing is measured. Phases that come
/// several times, as after a conflict, are added up.
package final class RequestPhases: Sendable {
    /// The phases of the running task's request.
    @TaskLocal package static var current: RequestPhases?

    /// A part of a request.
    package enum Phase: String, CaseIterable, Sendable {
        /// Until the body was there.
        case read
        /// The decision what to store, without the lock.
        case decide
        /// Until the writer took it, and had the store's lock.
        case wait
        /// The events became rows under the lock; of work that commits several times all of it.
        case commit
        /// Until the disk had them.
        case sync
        /// The client asked to wait for news: not time that the service took.
        case news
    }

    /// The time of each phase. Without a table: most requests are never asked for it.
    package struct Times: Sendable {
        package fileprivate(set) var read = Duration.zero
        package fileprivate(set) var decide = Duration.zero
        package fileprivate(set) var wait = Duration.zero
        package fileprivate(set) var commit = Duration.zero
        package fileprivate(set) var sync = Duration.zero
        package fileprivate(set) var news = Duration.zero

        /// The time of `phase`.
        package fileprivate(set) subscript(phase: Phase) -> Duration {
            get {
                switch phase {
                case .read: read
                case .decide: decide
                case .wait: wait
                case .commit: commit
                case .sync: sync
                case .news: news
                }
            }
            set {
                switch phase {
                case .read: read = newValue
                case .decide: decide = newValue
                case .wait: wait = newValue
                case .commit: commit = newValue
                case .sync: sync = newValue
                case .news: news = newValue
                }
            }
        }
    }

    private let times = Mutex(Times())

    package init() {}

    var now: ContinuousClock.Instant { .now }

    /// Adds to a phase.
    package func add(_ duration: Duration, to phase: Phase) {
        times.withLock { $0[phase] += duration }
    }

    /// Adds the phases of an append that the writer took, for which its caller has waited since `begin`.
    func add(_ written: WrittenAppend, since begin: ContinuousClock.Instant) {
        guard let taken = written.begin else { return }
        times.withLock { times in
            times.wait += taken - begin
            guard let report = written.report else { return }
            times.wait += report.waiting
            times.commit += report.duration - report.waiting - report.syncing
            times.sync += report.syncing
        }
    }

    /// The times so far.
    package var measured: Times { times.withLock { $0 } }

    /// Runs `body`, whose time counts for `phase` of the running request.
    static func measuring<Value>(_ phase: Phase, _ body: () throws -> Value) rethrows -> Value {
        guard let phases = current else { return try body() }
        let begin = phases.now
        defer { phases.add(phases.now - begin, to: phase) }
        return try body()
    }

    /// As above, for work that waits.
    package static func awaiting<Value>(
        _ phase: Phase, _ body: () async throws -> Value
    ) async rethrows -> Value {
        guard let phases = current else { return try await body() }
        let begin = phases.now
        defer { phases.add(phases.now - begin, to: phase) }
        return try await body()
    }
}
