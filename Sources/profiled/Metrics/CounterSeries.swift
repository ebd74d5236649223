internal import CoreMetrics
internal import Synchronization

/// A number that only grows.
final class CounterSeries: Series, CounterHandler {
    private let count = Atomic<Int64>(0)

    func increment(by amount: Int64) { count.add(amount, ordering: .relaxed) }

    func reset() { count.store(0, ordering: .relaxed) }

    func write(_ name: String, _ labels: String, to text: inout String) {
        text += Self.line(name, labels, count.load(ordering: .relaxed))
    }
}
