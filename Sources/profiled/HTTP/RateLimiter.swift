internal import ArgumentParser
internal import HTTPTypes
internal import ProfileLog
internal import ProfileLogRequests
internal import Synchronization

/// How often endpoints may be asked: `REQUESTS/SECONDS` for `/users/track`, `PATH=REQUESTS/SECONDS` for any other, and
/// `PATH,PATH=REQUESTS/SECONDS` for several together.
struct RateLimit: ExpressibleByArgument, Sendable {
    /// The endpoints that share the limit.
    let paths: [String]
    let requests: Int
    let seconds: Int

    init?(argument: String) {
        let sides = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        paths =
            sides.count == 2
            ? sides[0].split(separator: ",", omittingEmptySubsequences: false).map(String.init) : ["/users/track"]
        let numbers = sides[sides.count - 1].split(separator: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2, let requests = Int(numbers[0]), let seconds = Int(numbers[1]) else { return nil }
        guard (1...1_000_000_000).contains(requests), (1...86_400).contains(seconds) else { return nil }
        self.requests = requests
        self.seconds = seconds
    }
}

/// Counts requests by limit, of all clients together, in windows. A window begins with the first request after the end
/// of the one before.
final class RateLimiter: Sendable {
    private static let headers = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"].map {
        HTTPField.Name(known: $0)
    }

    private static let emptyHeaders = headers.map { HTTPField(name: $0, value: "") }

    /// What is left of a limit.
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

        /// Why a request beyond the limit is not done.
        var refusal: Refusal {
            Refusal(
                status: 429, code: "rate_limited",
                error: "More than \(limit) requests came within the limit's window; nothing was stored.",
                remedy: "Try again in \(seconds) s, at the time in X-RateLimit-Reset.",
                headers: [HTTPField(name: .retryAfter, value: "\(seconds)")])
        }
    }

    private struct Window {
        var end: ContinuousClock.Instant
        var reset: Int64
        var count = 0

        init(of seconds: Int, from now: ContinuousClock.Instant) {
            end = now + .seconds(seconds)
            // Rounded up: a request at that time is not too early.
            reset = (Timestamp.now().rawValue + 999_999) / 1_000_000 + Int64(seconds)
        }
    }

    private let limits: [RateLimit]
    /// The limits of each path, by their places in `limits`.
    private let places: [String: [Int]]
    private let windows: Mutex<[Window?]>

    /// All limits of a path apply at once.
    init(_ limits: [RateLimit]) {
        self.limits = limits
        var places: [String: [Int]] = [:]
        for (place, limit) in limits.enumerated() {
            for path in Set(limit.paths) { places[path, default: []].append(place) }
        }
        self.places = places
        windows = Mutex(Array(repeating: nil, count: limits.count))
    }

    /// The headers for a request without a valid key, if `path` has a limit: there, and empty, as Braze sends them.
    func emptyHeaders(_ path: String) -> [HTTPField] {
        places[path] == nil ? [] : Self.emptyHeaders
    }

    /// Counts a request, unless it is one too many for one of the endpoint's limits; nil if it has none.
    ///
    /// - Returns: the standing of the limit that has least left.
    func take(_ endpoint: Endpoint) -> Standing? { standing(endpoint.path, counting: true) }

    /// The standing of the limit of `path` that has least left; nil if it has none.
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
