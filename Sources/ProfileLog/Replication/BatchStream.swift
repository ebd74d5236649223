package import ProfileLogFacts

/// The stream of a cluster as one node sees it: one subject of one stream on the brokers, and short notes between the
/// nodes, which are not stored.
///
/// Calls block their thread. Any thread may call.
package protocol BatchStream: Sendable {
    /// Publishes `message` on the condition that the stream's last sequence is `last`, and waits for the answer.
    func publish(_ message: [UInt8], after last: UInt64, timeout: Duration) -> PublishAnswer
    /// Up to `count` messages from `sequence` on, in order, of together some 4 MB; empty if there are none yet. The
    /// first may be a later one: those before it are gone.
    func messages(from sequence: UInt64, count: Int) throws(StreamError) -> [StreamMessage]
    /// Returns what the brokers say of the stream now.
    func state() throws(StreamError) -> StreamState
    /// As `state`, without a look at the configuration and the monitoring ports: `faults` is empty. Costs one request.
    func glance() throws(StreamError) -> StreamState
    /// Makes the stream, if there is none, so that its first message is at `first`.
    func create(first: UInt64) throws(StreamError)
    /// Lets the brokers keep each message for `age` from now on, also those that are there; nil: for ever.
    func keep(for age: Duration?) throws(StreamError)
    /// Deletes the stream with all its messages.
    func delete() throws(StreamError)
    /// Leaves the broker, and connects to another one.
    func changeBroker()
    /// Sends a short note to all nodes of the cluster. It may be lost.
    func tell(_ note: [UInt8])
    /// Sets the closure that gets the notes of all nodes, this one's own too, on a thread of the library.
    func onNote(_ body: @escaping @Sendable ([UInt8]) -> Void)
    /// The broker that it is connected to, as host and port; nil if there is none.
    var broker: String? { get }
    /// Closes the connection.
    func close()
}

/// The answer to a publish. Only an acknowledgement settles something.
package enum PublishAnswer: Hashable, Sendable {
    /// The message is on the disks of a majority, at this sequence.
    case stored(sequence: UInt64)
    /// Anything else: refused for now, no answer in time, no leader, no connection. The text is for the log.
    case undecided(String)
    /// The brokers have no room. That settles nothing either: a leader without room also says so of a message that the
    /// others have stored, as it looks when the majority has agreed (`processJetStreamMsg` in nats-server's stream.go).
    case full(String)
    /// The broker takes no message of this size; nothing was sent.
    case tooLarge(String)
}

/// A message of the stream.
package struct StreamMessage: Hashable, Sendable {
    package let sequence: UInt64
    package let bytes: [UInt8]

    package init(sequence: UInt64, bytes: [UInt8]) { (self.sequence, self.bytes) = (sequence, bytes) }
}

/// The stream as its brokers describe it.
package struct StreamState: Hashable, Sendable {
    /// The time at which it was made, as the brokers write it.
    package var created: String
    /// The sequence of the first message that is there, and of the last one. An empty stream has a first one after its
    /// last.
    package var first: UInt64
    package var last: UInt64
    /// The time for which the brokers keep a message; nil: for ever.
    package var maxAge: Duration?
    /// The brokers' time, if they tell it.
    package var time: Timestamp?
    /// The name of the broker that leads the stream.
    package var leader: String?
    /// The other brokers of the stream, and whether each is current and in touch with the leader.
    package var followers: [String: Bool]
    /// The faults that make the stream unfit, as sentences, with the next step after each; empty if it is as it must
    /// be.
    package var faults: [StreamError]

    /// Tells whether a leader answered that is in touch with a majority of the stream's brokers.
    package var hasMajority: Bool { leader != nil && 2 * (1 + followers.values.count { $0 }) > 1 + followers.count }

    package init(
        created: String, first: UInt64, last: UInt64, maxAge: Duration? = nil, time: Timestamp? = nil,
        leader: String? = nil, followers: [String: Bool] = [:], faults: [StreamError] = []
    ) {
        self.created = created
        (self.first, self.last, self.maxAge, self.time) = (first, last, maxAge, time)
        (self.leader, self.followers, self.faults) = (leader, followers, faults)
    }
}

/// The reason why the brokers gave no answer, or an unfit one: a sentence, and what to do next.
package struct StreamError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// No broker answers, or no majority does: it may pass by itself.
        case unreachable
        /// There is no such stream.
        case missing
        /// An operator must change something.
        case unfit
    }

    package let kind: Kind
    package let sentence: String
    package let remedy: String

    package init(_ kind: Kind, _ sentence: String, remedy: String) {
        (self.kind, self.sentence, self.remedy) = (kind, sentence, remedy)
    }

    package var description: String { sentence }
}
