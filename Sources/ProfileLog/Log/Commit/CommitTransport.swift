/// The step between deciding a batch and applying it: the seam for a replicated log.
///
/// A commit decides its batch at the end of the log as it sees it, hands it to the transport, and applies it when
/// `deliver` returns, all in one write transaction. A transport over a replicated log returns when the batch has its
/// place on a majority of disks. Where it cannot know that soon, it throws `UndecidedBatch`: the transaction is given
/// up, so that no lock is held over the network, and `settle` finds out. Other stores apply what they receive
/// (`Committer.apply`).
package protocol CommitTransport: Sendable {
    /// The most bytes of an encoded batch that it delivers.
    var mostBytes: Int { get }
    /// Tells whether other stores apply the same batches.
    var isReplicated: Bool { get }
    /// The longest time for which a commit is decided again while other stores' batches come first.
    var deadline: Duration { get }
    /// Waits until no earlier batch is undecided. Called without a lock, before each commit; throws if the log takes no
    /// writes now.
    func prepare() throws(AppendError)
    /// Gives `batch` the place after `last`, the last batch that this store has, and returns its position. The commit
    /// stores it with the batch. Returns nil where there are no other stores.
    ///
    /// If the disk fails after that, the store lacks the batch and must be given it again.
    func deliver(_ batch: CommitBatch, after last: ReplicaPosition?) throws -> ReplicaPosition?
    /// Finds out what became of a batch, as long as its caller waits. Called without a lock.
    ///
    /// Throws `AppendError.outcomePending` if that is not known in time; then the transport goes on by itself.
    func settle(_ batch: UndecidedBatch) throws(AppendError) -> SettledBatch
    /// Applies what other stores have decided by now, and tells whether there was anything. The transport may apply at
    /// any time, also just before.
    func catchUp() throws(AppendError) -> Bool
}

extension CommitTransport {
    package var deadline: Duration { .seconds(10) }
}

extension EventLog {
    /// Applies what the other stores of a replicated log have decided by now, and tells whether the log ends at another
    /// position than `last`. Where the log takes no writes now it is left as it is. Blocks its thread for the answer of
    /// the cluster, for a second or two at most as a rule.
    package func catchUp(since last: Position) -> Bool {
        let transport = options.transport
        do {
            try transport.prepare()
            _ = try transport.catchUp()
        } catch {}
        return (try? lastPosition()) != last
    }
}

/// A batch whose delivery ended without an acknowledgement: it may have its place, or get it later.
package struct UndecidedBatch: Error {
    package let batch: CommitBatch
    /// The message that was sent: the same bytes are sent again.
    package let message: [UInt8]
    /// The last batch before it.
    package let last: ReplicaPosition

    package init(_ batch: CommitBatch, message: [UInt8], after last: ReplicaPosition) {
        (self.batch, self.message, self.last) = (batch, message, last)
    }
}

/// The end of an undecided batch.
package enum SettledBatch: Sendable {
    /// The batch has its place, and this store has applied it.
    case stored
    /// Another store's batch has the place, and this store has applied that one: decide again.
    case refused
}

/// One store, one order: the write transaction gives each batch its place.
package struct LocalTransport: CommitTransport {
    package init() {}

    package var mostBytes: Int { .max }
    package var isReplicated: Bool { false }
    package func prepare() {}
    package func deliver(_ batch: CommitBatch, after last: ReplicaPosition?) -> ReplicaPosition? { nil }
    package func settle(_ batch: UndecidedBatch) -> SettledBatch { .stored }
    package func catchUp() -> Bool { false }
}
