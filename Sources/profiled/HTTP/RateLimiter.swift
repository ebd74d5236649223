internal import HTTPTypes
internal import ProfileLog
internal import ProfileLogAPI
internal import Synchronization

/// Counts requests by limit, all clients together, in windows that begin with the first request behind the last one's end.
final class RateLimiter: Sendable {
    private static let headers = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"].map {
        HTTPField.Name(known: $0)
    }

    private static let emptyHeaders = headers.map { HTTPField(name: $0, value: "") }

    /// How a limited endpoint stands.
    struct Standing: Sendable {
        var limit: Int
        var remaining: Int
        /// Whole seconds until the window ends, at least 1.
        var seconds: Int
        /// When the window is over, in whole seconds since 1970 UTC: the same in all of its answers.
        var reset: Int64
        /// This request is one too many.
        var isOver: Bool

        /// Those of Braze.
        var headers: [HTTPField] {
            zip(RateLimiter.headers, ["\(limit)", "\(remaining)", "\(reset)"]).map { HTTPField(name: $0, value: $1) }
        }

        /// What a request beyond the limit is answered with.
        func refusal(for endpoint: Endpoint) -> ServiceAnswer {
            var answer = Refusal(
                status: 429, code: "rate_limited",
                error: "More than \(limit) requests came within the limit's window; nothing was stored.",
                remedy: "Try again in \(seconds) s, at the time in X-RateLimit-Reset."
            ).answer(isNative: endpoint.isNative)
            answer.headers = [HTTPField(name: .retryAfter, value: "\(seconds)")]
            return answer
        }
    }

    private struct Window {
        var end: ContinuousClock.Instant
        var reset: Int64
        var count = 0

        init(of seconds: Int, from now: ContinuousClock.Instant) {
            end = now + .seconds(seconds)
            // Rounded up: who asks again at that time is not too early.
            reset = (Timestamp.now().rawValue + 999_999) / 1_000_000 + Int64(seconds)
        }
    }

    private let limits: [RateLimit]
    /// The limits of each path, by their places in `limits`.
    private let places: [String: [Int]]
    private let windows: Mutex<[Window?]>

    /// All limits for a path hold at once.
    init(_ limits: [RateLimit]) {
        self.limits = limits
        var places: [String: [Int]] = [:]
        for (place, limit) in limits.enumerated() {
            for path in Set(limit.paths) { places[path, default: []].append(place) }
        }
        self.places = places
        windows = Mutex(Array(repeating: nil, count: limits.count))
    }

    /// The headers for who has no valid key, if `path` has a limit: there, and empty (spec/rest-api 1.1).
    func emptyHeaders(_ path: String) -> [HTTPField] {
        places[path] == nil ? [] : Self.emptyHeaders
    }

    /// Counts a request, unless it is one too many for one of the endpoint's limits; nil if it has none.
    ///
    /// - Returns: how the limit stands that is the closest to its end.
    func take(_ endpoint: Endpoint) -> Standing? { standing(endpoint.path, counting: true) }

    /// How the limit of `path` stands that is the closest to its end; nil if it has none.
    func standing(_ path: String) -> Standing? { standing(path, counting: false) }

    private func standing(_ path: String, counting: Bool) -> Standing? {
        guard let places = places[path] else { return nil }
        let now = ContinuousClock.now
        return windows.withLock { windows in
            // A request that does not count begins no window either.
            let before = counting ? [] : windows
            defer { if !counting { windows = before } }
            for place in places where windows[place].map({ now >= $0.end }) ?? true {
                windows[place] = Window(of: limits[place].seconds, from: now)
            }
            let isOver = places.contains { (windows[$0]?.count ?? 0) >= limits[$0].requests }
            if counting, !isOver { for place in places { windows[place]?.count += 1 } }
            let standings = places.compactMap { place in
                windows[place].map { Standing(limits[place], $0.count, reset: $0.reset, $0.end - now, isOver: isOver) }
            }
            // Of two that are used up, the one that lasts longer.
            return standings.min { ($0.remaining, -$0.seconds) < ($1.remaining, -$1.seconds) }
        }
    }
}

extension RateLimiter.Standing {
    fileprivate init(_ limit: RateLimit, _ count: Int, reset: Int64, _ rest: Duration, isOver: Bool) {
        let rest = rest.components
        self.init(
            limit: limit.requests, remaining: limit.requests - count,
            seconds: max(1, Int(rest.seconds) + (rest.attoseconds > 0 ? 1 : 0)), reset: reset, isOver: isOver)
    }
}
