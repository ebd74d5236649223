internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

/// `profilecli cluster`
struct ClusterCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        "cluster", "Look at a cluster of nodes, compare their stores, mend it, or leave it.",
        """
        A cluster is several profiled that serve one store, with its batches on NATS JetStream (docs/scaling.md). \
        `profilecli help cluster` explains the words.
        """,
        examples: """
            profilecli cluster status --url http://a:8080
            profilecli cluster verify --url http://a:8080
            profilecli cluster stream --url http://a:8080 --max-age 7d
            profilecli cluster rebuild --url http://a:8080
            profilecli cluster leave --store /var/lib/profilelog
            """,
        subcommands: [
            ClusterStatusCommand.self, ClusterVerifyCommand.self, ClusterStreamCommand.self,
            ClusterRebuildCommand.self, ClusterLeaveCommand.self,
        ])
}

/// `profilecli cluster status`
struct ClusterStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "status", "Show the nodes of a cluster, who writes, the stream and the last fail-over.",
        """
        Asks one node, which knows the others by their notes. Below the tables is what is not well, each with the next \
        step.

        EXIT STATUS: 0 if all is well, also with warnings; 1 if a node is missing or may not write, if the stream is not \
        as it must be, or if the node does not answer.
        """,
        examples: """
            profilecli cluster status --url http://a:8080
            profilecli cluster status --url http://a:8080 --format json
            """)

    @OptionGroup var node: NodeOptions

    func run() async throws {
        let cluster = ClusterStatus(try await node.connect().get("/v1/cluster"))
        let findings = cluster.findings
        if node.isJSON {
            try Output.print(cluster.answer.line)
        } else {
            try Output.print(Self.nodes(cluster).lines() + [""] + Self.facts(cluster).lines())
            for finding in findings { try Output.print(["", finding.line, finding.remedy ?? ""]) }
        }
        if findings.contains(where: { $0.level == .error }) { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private static func nodes(_ cluster: ClusterStatus) -> Table {
        let nodes = cluster.nodes
        let hasVersions = Set(nodes.map { $0.told["version"].cell }).count > 1
        return Table(
            "NODE!", "URL", "#POSITION", "#BATCH", "#MISSING", "BROKER", "VERSION", "STATE!", of: nodes
        ) { node in
            [
                node.name, node.url ?? "", Number.grouped(node.position), Number.grouped(node.sequence),
                Number.grouped(cluster.missing(node)), node.told["broker"].cell,
                hasVersions ? node.told["version"].cell : "", node.state,
            ]
        }
    }

    private static func facts(_ cluster: ClusterStatus) -> Table {
        let answer = cluster.answer
        var table = Table("WHAT", "VALUE!")
        table.add("cluster", cluster.name)
        table.add("asked", cluster.asked.name)
        table.add("preferred writer", answer["writer"].text ?? "none yet")
        table.add("lag of \(cluster.asked.name)", answer["lag_s"] == .null ? "unknown" : Phrase.span(answer["lag_s"]))
        if let stream = cluster.stream {
            let (first, last) = (stream.count("first"), stream.count("last"))
            table.add(
                "stream",
                first > last
                    ? "no messages; the last was \(Number.grouped(last))"
                    : "messages \(Number.grouped(first)) to \(Number.grouped(last))")
            table.add("batches kept", ClusterStreamCommand.age(of: stream))
            table.add("stream made", Phrase.time(stream["created"]))
            let followers = stream.objects("followers").map { broker in
                broker["name"].cell + (broker.flag("current") ? "" : " (not current)")
            }
            if stream["leader"] != .null || !followers.isEmpty {
                table.add("leader broker", stream["leader"].text ?? "none")
                table.add("followers", followers.joined(separator: ", "))
            }
        }
        let failover = answer.object("last_failover")
        if answer["last_failover"] != .null {
            table.add(
                "last fail-over",
                "\(failover["node"].cell) waited \(Phrase.span(failover["length_s"])), until "
                    + Phrase.time(failover["ended"]))
        }
        table.add("undecided batch", answer.flag("undecided") ? "yes" : "none")
        return table
    }
}

/// `profilecli cluster stream`
struct ClusterStreamCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "stream", "Set how long the brokers of a cluster keep a batch.",
        """
        Of all nodes: the stream is changed at once, and writes go on. Older batches leave the brokers; the stores of the \
        nodes keep everything. A node that is off for longer than that needs a copy (--join). A node whose \
        --stream-max-age is another one warns until it is started with the new one. The key needs v1.cluster.
        """,
        examples: """
            profilecli cluster stream --url http://a:8080 --max-age 7d
            profilecli cluster stream --url http://a:8080 --max-age forever
            """)

    @Option(help: .init("A time as 7d, 36h or 90m, or `forever`.", valueName: "time")) var maxAge: String
    @OptionGroup var node: NodeOptions

    /// 0 is for ever.
    private var seconds: Int64 {
        get throws {
            if maxAge == "forever" { return 0 }
            guard let seconds = DurationText.parse(maxAge)?.components.seconds, 60...315_360_000 ~= seconds else {
                throw ValidationError("--max-age must be a time of a minute to ten years, as in 7d or 36h, or forever.")
            }
            return seconds
        }
    }

    func validate() throws { _ = try seconds }

    func run() async throws {
        let seconds = try self.seconds
        let answer = try await node.connect().post("/v1/cluster/stream") { $0.member("max_age_s", seconds) }
        let next =
            seconds == 0 ? "Omit --stream-max-age at all nodes." : "Give all nodes --stream-max-age \(maxAge)."
        let sentence =
            "The brokers of cluster \(ClusterStatus(answer).name) keep batches \(Self.text(seconds)). \(next)"
        try Output.print([node.isJSON ? answer.line : sentence], after: "The stream was changed")
    }

    /// `for 36 h` or `for ever`.
    static func age(of stream: JSONObject) -> String { text(stream["max_age_s"].integer ?? 0) }

    private static func text(_ seconds: Int64) -> String {
        seconds == 0 ? "for ever" : "for \(DurationText.exact(seconds: seconds))"
    }
}

