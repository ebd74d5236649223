/// The step between deciding a batch and applying it: the seam for a replicated log.
///
/// A commit decides its batch at the end of the log as it sees it, hands it to the transport, and applies it when
/// `deliver` returns, all in one write transaction. A transport over a replicated log sends `batch.encoded()` with the
/// position that it must come at. It returns when the batch has this place on a quorum, and throws when another store's
/// batch has it: then nothing is applied here, and the append is refused. Other stores apply what they receive
/// (`Committer.apply`).
protocol CommitTransport: Sendable {
    /// Gives `batch` its place in the log. If the disk fails after that, the store lacks the batch and must be given it
    /// again.
    func deliver(_ batch: CommitBatch) throws
}

/// One store, one order: the write transaction gives each batch its place.
struct LocalTransport: CommitTransport {
    func deliver(_ batch: CommitBatch) {}
}
