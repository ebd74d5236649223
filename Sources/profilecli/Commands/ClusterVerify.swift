internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

/// `profilecli cluster verify`
struct ClusterVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "verify", "Compare the stores of all nodes up to one position, by hashes of what is true.",
        """
        Asks each node for hashes of its log, names and meta, up to a position that all have or reach within 10 s, a \
        million events at a time. Writes may go on. All nodes must take the same key, PROFILELOG_KEY. It ends at the \
        first events that differ.

        EXIT STATUS: 0 if all nodes are equal; 1 if they differ, or if a node could not be compared.
        """,
        examples: """
            profilecli cluster verify --url http://a:8080
            profilecli cluster verify --url http://a:8080 --position 120000
            profilecli cluster verify --url http://a:8080 --format json
            """)

    @Option(help: .init("Compare up to this position (default: the highest of all nodes).", valueName: "position"))
    var position: UInt64?
    @OptionGroup var node: NodeOptions

    /// The longest wait for a node to reach the position.
    private static let patience = Duration.seconds(10)
    /// The most events of one request: reading them takes a node a few seconds.
    private static let slice: UInt64 = 1 << 20
    /// The most rounds for nodes that differ while one of them has applied an erasure and another has not.
    private static let mostTries = 10
    private static let parts: [Name] = ["log", "names", "meta"]

    /// A node, and what it answered last.
    private struct Compared {
        let node: ClusterStatus.Node
        var connection: (any Connection)?
        /// The hashes; nil if there was no answer.
        var digest: JSONObject?
        var failure: CommandError?
        /// The parts in which it differs from most nodes.
        var different: [Name] = []

        var isEqual: Bool { digest != nil && different.isEmpty }

        /// The erasures that its store has applied.
        var erasures: [UInt64]? { digest.map { [$0.count("rewrites"), $0.count("name_erasures")] } }
    }

    mutating func validate() throws {
        if position == 0 { throw ValidationError("--position must be 1 or more.") }
    }

    func run() async throws {
        Interrupt.endProgram()
        let asked = try node.connect()
        let cluster = ClusterStatus(try await asked.get("/v1/cluster"))
        let end = position ?? cluster.nodes.map(\.position).max() ?? 0
        var all = cluster.nodes.map { Compared(node: $0) }
        for index in all.indices {
            do {
                let one = all[index].node
                let connection = try index == 0 ? asked : node.connect(to: one.url ?? "")
                try await Self.wait(for: one, by: connection, until: end)
                all[index].connection = connection
            } catch let failure as CommandError {
                all[index].failure = Self.told(failure, of: all[index].node)
            }
        }
        let range = try await Self.compare(&all, upTo: end)
        try print(all, range)
        if let failure = Self.failure(all, range) { throw failure }
    }

    /// Waits until the node has reached `position`.
    private static func wait(
        for node: ClusterStatus.Node, by connection: any Connection, until position: UInt64
    ) async throws {
        let end = ContinuousClock.now + patience
        while true {
            let reached = ClusterStatus(try await connection.get("/v1/cluster")).asked
            guard reached.name == node.name else {
                throw CommandError(
                    "Node \(reached.name) answers at the address of node \(node.name).",
                    remedy: "Name a node's own address with --url, and give each node its own --node-url.")
            }
            if reached.position >= position { return }
            guard ContinuousClock.now < end else {
                throw CommandError(
                    "It has not come further than position \(Number.grouped(reached.position)).",
                    remedy: "Wait until it has caught up, or compare with --position \(reached.position).")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// `failure` with the next step for a node that is down.
    private static func told(_ failure: CommandError, of node: ClusterStatus.Node) -> CommandError {
        guard failure.isUnreached else { return failure }
        var told = failure
        told.remedy = "Start node \(node.name), or compare later."
        return told
    }

    // MARK: - Comparing

    /// Compares slice after slice up to `end`, or to the first one that differs. Returns the last slice.
    private static func compare(_ all: inout [Compared], upTo end: UInt64) async throws -> (from: UInt64, to: UInt64) {
        var bar = ProgressBar()
        defer { bar.clear() }
        var range = (from: UInt64(1), to: min(slice, end))
        while true {
            try await compare(&all, range)
            bar.update(LogProgress(stage: "verify", done: range.to, total: end))
            if range.to >= end || all.contains(where: { !$0.different.isEmpty }) { return range }
            range = (range.to + 1, min(range.to + slice, end))
        }
    }

    /// Asks all nodes for the hashes of one slice; again if some differ, as long as not all have the same erasures.
    private static func compare(_ all: inout [Compared], _ range: (from: UInt64, to: UInt64)) async throws {
        for _ in 1...mostTries {
            for index in all.indices {
                guard let connection = all[index].connection, all[index].failure == nil else { continue }
                do {
                    all[index].digest = try await connection.get(
                        "/v1/cluster/digest", [("from", "\(range.from)"), ("position", "\(range.to)")])
                } catch let failure as CommandError {
                    (all[index].digest, all[index].failure) = (nil, Self.told(failure, of: all[index].node))
                }
            }
            findDifferences(&all)
            let erasures = Set(all.compactMap(\.erasures))
            if erasures.count <= 1 || all.allSatisfy(\.different.isEmpty) { return }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Finds the parts in which nodes differ from most others; where no hash is that of most, from the first.
    private static func findDifferences(_ all: inout [Compared]) {
        for index in all.indices { all[index].different = [] }
        for part in parts {
            let hashes = all.compactMap { $0.digest?[part].cell }
            let usual = hashes.max { one, other in
                (hashes.count { $0 == one }, hashes.firstIndex(of: other) ?? 0)
                    < (hashes.count { $0 == other }, hashes.firstIndex(of: one) ?? 0)
            }
            for index in all.indices {
                guard let digest = all[index].digest, digest[part].cell != usual else { continue }
                all[index].different.append(part)
            }
        }
    }

    // MARK: - Output

    private func print(_ all: [Compared], _ range: (from: UInt64, to: UInt64)) throws {
        if node.isJSON { return try Output.print(all.map(Self.line) + [Self.total(all, range)]) }
        let table = Table("NODE!", "#BATCH", "LOG!", "NAMES!", "META!", "WHY NOT", of: all) { one in
            let cells = Self.parts.map { part in
                one.digest == nil ? "–" : one.different.contains(part) ? "different" : "equal"
            }
            return [one.node.name, one.digest.map { Number.grouped($0.count("sequence")) } ?? ""] + cells
                + [one.failure?.message ?? ""]
        }
        try Output.print(table.lines())
        if all.allSatisfy(\.isEqual) {
            try Output.print([
                "",
                "\(Number.counted(UInt64(all.count), "node")) with the same log, names and meta up to position "
                    + "\(Number.grouped(range.to)).",
            ])
        }
    }

    private static func line(_ one: Compared) -> String {
        JSONWriter.object { json in
            json.member("node", one.node.name)
            json.member("url", one.node.url)
            json.member("equal", one.isEqual)
            if let digest = one.digest {
                json.member("sequence", digest["sequence"])
                for part in parts { json.member(part.text, digest[part]) }
                json.member("different", one.different.map(\.text))
            }
            json.member("error", one.failure?.message)
            json.member("remedy", one.failure?.remedy)
        }
    }

    private static func total(_ all: [Compared], _ range: (from: UInt64, to: UInt64)) -> String {
        JSONWriter.object { json in
            json.member("equal", all.allSatisfy(\.isEqual))
            json.member("from", range.from)
            json.member("position", range.to)
            json.member("nodes", all.count)
            json.member("compared", all.count { $0.digest != nil })
        }
    }

    /// The failure to report: a difference before a node that did not answer; nil if all are equal.
    private static func failure(_ all: [Compared], _ range: (from: UInt64, to: UInt64)) -> CommandError? {
        if let one = all.first(where: { !$0.different.isEmpty }) {
            let what =
                one.different.map(\.text).joined(separator: " and ")
                + ", in positions \(Number.grouped(range.from)) to "
                + Number.grouped(range.to)
            if all.count(where: { $0.digest != nil }) == 2 {
                return CommandError(
                    "The two nodes differ in \(what).",
                    remedy: "Run `profilecli check --store FOLDER` on both machines, keep the sound store, and let the "
                        + "other node join again with an empty folder (--join).")
            }
            return CommandError(
                "Node \(one.node.name) differs from the others in \(what).",
                remedy: "Stop it, keep its folder for a report, and let it join again with an empty one (--join).")
        }
        guard let one = all.first(where: { $0.failure != nil }), let failure = one.failure else { return nil }
        var remedy = failure.remedy
        let others = all.filter { $0.failure == nil }
        if failure.isUnreached, others.count == all.count - 1, others.count > 1, others.allSatisfy(\.isEqual) {
            remedy = String(remedy.dropLast()) + ": the other nodes are equal."
        }
        return CommandError("Node \(one.node.name) could not be compared. \(failure.message)", remedy: remedy)
    }
}
