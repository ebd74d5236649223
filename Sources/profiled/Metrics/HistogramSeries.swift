internal import CoreMetrics
internal import Synchronization

/// How many values were at most so large; times are in seconds.
final class HistogramSeries: Series, TimerHandler, RecorderHandler {
    /// For times.
    static let seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
    /// For what is counted.
    static let counts = [1.0, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]

    private struct State {
        /// Values by the first bound that holds them; the last are beyond all.
        var counts: [Int]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    /// With the largest value of each bucket, ascending.
    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: [Int](repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let place = bounds.firstIndex { value <= $0 } ?? bounds.count
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
        for (bound, more) in zip(bounds, state.counts) {
            count += more
            text += Self.line("\(name)_bucket", "\(others)le=\"\(bound)\"", count)
        }
        count += state.counts[bounds.count]
        text += Self.line("\(name)_bucket", "\(others)le=\"+Inf\"", count)
        text += Self.line("\(name)_sum", labels, state.sum)
        text += Self.line("\(name)_count", labels, count)
    }
}
