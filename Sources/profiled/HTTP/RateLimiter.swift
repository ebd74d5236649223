internal import ProfileLog
internal import ProfileLogAPI
internal import Synchronization

/// Counts requests by endpoint, all clients together, in windows that begin with the first request behind the last one's end.
final class RateLimiter: Sendable {
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
        var headers: [(name: String, value: String)] {
            [
                ("X-RateLimit-Limit", "\(limit)"), ("X-RateLimit-Remaining", "\(remaining)"),
                ("X-RateLimit-Reset", "\(reset)"),
            ]
        }

        /// What a request beyond the limit is answered with.
        func refusal(for endpoint: Endpoint) -> ServiceAnswer {
            var answer = Refusal(
                status: 429, code: "rate_limited",
                error: "More than \(limit) requests came within the limit's window; nothing was stored.",
                remedy: "Try again in \(seconds) s, at the time in X-RateLimit-Reset."
            ).answer(isNative: endpoint.isNative)
            answer.headers = [("Retry-After", "\(seconds)")]
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

    private let limits: [String: RateLimit]
    private let windows = Mutex<[String: Window]>([:])

    /// The last limit for a path counts.
    init(_ limits: [RateLimit]) {
        self.limits = Dictionary(limits.map { ($0.path, $0) }, uniquingKeysWith: { $1 })
    }

    /// Counts a request; nil if its endpoint has no limit.
    func take(_ endpoint: Endpoint) -> Standing? {
        guard let limit = limits[endpoint.path] else { return nil }
        let now = ContinuousClock.now
        return windows.withLock { windows in
            var window = windows[limit.path] ?? Window(of: limit.seconds, from: now)
            if now >= window.end { window = Window(of: limit.seconds, from: now) }
            let isOver = window.count >= limit.requests
            if !isOver { window.count += 1 }
            windows[limit.path] = window
            let rest = (window.end - now).components
            return Standing(
                limit: limit.requests, remaining: limit.requests - window.count,
                seconds: max(1, Int(rest.seconds) + (rest.attoseconds > 0 ? 1 : 0)), reset: window.reset,
                isOver: isOver)
        }
    }
}
