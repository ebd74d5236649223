internal import ArgumentParser
internal import HTTPTypes
internal import ProfileLog
internal import ProfileLogRequests
internal import Synchronization

/// The limit on requests to some endpoints: `REQUESTS/SECONDS` for `/users/track`, `PATH=REQUESTS/SECONDS` for any
/// other, and `PATH,PATH=REQUESTS/SECONDS` for several together.
struct RateLimit: ExpressibleByArgument, Sendable {
    let paths: [String]
    let requests: Int
    let seconds: Int
    /// As it was written.
    let text: String

    init?(argument: String) {
        text = argument
        let sides = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        paths =
            sides.count == 2
            ? sides[0].split(separator: ",", omittingEmptySubsequences: false).map(String.init) : ["/users/track"]
        let numbers = sides[sides.count - 1].split(separator: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2, let requests = Int(numbers[0]), let seconds = Int(numbers[1]) else { return nil }
        guard (1...1_000_000_000).contains(requests), (1...86_400).contains(seconds) else { return nil }
        (self.requests, self.seconds) = (requests, seconds)
    }
}

/// Counts requests of all clients in windows. A window begins with the first request after the last one's end.
final class RateLimiter: Sendable {
    private static func headers(_ values: String...) -> [HTTPField] {
        zip(["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"], values).map {
            HTTPField(name: HTTPField.Name(known: $0), value: $1)
        }
    }

    struct Rest: Sendable {
        let limit: Int
        let remaining: Int
        /// Whole seconds until the window ends, at least 1.
        let seconds: Int
        /// The time at which the window is over, in whole seconds since 1970 UTC: the same in all of its answers.
        let reset: Int64
        let isOver: Bool

        var headers: [HTTPField] { RateLimiter.headers("\(limit)", "\(remaining)", "\(reset)") }

        var error: APIError {
            APIError(
                status: 429, code: "rate_limited",
                error: "More than \(limit) requests came within the limit's window; nothing was stored.",
                remedy: "Try again in \(seconds) s, at the time in X-RateLimit-Reset.",
                headers: [("Retry-After", "\(seconds)")])
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

    private struct State {
        let limits: [RateLimit]
        /// The limits of each path, by their places in `limits`.
        let places: [String: [Int]]
        var windows: [Window?]

        init(_ limits: [RateLimit]) {
            self.limits = limits
            var places: [String: [Int]] = [:]
            for (place, limit) in limits.enumerated() {
                for path in Set(limit.paths) { places[path, default: []].append(place) }
            }
            self.places = places
            windows = Array(repeating: nil, count: limits.count)
        }
    }

    private let state: Mutex<State>

    init(_ limits: [RateLimit]) { state = Mutex(State(limits)) }

    /// Takes other limits. One that stays keeps its window.
    func replace(by limits: [RateLimit]) {
        state.withLock { old in
            var new = State(limits)
            for (place, limit) in limits.enumerated() {
                guard let before = old.limits.firstIndex(where: { $0.text == limit.text }) else { continue }
                new.windows[place] = old.windows[before]
            }
            old = new
        }
    }

    /// The headers for a request without a valid key, if `path` has a limit: there, and empty, as Braze sends them.
    func emptyHeaders(_ path: String) -> [HTTPField] {
        state.withLock { $0.places[path] == nil } ? [] : Self.headers("", "", "")
    }

    /// Returns the rest of the strictest limit of `path`; nil if it has none. If `counting`, counts an allowed request
    /// first.
    func rest(_ path: String, counting: Bool = false) -> Rest? {
        let now = ContinuousClock.now
        return state.withLock { state -> Rest? in
            guard let places = state.places[path] else { return nil }
            let limits = state.limits
            // A request that does not count begins no window either.
            let before = counting ? [] : state.windows
            defer { if !counting { state.windows = before } }
            for place in places where state.windows[place].map({ now >= $0.end }) ?? true {
                state.windows[place] = Window(of: limits[place].seconds, from: now)
            }
            let isOver = places.contains { (state.windows[$0]?.count ?? 0) >= limits[$0].requests }
            if counting, !isOver { for place in places { state.windows[place]?.count += 1 } }
            let rests = places.compactMap { place -> Rest? in
                guard let window = state.windows[place] else { return nil }
                let (limit, time) = (limits[place].requests, (window.end - now).components)
                return Rest(
                    limit: limit, remaining: limit - window.count,
                    seconds: max(1, Int(time.seconds) + (time.attoseconds > 0 ? 1 : 0)), reset: window.reset,
                    isOver: isOver)
            }
            // Of two that are used up, the one that lasts longer.
            return rests.min { ($0.remaining, -$0.seconds) < ($1.remaining, -$1.seconds) }
        }
    }
}
