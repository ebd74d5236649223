internal import ProfileLogRequests

/// The cluster of the store, as the service that runs this API knows it.
package protocol ClusterView: Sendable {
    /// The cluster as this node sees it now. Short: it asks no other node and no broker.
    var report: ClusterReport { get }
    /// Makes the stream again from this store, and waits for the brokers. Throws ``APIError`` if it cannot be.
    func rebuild() throws
    /// Lets the brokers keep each batch for `age` from now on; nil: for ever. Throws ``APIError`` if they do not.
    func keep(for age: Duration?) throws
}

/// A cluster as one of its nodes sees it: the facts of `GET /v1/cluster`.
package struct ClusterReport: Sendable {
    /// The name of the cluster.
    package var cluster: String
    /// The node that tells this.
    package var own: Node
    /// The other nodes from which notes came.
    package var others: [Node] = []
    /// The writer of the last batch; nil before the first.
    package var preferred: String?
    /// Tells whether this node stores what it is asked to write, and hands it to no other.
    package var isWriter = false
    /// The time since this node last knew that it has all batches; nil if it never did.
    package var lag: Duration?
    /// Batches of other nodes that it does not have yet, as far as it knows.
    package var missing: UInt64 = 0
    /// The reason why it takes no writes; nil if it does.
    package var refusal: Reason?
    /// The things that an operator should change, and that stop no write.
    package var warnings: [Reason] = []
    /// The stream as it was last looked at; nil if it never could be.
    package var stream: Stream?
    /// Tells whether the outcome of a batch of this node is not known yet.
    package var hasUndecided = false
    /// The last time for which the brokers acknowledged nothing and a batch of any node waited; nil if there was none.
    package var failOver: FailOver?
    /// The length of the last one for which a batch of this node waited since its start.
    package var ownFailOver: Duration?
    package var counts = Counts()

    package init(cluster: String, own: Node) { (self.cluster, self.own) = (cluster, own) }

    /// A node, as its last note told.
    package struct Node: Sendable {
        package var name: String
        /// Chosen at its start: two processes of one name differ in it.
        package var instance: UInt64
        package var url: String
        /// The last batch that it has, and the last position of its log with it.
        package var sequence: UInt64
        package var position: UInt64
        /// The reason why it takes no writes; nil if it does.
        package var refusal: String?
        /// The broker that it is connected to.
        package var broker: String?
        package var version: String
        /// The time since its last note; zero for the node that tells this.
        package var age: Duration

        package init(
            name: String, instance: UInt64 = 0, url: String, sequence: UInt64, position: UInt64,
            refusal: String? = nil, broker: String? = nil, version: String, age: Duration = .zero
        ) {
            (self.name, self.instance, self.url) = (name, instance, url)
            (self.sequence, self.position, self.refusal) = (sequence, position, refusal)
            (self.broker, self.version, self.age) = (broker, version, age)
        }
    }

    /// A sentence, and what to do.
    package struct Reason: Hashable, Sendable {
        package var error: String
        package var remedy: String

        package init(_ error: String, remedy: String) { (self.error, self.remedy) = (error, remedy) }
    }

    package struct Stream: Sendable {
        /// The time at which it was made, as the brokers write it.
        package var created: String
        /// The sequences of the first message that is there, and of the last one.
        package var first: UInt64
        package var last: UInt64
        /// The time for which the brokers keep a batch; nil: for ever.
        package var maxAge: Duration?
        /// The broker that leads it.
        package var leader: String?
        /// The other brokers, and whether each is current.
        package var followers: [(broker: String, isCurrent: Bool)]
        /// The faults that make it unfit; empty if it is as it must be.
        package var faults: [Reason]

        package init(
            created: String, first: UInt64, last: UInt64, maxAge: Duration? = nil, leader: String? = nil,
            followers: [(broker: String, isCurrent: Bool)] = [], faults: [Reason] = []
        ) {
            (self.created, self.first, self.last, self.leader) = (created, first, last, leader)
            (self.maxAge, self.followers, self.faults) = (maxAge, followers, faults)
        }
    }

    package struct FailOver: Sendable {
        /// The node that waited.
        package var node: String
        package var ended: Timestamp
        package var length: Duration

        package init(node: String, ended: Timestamp, length: Duration) {
            (self.node, self.ended, self.length) = (node, ended, length)
        }
    }

    /// Counts of this node since its start.
    package struct Counts: Sendable {
        /// Batches of this node that have their place, and those of others that were applied.
        package var published: UInt64 = 0
        package var applied: UInt64 = 0
        /// Decisions that were made again, as another node was first.
        package var decisionsAgain: UInt64 = 0
        /// Publishes without an acknowledgement.
        package var undecided: UInt64 = 0
        package var brokerChanges: UInt64 = 0

        package init() {}
    }
}

extension ClusterReport {
    /// The time without a note after which a node counts as gone.
    package static let patience = Duration.seconds(3)

    /// The number of nodes that are alive, this one too.
    package var aliveNodes: Int { 1 + others.count { $0.age < Self.patience } }

    /// The reason why the node should get no requests yet: it follows the stream, and has not reached its end since the
    /// start. Nil also for a node that takes no writes: it serves reads, as far as it is.
    package var unready: Reason? {
        guard let stream, refusal == nil, lag == nil else { return nil }
        return Reason(
            "This node has not caught up with its cluster since its start: it is at batch \(own.sequence), and the "
                + "stream ended at \(max(stream.last, own.sequence)) when it was last looked at.",
            remedy: "Wait until it has, or ask another node; its log says when.")
    }

    /// A lag as in the header `X-ProfileLog-Lag`: seconds with three decimals, or `unknown` if the node never knew that
    /// it has all batches.
    package static func lagText(_ lag: Duration?) -> String {
        guard let lag else { return "unknown" }
        let (seconds, attoseconds) = max(lag, .zero).components
        let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        let digits = String(milliseconds % 1_000)
        return "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - digits.count) + digits
    }

    /// The reason not to answer a read at a node that lags by `lag`; nil if that is `most` at most, or if there is no
    /// such limit.
    package static func refusal(ofReadAt lag: Duration?, beyond most: Duration?) -> APIError? {
        guard let most else { return nil }
        if let lag, lag <= most { return nil }
        return APIError(
            status: 503, code: "lagging",
            error: lag == nil
                ? "This node does not know yet whether it has all events of its cluster."
                : "This node lags \(lagText(lag)) seconds behind its cluster, and reads here may lag "
                    + "\(DurationText.compact(most)).",
            remedy: "Ask another node, or again in a moment; GET /v1/cluster names the nodes.",
            headers: [("Retry-After", "1")])
    }
}
