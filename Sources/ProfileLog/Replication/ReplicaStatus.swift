package import ProfileLogFacts

/// A node of a cluster, as its last note told.
package struct NodeStatus: Hashable, Sendable {
    package var name: String
    /// Chosen at its start: two processes of one name differ in it.
    package var instance: UInt64
    package var url: String
    /// The last sequence that it has applied, and the log's last position with it.
    package var sequence: UInt64
    package var position: Position
    /// The reason why it takes no writes; nil if it does.
    package var refusal: String?
    /// The broker that it is connected to.
    package var broker: String?
    /// The program's version.
    package var version: String
    /// The time since its last note; zero for this node.
    package var age: Duration
}

/// The cluster as one node sees it.
package struct ReplicaStatus: Hashable, Sendable {
    /// The node itself.
    package var node: NodeStatus
    /// The other nodes from which notes came, by name.
    package var others: [NodeStatus]
    /// The writer of the last batch; nil before the first.
    package var preferred: String?
    /// The time since this node last knew that it has all batches; nil if it never did.
    package var lag: Duration?
    /// Batches of other nodes that it does not have yet, as far as it knows.
    package var missing: UInt64
    /// The reason why it takes no writes, and what to do; nil if it does.
    package var refusal: StreamError?
    /// A node of another store that shares the cluster's name, if there is one: its notes are ignored.
    package var stranger: StreamError?
    /// The stream as it was last looked at; nil if it never could be.
    package var stream: StreamState?
    /// The last fail-over for which a batch of any node waited, as far as this node knows; nil if none had.
    package var lastFailOver: FailOver?
    /// The last one for which a batch of this node waited since its start.
    package var ownFailOver: FailOver?
    /// A batch of this node whose outcome is not known yet.
    package var hasUndecided: Bool
    /// Counts since the start, for metrics.
    package var counts: ReplicaCounts
}

/// Counts of a node since its start.
package struct ReplicaCounts: Hashable, Sendable {
    /// Batches of this node that have their place.
    package var published: UInt64 = 0
    /// Batches of other nodes that were applied.
    package var applied: UInt64 = 0
    /// Decisions that were made again as another node was first.
    package var refused: UInt64 = 0
    /// Publishes without an acknowledgement.
    package var undecided: UInt64 = 0
    /// Changes of the broker.
    package var brokerChanges: UInt64 = 0
}

/// A time of more than a second without an acknowledgement of the brokers, for which a batch waited.
package struct FailOver: Codable, Hashable, Sendable {
    /// The node whose batch it was.
    package var node: String
    /// Its end.
    package var ended: Timestamp
    package var length: Duration
}
