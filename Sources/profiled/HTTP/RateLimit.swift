internal import ArgumentParser

/// How often an endpoint may be asked: `REQUESTS/SECONDS` for `/users/track`, `PATH=REQUESTS/SECONDS` for any other.
struct RateLimit: ExpressibleByArgument, Sendable {
    let path: String
    let requests: Int
    let seconds: Int

    init?(argument: String) {
        let sides = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        path = sides.count == 2 ? String(sides[0]) : "/users/track"
        let numbers = sides[sides.count - 1].split(separator: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2, let requests = Int(numbers[0]), let seconds = Int(numbers[1]) else { return nil }
        guard (1...1_000_000_000).contains(requests), (1...86_400).contains(seconds) else { return nil }
        self.requests = requests
        self.seconds = seconds
    }
}
