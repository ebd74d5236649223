internal import ProfileLogFacts
internal import ProfileLogLog

/// A node of a cluster: gives this store's batches their place in the stream, and applies those of other nodes.
///
/// `open` looks at the stream and the folder, the log is opened with the replica as its transport, and `start` begins to
/// follow the stream on a thread of its own.
package final class Replica: CommitTransport {
    /// The batch that makes the store, if there is none in the folder yet.
    package let creation: CommitBatch?

    /// The node's settings.
    package let settings: ReplicaSettings

    /// Joins the cluster of `stream`. The store in `folder` may be a member of it, a store alone that begins the
    /// cluster, or absent. Throws if the node cannot be of the cluster, with the next step.
    package static func open(
        _ stream: any BatchStream, _ settings: ReplicaSettings, folder: String
    ) throws(StreamError) -> Replica {}

    /// Follows the stream, and applies what comes to `log`, until `stop`.
    package func start(_ log: EventLog) throws {}

    /// Waits for an undecided batch for a moment, lets another node and broker lead, and closes the connection.
    package func stop() {}

    /// The cluster as this node sees it now.
    package var status: ReplicaStatus { fatalError() }

    /// The node that writes, if that is another one and it is alive; nil if this node should write itself.
    package var writer: NodeStatus? { nil }

    /// Makes the stream again from this store: its next message is the one after the last that the store has. Refused
    /// while the stream is sound, or another node has more.
    package func rebuild() throws(StreamError) {}
}
