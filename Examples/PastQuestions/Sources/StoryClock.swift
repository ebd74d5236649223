import ProfileLog
import Synchronization

/// The log's clock in this story: it shows what it is set to. A real program leaves `LogOptions.now` as it is.
final class StoryClock: Sendable {
    private let time = Mutex(Timestamp(rawValue: 0))

    var now: Timestamp { time.withLock { $0 } }

    func set(_ text: String) { time.withLock { $0 = moment(text) } }
}

/// The moment of an ISO 8601 text.
func moment(_ text: String) -> Timestamp {
    guard let time = Timestamp(iso8601: text) else { preconditionFailure("\(text) is no time") }
    return time
}
