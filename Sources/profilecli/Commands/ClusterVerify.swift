internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

/// `profilecli cluster verify`
struct ClusterVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "verify", "Compare the stores of all nodes at one position, by hashes of what is true.",
        """
        Asks each node for hashes of its log, names and meta at one position, which all have or reach within \
        \(Self.patience.components.seconds) s. Writes may go on. All nodes take the same key, PROFILELOG_KEY. A node \
        reads its whole log for it, which takes a while in a large store.

        EXIT STATUS: 0 if all nodes are equal; 1 if they differ, or if a node could not be compared.
        """,
        examples: """
            profilecli cluster verify --url http://a:8080
            profilecli cluster verify --url http://a:8080 --position 120000
            profilecli cluster verify --url http://a:8080 --format json
            """)

    @Option(help: .init("Compare at this position (default: the highest of all nodes).", valueName: "position"))
    var position: UInt64?
    @OptionGroup var node: NodeOptions

    /// The longest wait for a node to reach the position.
    private static let patience = Duration.seconds(10)
    private static let parts: [Name] = ["log", "names", "meta"]

    /// What a node answered.
    private struct Compared {
        let node: ClusterView.Node
        /// The hashes; nil if there was no answer.
        var digest: JSONObject?
        var failure: CommandError?
        /// The parts in which it differs from most nodes.
        var different: [Name] = []

        var isEqual: Bool { digest != nil && different.isEmpty }
    }

    mutating func validate() throws {
        if position == 0 { throw ValidationError("--position must be 1 or more.") }
    }

    func run() async throws {
        Interrupt.endProgram()
        let asked = try node.connect()
        let view = ClusterView(try await asked.get("/v1/cluster"))
        let position = position ?? view.nodes.map(\.position).max() ?? 0
        var all: [Compared] = []
        for node in view.nodes {
            do {
                let connection = try node.name == view.asked.name ? asked : self.node.connect(to: node.url ?? "")
                let digest = try await Self.digest(of: node, by: connection, at: position)
                all.append(Compared(node: node, digest: digest))
            } catch let failure as CommandError {
                all.append(Compared(node: node, failure: failure))
            }
        }
        Self.compare(&all)
        try print(all, position)
        if let failure = Self.failure(all, position) { throw failure }
    }

    /// Waits until the node has reached `position`, and returns its hashes there.
    private static func digest(
        of node: ClusterView.Node, by connection: any Connection, at position: UInt64
    ) async throws -> JSONObject {
        let end = ContinuousClock.now + patience
        while true {
            let reached = ClusterView(try await connection.get("/v1/cluster")).asked
            guard reached.name == node.name else {
                throw CommandError(
                    "Node \(reached.name) answers at the address of node \(node.name).",
                    remedy: "Name a node's own address with --url, and give each node its own --node-url.")
            }
            if reached.position >= position { break }
            guard ContinuousClock.now < end else {
                throw CommandError(
                    "It has not come further than position \(Number.grouped(reached.position)).",
                    remedy: "Wait until it has caught up, or compare with --position \(reached.position).")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        return try await connection.get("/v1/cluster/digest", [("position", "\(position)")])
    }

    /// Finds the parts in which nodes differ from most others; where none has a majority, from the first.
    private static func compare(_ all: inout [Compared]) {
        for part in parts {
            let hashes = all.compactMap { $0.digest?[part].text }
            let usual = hashes.reduce(hashes.first) { usual, hash in
                hashes.count { $0 == hash } > hashes.count { $0 == usual } ? hash : usual
            }
            for index in all.indices {
                guard let digest = all[index].digest, digest[part].text != usual else { continue }
                all[index].different.append(part)
            }
        }
    }

    // MARK: - Output

    private func print(_ all: [Compared], _ position: UInt64) throws {
        if node.isJSON { return try Output.print(all.map(Self.line) + [Self.total(all, position)]) }
        let table = Table("NODE!", "#SEQUENCE", "LOG!", "NAMES!", "META!", "WHY NOT", of: all) { one in
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
                "\(Number.counted(UInt64(all.count), "node")) hold the same log, names and meta at position "
                    + "\(Number.grouped(position)).",
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

    private static func total(_ all: [Compared], _ position: UInt64) -> String {
        JSONWriter.object { json in
            json.member("position", position)
            json.member("equal", all.allSatisfy(\.isEqual))
            json.member("nodes", all.count)
            json.member("compared", all.count { $0.digest != nil })
        }
    }

    /// The failure to report: a difference before a node that did not answer; nil if all are equal.
    private static func failure(_ all: [Compared], _ position: UInt64) -> CommandError? {
        if let one = all.first(where: { !$0.different.isEmpty }) {
            let parts = one.different.map(\.text).joined(separator: " and ")
            if all.count(where: { $0.digest != nil }) == 2 {
                return CommandError(
                    "The two nodes differ in \(parts) at position \(Number.grouped(position)).",
                    remedy: "Run `profilecli check --store FOLDER` on both machines, keep the sound store, and let the "
                        + "other node join again with an empty folder (--join).")
            }
            return CommandError(
                "Node \(one.node.name) differs from the others in \(parts) at position \(Number.grouped(position)).",
                remedy:
                    "Stop that node, keep its folder for a report, and let it join again with an empty one (--join).")
        }
        guard let one = all.first(where: { $0.failure != nil }), let failure = one.failure else { return nil }
        return CommandError(
            "Node \(one.node.name) could not be compared. \(failure.message)", remedy: failure.remedy)
    }
}
