internal import Foundation
internal import ProfileLogFacts
internal import ProfileLogRecords

/// The nodes of a cluster that send notes: each tells the others where it is, a few times a second.
struct KnownNodes: Sendable {
    /// A node without a note for so long does not write any more, as far as the others know.
    static let writerPatience = Duration.seconds(1)
    /// A node without a note for so long does not count any more where batches are looked for.
    static let liveness = Duration.seconds(10)
    /// A node without a note for so long is forgotten.
    static let memory = Duration.seconds(600)

    private struct Heard: Sendable {
        var status: NodeStatus
        /// The stream of its last batch.
        var created: String?
        /// The time at which it had that batch first, as far as is known.
        var since: ContinuousClock.Instant
        var at: ContinuousClock.Instant
        var hasLeft: Bool
    }

    private var heard: [UInt64: Heard] = [:]

    mutating func add(_ note: NodeNote, at now: ContinuousClock.Instant) {
        let status = note.status
        let before = heard[status.instance]
        let since = before.flatMap { $0.status.sequence == status.sequence ? $0.since : nil } ?? now
        heard[status.instance] = Heard(
            status: status, created: note.created, since: since, at: now, hasLeft: note.isLeaving == true)
        heard = heard.filter { instance, node in
            // The process of this name before.
            let isOld = node.status.name == status.name && instance != status.instance
            return now - node.at < (isOld ? Self.writerPatience : Self.memory)
        }
    }

    /// A node that has batches of a stream.
    struct Holder {
        let name: String
        /// Its last batch.
        let sequence: UInt64
        /// The time at which it had that batch first, as far as is known.
        let since: ContinuousClock.Instant
    }

    /// The node that has the most of the stream that was made at `created`, by notes since `time`: also of a node that
    /// left after that.
    func furthest(in created: String, since time: ContinuousClock.Instant) -> Holder? {
        heard.values.filter { $0.created == created && $0.at >= time }
            .max { ($0.status.sequence, $1.since) < ($1.status.sequence, $0.since) }
            .map { Holder(name: $0.status.name, sequence: $0.status.sequence, since: $0.since) }
    }

    /// All but the one with `instance`, by name; without those that left, unless they are wanted too.
    func others(
        of instance: UInt64, at now: ContinuousClock.Instant = .now, withLeft: Bool = false
    ) -> [NodeStatus] {
        heard.filter { $0.key != instance && (withLeft || !$0.value.hasLeft) }.values
            .map { node in
                var status = node.status
                status.age = now - node.at
                return status
            }
            .sorted { ($0.name, $0.instance) < ($1.name, $1.instance) }
    }
}

/// A note of a node, as JSON: nodes of other versions leave out what they do not know.
struct NodeNote: Codable, Sendable {
    var name: String
    var instance: UInt64
    var url: String
    var sequence: UInt64
    var position: UInt64
    var refusal: String?
    var broker: String?
    var version: String
    /// The ID of its store, in hexadecimal digits.
    var store: String?
    /// The time at which the stream of its last batch was made.
    var created: String?
    /// The node stops: no other node waits for it.
    var isLeaving: Bool?
    /// The last fail-over of any node that it knows of: so a node that starts again is told of its own.
    var failOver: FailOver?

    var bytes: [UInt8] {
        guard let data = try? JSONEncoder().encode(self) else { preconditionFailure("A note cannot be encoded.") }
        return [UInt8](data)
    }

    init?(_ bytes: [UInt8]) {
        guard let note = try? JSONDecoder().decode(NodeNote.self, from: Data(bytes)) else { return nil }
        self = note
    }

    init(_ status: NodeStatus, store: [UInt8]?, created: String?, isLeaving: Bool) {
        (name, instance, url, sequence) = (status.name, status.instance, status.url, status.sequence)
        (position, refusal, broker) = (status.position.rawValue, status.refusal, status.broker)
        (version, self.isLeaving) = (status.version, isLeaving ? true : nil)
        (self.store, self.created) = (store.map { Hexadecimal.text($0) }, created)
    }

    var status: NodeStatus {
        NodeStatus(
            name: name, instance: instance, url: url, sequence: sequence, position: Position(rawValue: position),
            refusal: refusal, broker: broker, version: version, age: .zero)
    }
}
