import ProfileLog
import ProfileLogReplication
import TestSupport

/// An append of one event, whose name is of its own, and what its client was told.
struct ToldAppend: Sendable {
    enum Outcome: Hashable, Sendable {
        case stored(Position)
        /// Nothing was stored.
        case refused
        /// The event may be stored.
        case unknown
    }

    let name: String
    let user: UserID
    let key: String?
    var outcome: Outcome
}

/// Compares nodes with each other, and with what clients were told.
struct ClusterCheck {
    let brokers: MemoryBrokers
    let nodes: [ClusterNode]
    let told: [ToldAppend]

    /// Returns what is wrong, one sentence each, the first forty; empty if all is as it must be.
    func problems() async throws -> [String] {
        let end = brokers.last
        for node in nodes {
            // A node that follows no further never comes there.
            let isThere = try await node.wait { node in
                node.sequence >= end && !node.replica.status.hasUndecided || node.hasStopped
            }
            if node.hasStopped { return ["node \(node.name) stopped: \(node.replica.status.refusal?.sentence ?? "")"] }
            if !isThere { return ["node \(node.name) has batch \(node.sequence) of \(end)"] }
        }
        return Array(try await onOwnThread { try found() }.prefix(40))
    }

    private func found() throws -> [String] {
        var problems: [String] = []
        let truth = try nodes[0].truth()
        let replay = try nodes[0].log.replay()
        for node in nodes {
            problems += try compare(node).map { "node \(node.name): \($0)" }
            for (table, rows) in try node.truth() where rows != truth[table] {
                problems.append("table \(table.rawValue) of \(node.name) differs from that of \(nodes[0].name)")
            }
            problems += try node.log.problems().map { "node \(node.name): \($0)" }
            let own = try node.log.replay(verify: true)
            if !own.isEqual { problems.append("node \(node.name): a replay differs: \(own.differences)") }
            if own.digest != replay.digest { problems.append("the profiles of \(node.name) differ") }
        }
        return problems
    }

    private func compare(_ node: ClusterNode) throws -> [String] {
        let positions = try node.positions()
        return told.compactMap { append in
            let found = positions[append.name] ?? []
            let isRight =
                switch append.outcome {
                case .stored(let position): found == [position]
                case .refused: found == []
                case .unknown: found.count <= 1
                }
            return isRight ? nil : "\(append.name) was told \(append.outcome), and is at \(found.map(\.rawValue))"
        }
    }
}

extension ClusterNode {
    /// Tells whether it follows the stream no further.
    var hasStopped: Bool { replica.status.refusal.map { $0.kind != .unreachable } ?? false }
}
