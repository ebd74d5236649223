internal import ProfileLogFacts

/// The reasons for which a node takes no writes, or follows the stream no further, each with the next step.
extension Replica {
    static let rebuildStep =
        "If no broker can bring the stream back, run `profilecli cluster rebuild` at the node that has the most."

    /// The messages from `first` to `last` are not in the stream any more, and the store lacks them.
    static func gone(from first: UInt64, to last: UInt64) -> StreamError {
        StreamError(
            .unfit, "The stream no longer has the batches \(first) to \(last), which this node lacks.",
            remedy: "Start the node with an empty folder and --join URL of another node.")
    }

    /// The message at `sequence` does not follow the last batch of the store.
    static func other(_ sequence: UInt64) -> StreamError {
        StreamError(
            .unfit, "Batch \(sequence) of the stream does not follow the last batch of this node's store.",
            remedy: "Compare with `profilecli cluster status`. " + rebuildStep)
    }

    /// The stream ends at `last`, before the last batch of the store. While it is not `sure`, a broker may be late.
    static func shorter(last: UInt64, than sequence: UInt64, sure: Bool) -> StreamError {
        StreamError(
            sure ? .unfit : .unreachable,
            "The stream ends at batch \(last), and this node's store has \(sequence): the brokers lost batches.",
            remedy: "Write nothing. " + rebuildStep)
    }

    /// The stream ends at `last`, and the node `name` has more of it. While it is not `sure`, a broker may be late.
    static func lost(after last: UInt64, _ name: String, has sequence: UInt64, sure: Bool) -> StreamError {
        StreamError(
            sure ? .unfit : .unreachable,
            "The stream ends at batch \(last), and the node \(name) has \(sequence): the brokers lost batches.",
            remedy: "Run `profilecli cluster rebuild` at \(name). If \(name) is gone for good, stop it: this node "
                + "writes again ten seconds later.")
    }

    static func stranger(_ name: String, at url: String) -> StreamError {
        StreamError(
            .unfit, "The node \(name) at \(url) has another store, and the same --cluster NAME.",
            remedy: "Give its cluster another --cluster NAME; its notes are ignored.")
    }

    static let missing = StreamError(
        .missing, "The brokers have no stream of this cluster any more.", remedy: "Write nothing. " + rebuildStep)

    static let anotherStream = StreamError(
        .unfit, "The brokers' stream is another one than that of this node's store.",
        remedy: "Check --replicate and --cluster. " + rebuildStep)

    static let otherStore = StreamError(
        .unfit, "The stream belongs to another store.",
        remedy: "Give this store another --cluster NAME, or start with an empty folder and --join.")

    static let notEmpty = StreamError(
        .unfit, "The stream has batches already, and this store is of no cluster.",
        remedy: "Give the store another --cluster NAME, or start with an empty folder and --join.")

    static let needsCopy = StreamError(
        .unfit, "The stream no longer has its first batch, or began from a store that had events.",
        remedy: "Start this node with --join URL of another node.")

    static func unconditional(_ sequence: UInt64, wanted: UInt64) -> StreamError {
        StreamError(
            .unfit, "The brokers stored a batch at \(sequence) that was meant for \(wanted).",
            remedy: "They ignore the condition of a publish: check their version, and that nothing changes messages.")
    }

    static func sameName(_ name: String, at url: String) -> StreamError {
        StreamError(
            .unfit, "Another node with the name \(name) runs at \(url).",
            remedy: "Give one of them another --node NAME.")
    }

    static let lostMajority = StreamError(
        .unreachable, "The brokers have no majority.",
        remedy: "Start the brokers that are down, or mend their network; then an election takes 4 to 9 seconds.")

    /// At the first start.
    static let noMajority = StreamError(
        .unreachable, "The brokers took no message: they have no majority.",
        remedy: "Start the other brokers, then this node again.")

    static let isFit = StreamError(
        .unfit, "The stream fits this node: there is nothing to rebuild.", remedy: "See `profilecli cluster status`.")

    /// A node at `sequence` has less than `other`.
    static func behind(_ other: NodeStatus, at sequence: UInt64) -> StreamError {
        StreamError(
            .unfit, "The node \(other.name) has batch \(other.sequence), this one only \(sequence).",
            remedy: "Rebuild at \(other.name). If it is gone for good, ask again ten minutes after it stopped.")
    }

    static let isSound = StreamError(
        .unfit, "The stream has the last batch of this node's store: there is nothing to rebuild.",
        remedy: "Wait a moment: the node goes on by itself. See `profilecli cluster status`.")

    static let isRebuilt = StreamError(
        .unfit, "The stream was made again already, after the last batch of this node's store.",
        remedy: "Wait a moment: the node goes on by itself. See `profilecli cluster status`.")

    static let unread = StreamError(
        .unreachable, "The stream has batches that the brokers do not show yet, so it is not deleted.",
        remedy: "Try again in a moment. If it stays so, look at the brokers' logs.")

    static let notJoined = StreamError(
        .unreachable, "The node is not in its cluster yet, or has left it.", remedy: "Try again in a moment.")

    static func noRoom(_ reason: String) -> StreamError {
        StreamError(
            .unreachable, reason,
            remedy: "Give the brokers more room (`max_file_store`, their disks); what waits is stored then.")
    }

    static let unsettled = StreamError(
        .unreachable, "The cluster has not yet settled an earlier write.", remedy: "Try again in a moment.")

    /// The store cannot take a batch of another node: a full disk, or damage.
    static func notStored(_ error: any Error) -> StreamError {
        let known = error as? any LogError
        return StreamError(
            .unreachable, "A batch of the cluster cannot be stored here: \(known?.description ?? "\(error)")",
            remedy: known?.remedy ?? "Look at the disk and run `profilecli doctor`; the node goes on trying.")
    }

    static func wrongClock(seconds: Int) -> StreamError {
        StreamError(
            .unfit,
            "This machine's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") the brokers' clock.",
            remedy: "Set the clock (NTP) of the machine that is wrong; the node writes again by itself.")
    }
}
