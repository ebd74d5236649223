internal import ProfileLogGuide
internal import Synchronization

/// What the writes of an `API` are doing and have done, for metrics.
package final class APIActivity: Sendable {
    private let waitingCount = Atomic<Int>(0)
    private let appendCount = Atomic<Int>(0)
    private let eventCount = Atomic<Int>(0)

    /// Nothing was asked yet.
    package init() {}

    /// Writes that wait for the disk, those of the commit under way included.
    package var waiting: Int { waitingCount.load(ordering: .relaxed) }
    /// Appends that were stored and acknowledged, without repetitions and without those of launches and devices.
    package var appends: Int { appendCount.load(ordering: .relaxed) }
    /// Events in these appends.
    package var events: Int { eventCount.load(ordering: .relaxed) }

    package func enter() { waitingCount.add(1, ordering: .relaxed) }

    package func leave() { waitingCount.subtract(1, ordering: .relaxed) }

    package func stored(_ receipt: AppendReceipt) {
        if receipt.isRepetition || receipt.places.isEmpty { return }
        appendCount.add(1, ordering: .relaxed)
        eventCount.add(receipt.places.count, ordering: .relaxed)
    }
}
