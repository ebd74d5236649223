internal import ProfileLogRequests

/// How long items have waited by now: those of each list for a launch, and those in SDKs' queues to be sent.
struct WaitingTimes {
    private let now: Timestamp
    private var lists: [PendingKind: [Double]] = [:]
    private var queued: [Double] = []

    /// Nothing yet, as of `now`.
    init(now: Timestamp) { self.now = now }

    /// Adds items that wait for a launch, and those that an SDK has taken and not sent: they wait since they were saved
    /// or logged.
    mutating func add(_ items: [PendingSave], _ queue: [RecordedEvent]) {
        for item in items { lists[item.kind, default: []].append(item.event.seconds(until: now)) }
        queued += queue.map { $0.seconds(until: now) }
    }

    /// Writes the member `waiting_s`: `all` that waits for a launch, each list, and `queue`.
    func write(to json: inout JSONWriter) {
        json.object("waiting_s") { json in
            Self.write("all", lists.values.flatMap { $0 }, to: &json)
            for kind in PendingKind.allCases { Self.write(kind.key, lists[kind] ?? [], to: &json) }
            Self.write("queue", queued, to: &json)
        }
    }

    /// Quantiles are times that occur (nearest rank): with ten items, the nine that waited least waited up to `p90`.
    private static func write(_ key: String, _ seconds: [Double], to json: inout JSONWriter) {
        let sorted = seconds.sorted()
        json.object(key) { json in
            json.member("count", sorted.count)
            for (key, share) in [("shortest", 0), ("median", 0.5), ("p90", 0.9), ("longest", 1)] {
                let place = max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)
                json.member(key, sorted.isEmpty ? AttributeValue.null : .double(sorted[place]))
            }
        }
    }
}
