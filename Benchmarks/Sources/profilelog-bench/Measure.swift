import Foundation

/// Times and memory of a run, printed as one line of JSON.
struct Latencies {
    private var microseconds: [Double] = []

    mutating func add(_ duration: Duration) { microseconds.append(duration.microseconds) }

    /// Nearest-rank percentiles and the longest, under names that begin with `prefix`.
    func fields(prefix: String = "") -> [(String, String)] {
        let sorted = microseconds.sorted()
        func rank(_ share: Double) -> String {
            sorted.isEmpty
                ? "0" : format(sorted[min(sorted.count - 1, Int((share * Double(sorted.count)).rounded(.up)) - 1)])
        }
        return [
            ("p50_us", rank(0.5)), ("p99_us", rank(0.99)), ("p999_us", rank(0.999)),
            ("max_us", format(sorted.last ?? 0)),
        ].map { (prefix + $0.0, $0.1) }
    }
}

func format(_ value: Double) -> String { String(format: "%.1f", value) }

/// The middle one of some numbers, at least one.
func median(_ numbers: [Double]) -> Double {
    let sorted = numbers.sorted()
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

func report(_ fields: [(String, String)]) {
    print("{" + fields.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}")
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
    var microseconds: Double { seconds * 1e6 }
}

/// A clock that all processes of the machine share.
func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Resident memory that is not file-backed, in bytes.
func anonymousBytes() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
    for line in text.split(separator: "\n") where line.hasPrefix("RssAnon:") {
        return (Int(line.split(separator: " ", omittingEmptySubsequences: true)[1]) ?? 0) * 1024
    }
    return 0
}