/// `profilecli cluster rebuild`
struct ClusterRebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "rebuild", "Make the stream again from the store of one node, after the stream was lost.",
        """
        For a stream that was deleted, purged below a node, or made again by others: the nodes read only then. Ask the \
        node with the highest batch in `cluster status`. It refuses while the stream is sound, or if another node has more. All other \
        nodes follow the new stream if their store ends where the node's does; else they need a copy (--join).

        On a terminal it asks; elsewhere it needs --yes. It cannot be undone.
        """,
        examples: """
            profilecli cluster rebuild --url http://a:8080
            profilecli cluster rebuild --url http://a:8080 --yes
            """)

    @Flag(help: "Do it without a question.") var yes = false
    @OptionGroup var node: NodeOptions

    func run() async throws {
        let connection = try node.connect()
        let cluster = ClusterStatus(try await connection.get("/v1/cluster"))
        try confirm(cluster)
        let answer = try await connection.post("/v1/cluster/rebuild") { json in
            // Only while the node is where this decision saw it.
            json.member("sequence", cluster.asked.sequence)
        }
        let sentence =
            "The stream of cluster \(cluster.name) was made again from node \(cluster.asked.name), after batch "
            + "\(Number.grouped(cluster.asked.sequence)). \(Suggestion.next("cluster status"))"
        try Output.print([node.isJSON ? answer.line : sentence], after: "The stream was made again")
    }

    private func confirm(_ cluster: ClusterStatus) throws {
        if yes { return }
        guard Question.canBeAsked else {
            throw CommandError(
                "The stream was not made again: that cannot be undone.", remedy: "Add --yes to do it.", status: .usage)
        }
        let node = "\(cluster.asked.name), after batch \(Number.grouped(cluster.asked.sequence))"
        Output.message("Make the stream of cluster \(cluster.name) again from node \(node)? Type `yes`.".oneLine)
        guard Question.answer() == "yes" else {
            throw CommandError(
                "The stream was not made again.", remedy: "Run the command again to do it.", status: .usage)
        }
    }
}

/// `profilecli cluster leave`
struct ClusterLeaveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "leave", "Make a node's store one machine's again.",
        """
        Stop the node first: the store must be in no program. Its events, users and positions stay; only its place in \
        the stream is removed. What is written from then on is in this store alone, so it can join the cluster again \
        only by a copy (--join). The other nodes go on without it.
        """,
        examples: """
            profilecli cluster leave --store /var/lib/profilelog
            """)

    @OptionGroup var store: StoreOnlyOption

    func run() throws {
        guard let place = try EventLog.leaveCluster(path: store.path) else {
            throw CommandError(
                "The store in \(store.path) is in no cluster; nothing was changed.",
                remedy: "It takes writes from every program already.")
        }
        try Output.print(
            ["The store left its cluster after message \(Number.grouped(place.sequence)): it is one machine's now."],
            after: "The store left its cluster")
    }
}
