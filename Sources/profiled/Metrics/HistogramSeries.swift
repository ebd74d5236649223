internal import CoreMetrics
internal import Synchronization

/// How many values were at most so large; times are in seconds.
final class HistogramSeries: Series, TimerHandler, RecorderHandler {
    private static let bounds = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]

    private struct State {
        /// Values by the first bound that holds them; the last are beyond all.
        var counts = [Int](repeating: 0, count: HistogramSeries.bounds.count + 1)
        var sum = 0.0
    }

    private let state = Mutex(State())

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let place = Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count
        state.withLock { state in
            state.counts[place] += 1
            state.sum += value
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }

    func write(_ name: String, _ labels: String, to text: inout String) {
        let state = state.withLock { $0 }
        let others = labels.isEmpty ? "" : labels + ","
        var count = 0
        for (bound, more) in zip(Self.bounds, state.counts) {
            count += more
            text += Self.line("\(name)_bucket", "\(others)le=\"\(bound)\"", count)
        }
        count += state.counts[Self.bounds.count]
        text += Self.line("\(name)_bucket", "\(others)le=\"+Inf\"", count)
        text += Self.line("\(name)_sum", labels, state.sum)
        text += Self.line("\(name)_count", labels, count)
    }
}
