internal import ArgumentParser

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
