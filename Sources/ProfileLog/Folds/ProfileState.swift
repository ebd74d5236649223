/// The state of one user. Values stay in their stored form until they are read: a fold over millions of events builds
/// no strings.
package struct ProfileState: Sendable {
    // A fold over many users waits for memory. What most events change comes first, in 64 bytes.

    /// Events folded so far.
    package var version: Version = .none
    /// Position of the last event folded.
    package var lastPosition: Position = .start
    /// The earliest and the latest time at which something happened; the first is later than the last before the first
    /// event.
    private var seen = (first: Int64.max, last: Int64.min)
    package var fields = FieldStore()
    package var events: [NamedOccurrences] = []

    /// Position of `userCreated`.
    package var created: Position = .start
    /// Launches, sessions and flushes; empty for users without any.
    private var activity: [Occurrences] = []
    package var purchases: [PurchaseSummary] = []
    /// The sum of orders, less refunds, by currency in ascending order.
    package var orders: [Revenue] = []
    package var pending: [PendingEntry] = []
    /// The number of times that an event was voided or unvoided.
    package var voids: UInt64 = 0
    /// The time at which attributes without a value were removed, of those whose policy was to keep what occurred last.
    package internal(set) var removals: [FieldKey: Int64] = [:]

    /// The earliest time at which something happened; nil before the first event.
    package var firstSeen: Timestamp? { seen.first > seen.last ? nil : Timestamp(rawValue: seen.first) }
    /// The latest time at which something happened; nil before the first event.
    package var lastSeen: Timestamp? { seen.first > seen.last ? nil : Timestamp(rawValue: seen.last) }
    /// Launches of the app on devices of this user.
    package internal(set) var launches: Occurrences {
        get { activity(0) }
        set { setActivity(0, newValue) }
    }
    /// Sessions of the app on devices of this user.
    package internal(set) var sessions: Occurrences {
        get { activity(1) }
        set { setActivity(1, newValue) }
    }
    /// Saved items that launches made effective.
    package internal(set) var flushes: Occurrences {
        get { activity(2) }
        set { setActivity(2, newValue) }
    }

    private func activity(_ index: Int) -> Occurrences { activity.isEmpty ? Occurrences() : activity[index] }

    private mutating func setActivity(_ index: Int, _ occurrences: Occurrences) {
        if activity.isEmpty {
            if occurrences.count == 0 { return }
            activity = Array(repeating: Occurrences(), count: 3)
        }
        activity[index] = occurrences
    }

    /// Something happened to the user at `time`.
    @inline(__always)
    mutating func see(_ time: Int64) {
        seen.first = min(seen.first, time)
        seen.last = max(seen.last, time)
    }

    /// The number of occurrences, with the first and the last.
    package struct Occurrences: Hashable, Sendable {
        package var count: UInt64 = 0
        /// The earliest time.
        package var first = Timestamp(rawValue: .max)
        /// The latest time.
        package var last = Timestamp(rawValue: .min)
        /// The event that was counted last.
        package var position: Position = .start

        @inline(__always)
        mutating func add(at time: Timestamp, _ position: Position, times: UInt64 = 1) {
            count += times
            first = min(first, time)
            last = max(last, time)
            self.position = position
        }
    }

    package struct NamedOccurrences: Hashable, Sendable {
        package let name: UInt32
        package var occurrences = Occurrences()
    }

    package struct PurchaseSummary: Hashable, Sendable {
        package let product: UInt32
        package var occurrences = Occurrences()
        /// Price times quantity, by currency in ascending order.
        package var revenue: [Revenue] = []
    }

    /// The sum paid in one currency.
    package struct Revenue: Hashable, Sendable {
        package let currency: String
        package var amount: ExactSum
    }

    /// The sum paid for products and by orders, by currency in ascending order.
    package var totalRevenue: [Revenue] {
        var total = orders
        for purchase in purchases {
            for revenue in purchase.revenue { total.add(revenue.amount, revenue.currency) }
        }
        return total
    }

    /// A saved item that waits for a launch, or something that the SDK has not sent: its storage, and its record's
    /// body.
    package struct PendingEntry: Hashable, Sendable {
        package let position: UInt64
        let kind: EventKind
        package let savedAt: Int64
        package let device: Name
        package let storage: StorageCode
        let body: [UInt8]
        /// Tells whether the SDK has it already.
        package var isQueued = false
    }
}
