internal import ProfileLogFacts
internal import ProfileLogRecords
internal import ProfileLogReplication

/// The configuration that the stream of a cluster must have, and how one that differs is told.
///
/// The keys are those of JetStream's API (ADR-8, ADR-10; nats-server: `StreamConfig` in stream.go).
struct StreamConfiguration {
    let settings: NATSSettings

    /// Room for the largest message: `ReplicaSettings.mostBytes` and its head.
    static let leastPayload = 8_000_000
    /// The oldest version of nats-server that was tested.
    static let oldestVersion = "2.15.1"

    /// `max_age`: 0 is for ever.
    private static func nanoseconds(_ age: Duration?) -> Int64 {
        guard let (seconds, attoseconds) = age?.components else { return 0 }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// The body of STREAM.CREATE for a stream whose first message is at `first`.
    func json(first: UInt64) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        text("name", settings.stream)
        writer.key("subjects")
        writer.beginArray()
        writer.value(settings.subject)
        writer.endArray()
        text("retention", "limits")
        text("storage", "file")
        number("num_replicas", Int64(settings.replicas))
        // A full stream refuses; the alternative drops the oldest batches.
        text("discard", "new")
        for key in Self.limits { number(key, -1) }
        number("max_age", Self.nanoseconds(settings.maxAge))
        // No message has a `Nats-Msg-Id`: a batch is known by the place that it wants. 0 would mean two minutes.
        number("duplicate_window", 1_000_000_000)
        flag("deny_delete", true)
        flag("deny_purge", true)
        flag("allow_rollup_hdrs", false)
        flag("allow_direct", true)
        // The last sequence of a new stream is the one before (`first_seq`): a stream made again goes on where it was.
        if first > 1 { number("first_seq", Int64(clamping: first)) }
        writer.endObject()
        return writer.bytes

        func text(_ key: String, _ value: String) {
            writer.key(key)
            writer.value(value)
        }
        func number(_ key: String, _ value: Int64) {
            writer.key(key)
            writer.value(value)
        }
        func flag(_ key: String, _ value: Bool) {
            writer.key(key)
            writer.value(value)
        }
    }

    /// The body of STREAM.UPDATE: the configuration `found` with another age, and all else as it is; nil if it is none.
    static func json(of found: AttributeValue, maxAge: Duration?) -> [UInt8]? {
        guard case .object(let members) = found else { return nil }
        let age = AttributeValue.Member("max_age", .int(nanoseconds(maxAge)))
        guard let changed = AttributeValue.object(sorting: members.filter { $0.key != age.key } + [age]) else {
            return nil
        }
        var writer = JSONWriter()
        writer.value(changed)
        return writer.bytes
    }

    /// Limits that the stream must not have.
    private static let limits = ["max_msgs", "max_bytes", "max_msgs_per_subject", "max_msg_size", "max_consumers"]

    // MARK: - Deviations

    /// The faults that make a stream of the configuration `found` unfit.
    func faults(of found: AttributeValue) -> [StreamError] {
        let edit = "nats stream edit \(settings.stream)"
        let rebuild = "Stop all nodes but one, and rebuild the stream from it: profilecli cluster rebuild."
        var faults: [StreamError] = []

        let subjects = found["subjects"]?.asArray?.compactMap(\.asText) ?? []
        require(
            subjects == [settings.subject], "has the subjects \(subjects.joined(separator: ", "))",
            "Give it its one subject again: \(edit) --subjects \(settings.subject).")
        let replicas = found["num_replicas"]?.asInteger ?? 0
        require(
            replicas >= settings.replicas, "has \(replicas) replicas instead of \(settings.replicas)",
            "Give it more: \(edit) --replicas \(settings.replicas); or start the nodes with --replicas \(replicas).")
        require(found["storage"]?.asText == "file", "is kept in memory", rebuild)
        require(
            found["retention"]?.asText ?? "limits" == "limits", "drops messages once they were read (retention)",
            rebuild)
        require(
            found["persist_mode"]?.asText ?? "default" == "default",
            "acknowledges what is not on disk yet (persist_mode)", rebuild)
        require(
            found["discard"]?.asText == "new", "drops old batches when it is full (discard)",
            "Let it refuse instead: \(edit) --discard new.")
        require(
            isOn("deny_delete"), "lets single batches be deleted (deny_delete)", "Forbid it: \(edit) --deny-delete.")
        require(isOn("deny_purge"), "lets its batches be purged (deny_purge)", "Forbid it: \(edit) --deny-purge.")
        require(
            !isOn("allow_rollup_hdrs"), "lets a message replace earlier ones (allow_rollup_hdrs)",
            "Forbid it: \(edit) --no-allow-rollup.")
        require(
            isOn("allow_direct"), "cannot be read from each broker (allow_direct)", "Allow it: \(edit) --allow-direct.")
        require(!isOn("no_ack"), "acknowledges nothing (no_ack)", "Let it: \(edit) --ack.")
        require(!isOn("sealed"), "is sealed, and takes no more batches", rebuild)
        require(!isOn("allow_msg_counter"), "takes only counters (allow_msg_counter)", rebuild)
        for key in ["mirror", "sources", "subject_transform", "republish"] where found.present(Name(key)) != nil {
            require(false, "has \(key), so that its messages are not only ours", rebuild)
        }
        for key in Self.limits where key != "max_consumers" {
            let limit = found[Name(key)]?.asInteger ?? -1
            let isHarmless = key == "max_msg_size" && limit >= Self.leastPayload
            require(
                limit <= 0 || isHarmless, "is limited (\(key) \(limit)), and refuses batches beyond it",
                "Take the limit away: \(edit), with \(key) -1.")
        }
        return faults

        func isOn(_ key: Name) -> Bool { found[key]?.asFlag ?? false }

        func require(_ isFit: Bool, _ sentence: @autoclosure () -> String, _ remedy: @autoclosure () -> String) {
            if !isFit {
                faults.append(
                    StreamError(.unfit, "The stream \(settings.stream) \(sentence()).", remedy: remedy()))
            }
        }
    }
}

/// A version of nats-server.
struct BrokerVersion: Comparable {
    private let numbers: [Int]

    /// Reads `2.15.1`, and `2.15.1-RC.1` as that.
    init(_ text: String) {
        numbers = text.prefix { $0 != "-" && $0 != "+" }.split(separator: ".").map { Int($0) ?? 0 }
    }

    static func < (left: BrokerVersion, right: BrokerVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }
}
