/// The settings of a node, as an operator gives them.
package struct ReplicaSettings: Sendable {
    /// The node's name, of its own in the cluster.
    package var name: String
    /// The URL at which clients and other nodes reach it.
    package var url: String
    /// The longest wait of a write for its outcome.
    package var deadline: Duration = .seconds(10)
    /// The longest wait for the answer to one publish, while the store's write lock is held.
    package var publishTimeout: Duration = .seconds(1)
    /// The wait between two looks at the stream's end.
    package var pollInterval: Duration = .milliseconds(15)
    /// The time between two looks at the stream's configuration while nothing is wrong.
    package var checkInterval: Duration = .seconds(60)
    /// The greatest difference between this machine's clock and the brokers' with which the node writes.
    package var mostClockError: Duration = .seconds(30)
    /// The time for which a start listens for another node with this name.
    package var listening: Duration = .milliseconds(600)
    /// The longest wait of a start for the first message of a stream.
    package var joining: Duration = .seconds(10)
    /// The most bytes of a message.
    package var mostBytes = 7_000_000

    /// The program's version, for the other nodes.
    package var version = ""

    package init(name: String, url: String) { (self.name, self.url) = (name, url) }
}
