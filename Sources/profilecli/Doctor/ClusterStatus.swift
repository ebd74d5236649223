internal import ProfileLog

/// The cluster as one of its nodes tells it (`GET /v1/cluster`), and what is not well in it.
struct ClusterStatus {
    let answer: JSONObject

    /// A node in the answer.
    struct Node {
        let name: String
        let url: String?
        let told: JSONObject
        /// Tells whether no note of it has come for longer than a sound node is silent.
        let isMissing: Bool

        var position: UInt64 { told.count("position") }
        var sequence: UInt64 { told.count("sequence") }
        /// Its reason to take no writes; nil if it takes some.
        var refusal: String? { told["refusal"].text }
        var isWriter: Bool { told.flag("is_writer") }
        var age: String { Phrase.span(told["age_s"]) }

        fileprivate init(_ told: JSONObject) {
            self.told = told
            name = told["name"].text ?? "?"
            url = told["url"].text
            isMissing = (told["age_s"].asNumber ?? 0) > ClusterStatus.longestSilence
        }

        /// The state in a cell of a table.
        var state: String {
            if isMissing { return "no word for \(age)" }
            if refusal != nil { return "takes no writes" }
            return isWriter ? "writes" : "ready"
        }
    }

    /// A node sends a note four times a second; after so many seconds without one it is missing.
    static let longestSilence = 3.0

    init(_ answer: JSONObject) { self.answer = answer }

    var name: String { answer["cluster"].cell }
    /// The node that answered.
    var asked: Node { Node(answer.object("node")) }
    /// All nodes that the asked one knows, itself first.
    var nodes: [Node] {
        let asked = self.asked
        // Another one of the same name is another instance.
        return [asked]
            + answer.objects("nodes").map { Node($0) }.filter { $0.told["instance"] != asked.told["instance"] }
    }

    /// The batches that each of `nodes` lacks, as far as the asked one knows.
    func missing(_ node: Node) -> UInt64 {
        let last = max(nodes.map(\.sequence).max() ?? 0, stream?.count("last") ?? 0)
        return last - node.sequence
    }

    // MARK: - What is not well

    private static let check = "cluster"

    /// The findings about what is not well: an error where a node is missing or may not write, else a warning.
    var findings: [Finding] {
        var findings = refusals + nodes.dropFirst().compactMap(finding) + warnings
        if let stream {
            // A fault of the stream is often the refusal of the node too.
            findings += stream.objects("faults").map(Self.error).filter { fault in
                !findings.contains { $0.message == fault.message }
            }
            // A broker that is alone names no leader.
            if stream["leader"] == .null, !stream.objects("followers").isEmpty {
                findings.append(
                    .error(
                        Self.check, "No broker leads the stream: nothing can be written.",
                        remedy: "Start the brokers that are down; then an election takes 4 to 9 seconds."))
            }
            for broker in stream.objects("followers") where broker["current"].flag == false {
                findings.append(
                    .warning(
                        Self.check, "Broker \(broker["name"].cell) does not have the whole stream.",
                        remedy: "Wait until it has; if it does not catch up, look at the log of that nats-server."))
            }
        } else {
            findings.append(
                .error(
                    Self.check, "Node \(asked.name) has never seen the stream.",
                    remedy: "Check that the brokers of --replicate run, and look at the log of the node."))
        }
        if answer.flag("undecided") {
            findings.append(
                .warning(
                    Self.check, "Whether the last batch of node \(asked.name) is stored is not known yet.",
                    remedy: "Wait: the node asks the brokers until it knows. If it lasts, look at the brokers."))
        }
        if answer["lag_s"].asNumber == nil {
            findings.append(
                .warning(
                    Self.check, "Node \(asked.name) has not caught up with the stream since its start.",
                    remedy: "Wait until it has; its log says how far it is."))
        }
        return findings
    }

    /// The stream, if the asked node ever saw it.
    var stream: JSONObject? { answer["stream"] == .null ? nil : answer.object("stream") }

    private var refusals: [Finding] {
        guard answer["refusal"] == .null else { return [Self.error(answer.object("refusal"))] }
        return asked.refusal.map { [takesNoWrites(asked, $0)] } ?? []
    }

    private var warnings: [Finding] {
        answer.objects("warnings").map { warning in
            .warning(Self.check, warning["error"].cell, remedy: warning["remedy"].text ?? "Look at its log.")
        }
    }

    private static func error(_ fault: JSONObject) -> Finding {
        .error(
            check, fault["error"].text ?? "The node takes no writes.",
            remedy: fault["remedy"].text ?? "Look at its log.")
    }

    private func takesNoWrites(_ node: Node, _ reason: String) -> Finding {
        .error(
            Self.check, "Node \(node.name) takes no writes: \(reason)",
            remedy: "Ask that node for the next step: `profilecli cluster status --url \(node.url ?? "URL")`.")
    }

    private func finding(_ node: Node) -> Finding? {
        if node.isMissing {
            return .error(
                Self.check, "No word came from node \(node.name) for \(node.age).",
                remedy: "Look at its machine and its log. A node that was taken away is forgotten after 10 minutes.")
        }
        if let reason = node.refusal { return takesNoWrites(node, reason) }
        guard node.told["broker"].text != nil else {
            return .error(
                Self.check, "Node \(node.name) is connected to no broker.",
                remedy: "Check that the brokers run, and that the machine of the node reaches them.")
        }
        return nil
    }

    /// The finding if all is well.
    var wellFinding: Finding {
        .ok(
            Self.check,
            "Node \(asked.name) of cluster \(name): \(Number.counted(UInt64(nodes.count), "node")), and "
                + "\(answer["writer"].text ?? "none yet") writes.")
    }
}
