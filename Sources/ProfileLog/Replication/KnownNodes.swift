internal import Foundation
internal import ProfileLogFacts

/// The nodes of a cluster that send notes: each tells the others where it is, a few times a second.
struct KnownNodes: Sendable {
    /// A node without a note for so long does not write any more, as far as the others know.
    static let writerPatience = Duration.seconds(1)
    /// A node without a note for so long is forgotten.
    private static let memory = Duration.seconds(600)

    private struct Heard: Sendable {
        var status: NodeStatus
        var at: ContinuousClock.Instant
    }

    private var heard: [UInt64: Heard] = [:]

    mutating func add(_ status: NodeStatus, at now: ContinuousClock.Instant) {
        heard[status.instance] = Heard(status: status, at: now)
        heard = heard.filter { instance, node in
            // The process of this name before.
            let isOld = node.status.name == status.name && instance != status.instance
            return now - node.at < (isOld ? Self.writerPatience : Self.memory)
        }
    }

    mutating func remove(_ instance: UInt64) { heard[instance] = nil }

    /// All but the one with `instance`, by name.
    func others(of instance: UInt64, at now: ContinuousClock.Instant = .now) -> [NodeStatus] {
        heard.filter { $0.key != instance }.values
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
    /// The node stops: no other node waits for it.
    var isLeaving: Bool?

    var bytes: [UInt8] {
        guard let data = try? JSONEncoder().encode(self) else { preconditionFailure("A note cannot be encoded.") }
        return [UInt8](data)
    }

    init?(_ bytes: [UInt8]) {
        guard let note = try? JSONDecoder().decode(NodeNote.self, from: Data(bytes)) else { return nil }
        self = note
    }

    init(_ status: NodeStatus, isLeaving: Bool) {
        (name, instance, url, sequence) = (status.name, status.instance, status.url, status.sequence)
        (position, refusal, broker) = (status.position.rawValue, status.refusal, status.broker)
        (version, self.isLeaving) = (status.version, isLeaving ? true : nil)
    }

    var status: NodeStatus {
        NodeStatus(
            name: name, instance: instance, url: url, sequence: sequence, position: Position(rawValue: position),
            refusal: refusal, broker: broker, version: version, age: .zero)
    }
}
