internal import ProfileLogFacts
internal import ProfileLogRecords
internal import ProfileLogReplication

/// The answer to STREAM.INFO (nats-server: `StreamInfo` in stream.go).
struct StreamInfo {
    private static let longestSilence: Int64 = 3_000_000_000
    private let answer: AttributeValue

    init(_ answer: AttributeValue) { self.answer = answer }

    /// The state as nodes look at it; nil if the answer lacks what it must have.
    var state: StreamState? {
        guard let created = answer["created"]?.asText, let numbers = answer["state"],
            let first = numbers["first_seq"]?.asInteger, let last = numbers["last_seq"]?.asInteger
        else { return nil }
        // A new stream says 0 for both; one that was emptied by age, the sequence after its last.
        let isEmpty = numbers["messages"]?.asInteger == 0
        var followers: [String: Bool] = [:]
        for follower in answer["cluster"]?["replicas"]?.asArray ?? [] {
            guard let name = follower["name"]?.asText else { continue }
            let isOffline = follower["offline"]?.asFlag ?? false
            // The time since the leader heard of it, in nanoseconds; it does each second. A leader that is cut off
            // calls the others current for some time.
            let isHeard = (follower["active"]?.asInteger ?? 0) < Self.longestSilence
            followers[name] = follower["current"]?.asFlag ?? false && !isOffline && isHeard
        }
        let age = configuration["max_age"]?.asInteger ?? 0
        return StreamState(
            created: created, first: UInt64(clamping: isEmpty ? last + 1 : first), last: UInt64(clamping: last),
            maxAge: age > 0 ? .nanoseconds(age) : nil,
            time: answer["ts"]?.asText.flatMap { OccurredAt(iso8601: $0)?.timestamp },
            leader: answer["cluster"]?.present("leader")?.asText, followers: followers)
    }

    var configuration: AttributeValue { answer["config"] ?? .null }

    /// The version of the broker that answered, the stream's leader: it writes it into the metadata of each answer
    /// (`setDynamicStreamMetadata` in jetstream_versioning.go, from 2.11 on).
    var version: String? { configuration["metadata"]?["_nats.ver"]?.asText }
}
