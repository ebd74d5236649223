internal import CoreMetrics
internal import Synchronization

/// A number that goes up and down.
final class NumberSeries: Series, MeterHandler, RecorderHandler, FloatingPointCounterHandler {
    private let number = Mutex<Double>(0)

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { number.withLock { $0 = value } }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }
    func increment(by amount: Double) { number.withLock { $0 += amount } }
    func decrement(by amount: Double) { number.withLock { $0 -= amount } }
    func reset() { set(0.0) }

    func write(_ name: String, _ labels: String, to text: inout String) {
        let value = number.withLock { $0 }
        let whole = Int64(exactly: value)
        text += whole.map { Self.line(name, labels, $0) } ?? Self.line(name, labels, value)
    }
}
