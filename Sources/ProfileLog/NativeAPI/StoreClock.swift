internal import ProfileLogRequests
internal import Synchronization

/// What time it is for a store that is made for tests: the system's time, that time shifted, or a moment at which it
/// is stopped.
package final class StoreClock: Sendable {
    private enum State {
        /// It goes, so many microseconds ahead of the system's.
        case running(aheadMicroseconds: Int64)
        /// It is stopped.
        case standing(Timestamp)
    }

    /// What the clock says.
    package struct Reading: Sendable {
        /// What time it is.
        package var now: Timestamp
        /// Whether it is stopped there until it is set, advanced or released.
        package var isStanding: Bool
        /// Microseconds by which it is ahead of the system's clock; negative if it is slow.
        package var aheadMicroseconds: Int64
    }

    /// The years that RFC 3339 can write, without those before the one that counts.
    package static let range = Timestamp(rawValue: 0)...Timestamp(rawValue: 253_402_300_799_999_999)

    private let state = Mutex(State.running(aheadMicroseconds: 0))

    /// Makes a clock that goes like the system's.
    package init() {}

    /// What time it is.
    package func now() -> Timestamp { reading().now }

    /// What the clock says.
    package func reading() -> Reading {
        let system = Timestamp.now()
        switch state.withLock({ $0 }) {
        case .running(let ahead):
            return Reading(
                now: Timestamp(rawValue: system.rawValue + ahead), isStanding: false, aheadMicroseconds: ahead)
        case .standing(let moment):
            return Reading(now: moment, isStanding: true, aheadMicroseconds: moment.rawValue - system.rawValue)
        }
    }

    /// Lets it stand at `moment`.
    package func set(to moment: Timestamp) { state.withLock { $0 = .standing(moment) } }

    /// Moves it on: a stopped clock is stopped later; a running one runs further ahead. False, and nothing is
    /// changed, if it would leave `range`.
    package func advance(byMicroseconds span: Int64) -> Bool {
        let system = Timestamp.now().rawValue
        return state.withLock { state in
            switch state {
            case .running(let ahead):
                let (sum, overflow) = ahead.addingReportingOverflow(span)
                let (now, overflowNow) = system.addingReportingOverflow(sum)
                guard !overflow, !overflowNow, Self.range.contains(Timestamp(rawValue: now)) else { return false }
                state = .running(aheadMicroseconds: sum)
            case .standing(let moment):
                let (sum, overflow) = moment.rawValue.addingReportingOverflow(span)
                guard !overflow, Self.range.contains(Timestamp(rawValue: sum)) else { return false }
                state = .standing(Timestamp(rawValue: sum))
            }
            return true
        }
    }

    /// Lets it go like the system's again.
    func release() { state.withLock { $0 = .running(aheadMicroseconds: 0) } }
}
