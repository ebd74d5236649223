internal import ProfileLogRequests

/// How long items have waited by now: those of each list for a launch, and those in SDKs' queues to be sent.
struct WaitingTimes {
    private let now: Timestamp
    private var lists: [PendingKind: [Double]] = [:]
    private var queued: [Double] = []

    /// Nothing yet, as of `now`.
    init(now: Timestamp) { self.now = now }

    mutating func add(_ item: PendingSave) { lists[item.kind, default: []].append(item.event.seconds(until: now)) }

    /// Adds something that an SDK has taken and not sent, which waits since it was saved or logged.
    mutating func addQueued(_ item: RecordedEvent) { queued.append(item.seconds(until: now)) }

    /// Writes an object: `all` that waits for a launch, each list, and `queue`.
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("all")
        Self.write(lists.values.flatMap { $0 }, to: &json)
        for kind in PendingKind.allCases {
            json.key(kind.key)
            Self.write(lists[kind] ?? [], to: &json)
        }
        json.key("queue")
        Self.write(queued, to: &json)
        json.endObject()
    }

    /// Quantiles are times that occur (nearest rank): with ten items, the nine that waited least waited up to `p90`.
    private static func write(_ seconds: [Double], to json: inout JSONWriter) {
        let sorted = seconds.sorted()
        json.beginObject()
        json.key("count")
        json.value(sorted.count)
        for (key, share) in [("shortest", 0), ("median", 0.5), ("p90", 0.9), ("longest", 1)] {
            json.key(key)
            if sorted.isEmpty {
                json.null()
            } else {
                json.value(sorted[max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)])
            }
        }
        json.endObject()
    }
}
