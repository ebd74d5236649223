internal import ProfileLogMessaging
internal import ProfileLogRequests
internal import Synchronization

/// The requests that wait for their time: a fold of the system's events, kept in memory. A read folds in what is new.
final class Schedules: Sendable {
    private let log: EventLog
    private let state = Mutex(State())

    private struct State {
        /// The last event of the system that is folded in.
        var version = Version(rawValue: 0)
        /// Everything up to this position is folded in.
        var reach = Position.start
        var waiting: [String: Schedule] = [:]
    }

    init(_ log: EventLog) { self.log = log }

    /// The send that waits under this ID; nil if none does. The decision holds only if that stays so.
    func waiting(_ id: String, _ view: DecisionView) throws -> Schedule? {
        let (waiting, version) = try current()
        guard let schedule = waiting[id] else { return nil }
        view.requireUnchanged(waiting: schedule.dispatch, since: version)
        return schedule
    }

    /// Returns what waits, by ID, with everything that was acknowledged before; and the system's version up to which it
    /// is complete.
    func current() throws -> (waiting: [String: Schedule], version: Version) {
        let last = try log.lastPosition()
        return try state.withLock { state in
            if last > state.reach {
                try log.reader.events.forEach(of: .system, from: state.version.next) { event in
                    state.version = event.version
                    guard event.kind == .messageScheduled || event.kind == .messageUnscheduled,
                        case .message(let step)? = event.recorded()?.event
                    else { return true }
                    state.waiting.apply(step, at: event.position)
                    return true
                }
                state.reach = last
            }
            return (state.waiting, state.version)
        }
    }

    /// Returns those whose time is not after `now`, the earliest first.
    func due(at now: Timestamp) throws -> [Schedule] {
        try current().waiting.values.filter { $0.time <= now }.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
    }
}
