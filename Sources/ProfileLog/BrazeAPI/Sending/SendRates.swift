internal import ProfileLogRequests
internal import Synchronization

/// The number of recent requests of a kind: the platform refuses what is too many (spec/messaging-api 1).
///
/// They are counted by the store's clock and in memory: a service starts with none.
final class SendRate: Sendable {
    private let times = Mutex<[Timestamp]>([])
    private let microseconds: Int64

    init(seconds: Int64) { microseconds = seconds * 1_000_000 }

    /// Counts a request, unless `limit` came within the span before it. Then: how many seconds later the next one may
    /// come.
    func count(at now: Timestamp, limit: Int) -> Int? {
        times.withLock { times in
            // A clock for tests may be set to an earlier time.
            times.removeAll { $0.rawValue + microseconds <= now.rawValue || $0 > now }
            guard times.count < limit else {
                let wait = times[times.count - limit].rawValue + microseconds - now.rawValue
                return Int((wait + 999_999) / 1_000_000)
            }
            times.append(now)
            return nil
        }
    }
}

/// The limits of requests that send.
struct SendRates: Sendable {
    /// Sends with a segment, an audience, or to all users.
    let targeted = SendRate(seconds: 60)
    /// IDs that were created for sends.
    let sendIDs = SendRate(seconds: 86_400)

    /// Status 429.
    static func refusal(_ what: String, limit: Int, seconds: Int) -> APIError {
        APIError(
            status: 429, code: "rate_limited", error: "The rate limit of \(limit) \(what) is reached.",
            remedy: "Try again in \(seconds) s, or raise the limit in the workspace file (docs/workspace.md).")
    }
}
