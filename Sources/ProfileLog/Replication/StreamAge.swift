internal import ProfileLogRecords

/// The time for which the brokers keep a batch: the stream has one, and each node a setting. Nil is for ever.
package enum StreamAge {
    /// The warning of a node whose setting is `wanted`, at a stream that keeps batches for `found`; nil if they are the
    /// same. It stops no write: all nodes have the same batches.
    package static func warning(found: Duration?, wanted: Duration?) -> StreamError? {
        if found == wanted { return nil }
        return StreamError(
            .unfit,
            "The brokers keep batches \(text(found)), and --stream-max-age of this node says \(text(wanted)).",
            remedy: "Set the stream with `profilecli cluster stream --max-age \(option(wanted))`, or give the node the "
                + "other setting. A stream that this node makes again gets its setting.")
    }

    private static func text(_ age: Duration?) -> String {
        guard let age else { return "for ever" }
        guard age.components.attoseconds == 0 else { return "for \(DurationText.compact(age))" }
        return "for \(DurationText.exact(seconds: age.components.seconds))"
    }

    /// As the command reads it: `7d`, `36h`.
    private static func option(_ age: Duration?) -> String {
        age.map { DurationText.typed(seconds: $0.components.seconds) } ?? "forever"
    }
}
