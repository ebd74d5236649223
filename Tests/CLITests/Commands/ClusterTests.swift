import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("cluster")
struct ClusterTests {
    private let cli: CLI
    private let nodes: FakeNodes

    init() throws {
        cli = try CLI()
        nodes = try FakeNodes(cli, "a", "b", "c")
        try nodes.setSound()
    }

    private func run(_ arguments: String..., node: String = "a") throws -> CLI.Outcome {
        try cli.run(["cluster"] + arguments + ["--url", nodes.url(node)])
    }

    // MARK: - status

    @Test("The status of a sound cluster shows each node, the writer, the stream and the last fail-over")
    func sound() throws {
        let outcome = try run("status")
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(outcome.output.contains(/\na +http:\/\/127\.0\.0\.1:\d+ +120 +40 +0 +n1:4222 +writes\n/))
        #expect(outcome.output.contains(/\nb .* ready\nc .* ready\n/), "\(outcome.output)")
        for line in [
            "preferred writer  a", "stream            messages 1 to 40", "batches kept      for 7 d",
            "leader broker     n1",
            "followers         n2, n3", "lag of a          4 ms",
            "last fail-over    b waited 6 s, until 2026-01-31 11:00:00Z", "undecided batch   none",
        ] {
            #expect(outcome.output.contains("\n\(line)\n"), "\(line) in \(outcome.output)")
        }
        #expect(!outcome.output.contains("VERSION"))
    }

    @Test("A node that is missing, or may not write, is named with the next step, and the status ends with 1")
    func unwell() throws {
        let (missing, refusing) = (nodes.node("b", age: 12), nodes.node("c", refusal: "its clock is off by 40 s"))
        let others = [missing, refusing, nodes.node("d", broker: nil)]
        try nodes.set("a", ["GET /v1/cluster": nodes.state(of: "a", nodes: others)])
        let outcome = try run("status")
        #expect(outcome.status == 1 && outcome.errors.isEmpty, "\(outcome)")
        for text in [
            "no word for 12 s", "takes no writes", "No word came from node b for 12 s.",
            "Node c takes no writes: its clock is off by 40 s", "cluster status --url \(nodes.url("c"))`",
            "Node d is connected to no broker.",
        ] {
            #expect(outcome.output.contains(text), "\(text) in \(outcome.output)")
        }
        let json = try run("status", "--format", "json")
        #expect(json.status == 1 && json.lines.count == 1)
    }

    /// A stream with a leader, as JSON, and a follower that is current or not; without one it is on one broker.
    private static func brokers(leader: String = "null", isCurrent: Bool? = nil, fault: String? = nil) -> String {
        let followers = isCurrent.map { #"{"name":"n2","current":\#($0)}"# } ?? ""
        let faults = fault.map { #"{"error":"\#($0)","remedy":"Mend it."}"# } ?? ""
        return #"{"created":"","first":1,"last":40,"max_age_s":0,"leader":\#(leader),"#
            + #""followers":[\#(followers)],"faults":[\#(faults)]}"#
    }

    @Test(
        "What is wrong with the stream or the asked node ends the status with 1; what passes by itself does not",
        arguments: [
            ("refusal", #"{"error":"The stream was purged.","remedy":"Rebuild it."}"#, "The stream was purged.", false),
            ("stream", "null", "Node a has never seen the stream.", false),
            ("stream", brokers(leader: "null", isCurrent: true), "No broker leads the stream", false),
            ("stream", brokers(leader: #""n1""#, isCurrent: false), "Broker n2 does not have the whole stream.", true),
            ("stream", brokers(fault: "Its batches may be lost."), "Its batches may be lost.", false),
            ("undecided", "true", "is not known yet", true), ("lag_s", "null", "has not caught up", true),
            (
                "warnings", #"[{"error":"The monitor http://n1 does not answer.","remedy":"Correct it."}]"#,
                "The monitor http://n1 does not answer.", true
            ),
        ])
    func stream(member: String, value: String, message: String, passes: Bool) throws {
        try nodes.set("a", ["GET /v1/cluster": nodes.state(of: "a", [member: value])])
        let outcome = try run("status")
        #expect(outcome.status == (passes ? 0 : 1) && outcome.output.contains(message), "\(outcome)")
    }

    @Test("A node in no cluster, an address where nothing answers, and no address are one sentence and the next step")
    func unreachable() throws {
        try nodes.set(
            "a", ["GET /v1/cluster": #"{"error":"It is in no cluster.","remedy":"Start it with --replicate."}"#],
            status: 404)
        let alone = try run("status")
        #expect(alone.status == 1 && alone.errors.contains("It is in no cluster."), "\(alone)")
        let gone = try cli.run("cluster", "status", "--url", "http://127.0.0.1:1")
        #expect(gone.status == 1 && gone.errors.contains("Nothing answers at http://127.0.0.1:1."), "\(gone)")
        #expect(!gone.errors.contains("--store"), "\(gone)")
        for command in [["status"], ["verify"], ["rebuild"], ["stream", "--max-age", "7d"]] {
            let none = try cli.run(["cluster"] + command)
            #expect(none.status == 64 && none.errors.contains("No node is named."), "\(none)")
            let store = try cli.run(["cluster"] + command + ["--store", cli.store])
            #expect(store.status == 64 && store.errors.contains("asked through one of its nodes"), "\(store)")
        }
    }

    @Test("What another node says of itself cannot write into the terminal")
    func hostileNode() throws {
        let node = nodes.node("b", refusal: #"off\u001b[2J\u202e"#, broker: #"n1\u001b]0;x\u0007"#)
        try nodes.set("a", ["GET /v1/cluster": nodes.state(of: "a", nodes: [node])])
        for arguments in [["status"], ["status", "--format", "json"], ["verify"]] {
            let outcome = try cli.run(["cluster"] + arguments + ["--url", nodes.url("a")])
            let text = outcome.output + outcome.errors
            #expect(!text.unicodeScalars.contains { ["\u{1B}", "\u{7}", "\u{202E}"].contains($0) }, "\(arguments)")
        }
    }

    // MARK: - verify

    @Test("Nodes with the same hashes are equal, also one that reaches the position while it is waited for")
    func equal() throws {
        let waited = nodes.state(of: "c", position: 119)
        try nodes.set("c", ["GET /v1/cluster": waited])
        let caughtUp = """
            {"GET /v1/cluster":[200,\(nodes.state(of: "c"))],"GET /v1/cluster/digest":[200,\(nodes.digest())]}
            """
        _ = try cli.write(caughtUp, as: "later")
        let outcome = try cli.shell(
            """
            "$0" cluster verify --url \(nodes.url("a")) & verify=$!
            while ! grep -q cluster nodes/c.asked 2> other; do sleep 0.02; done
            cp later nodes/c.new; mv nodes/c.new nodes/c.json
            wait $verify
            """)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains("3 nodes with the same log, names and meta up to position 120."), "\(outcome)")
        for name in nodes.names {
            #expect(nodes.asked(name).contains("GET /v1/cluster/digest?from=1&position=120"), "\(nodes.asked(name))")
        }
    }

    @Test("A node with another hash is named with the part, in a table and as JSON, and verify ends with 1")
    func different() throws {
        try nodes.set(
            "c",
            [
                "GET /v1/cluster": nodes.state(of: "c"),
                "GET /v1/cluster/digest": nodes.digest(log: "ff", meta: "ee"),
            ])
        // The one that is asked may be the one that differs.
        for node in ["a", "c"] {
            let outcome = try run("verify", node: node)
            #expect(outcome.status == 1, "\(outcome)")
            #expect(outcome.output.contains(/\nc +40 +different +equal +different\n/), "\(outcome.output)")
            #expect(outcome.errors.contains("Node c differs from the others in log and meta, in positions 1 to 120."))
        }
        let lines = try run("verify", "--format", "json").lines.map { try JSON.parse(Array($0.utf8)) }
        #expect(lines.map { $0["equal"] == .bool(true) } == [true, true, false, false])
        #expect(lines[2]["different"] == .array([.string("log"), .string("meta")]))
    }

    @Test("A node that does not answer, or another one at its address, is not called equal")
    func incomplete() throws {
        try nodes.set("b", ["GET /v1/cluster": nodes.state(of: "c")])
        let other = try run("verify")
        #expect(other.status == 1, "\(other)")
        #expect(other.errors.contains("Node c answers at the address of node b."), "\(other)")
        let gone = nodes.node("b").replacing(nodes.url("b"), with: "http://127.0.0.1:1")
        try nodes.set(
            "a",
            [
                "GET /v1/cluster": nodes.state(of: "a", nodes: [gone]),
                "GET /v1/cluster/digest": nodes.digest(),
            ])
        let outcome = try run("verify")
        #expect(outcome.status == 1 && !outcome.output.contains("with the same"), "\(outcome)")
        #expect(outcome.errors.contains("Node b could not be compared. Nothing answers at http://127.0.0.1:1."))
        // Of two nodes nothing was compared.
        #expect(outcome.errors.hasSuffix("\nStart node b, or compare later.\n"), "\(outcome)")
        try nodes.set(
            "a",
            [
                "GET /v1/cluster": nodes.state(of: "a", nodes: [gone, nodes.node("c")]),
                "GET /v1/cluster/digest": nodes.digest(),
            ])
        let rest = try run("verify")
        #expect(rest.status == 1, "\(rest)")
        #expect(
            rest.errors.hasSuffix("\nStart node b, or compare later: the other nodes are equal.\n"), "\(rest)")
    }

    // MARK: - Erasing

    @Test("After an erasure by a node the next step is at each node")
    func erase() throws {
        let user = #"{"id":"jane","kind":"identified","since":"","version":3,"braze_id":"00","number":4}"#
        try nodes.set(
            "a",
            [
                "GET /v1/erase": #"{"users":[\#(user)]}"#,
                "POST /v1/erase": #"{"events":3,"user_number":4,"position":121}"#,
            ])
        let outcome = try cli.run("erase", "jane", "--reason", "asked to", "--yes", "--url", nodes.url("a"))
        #expect(outcome.status == 0, "\(outcome)")
        #expect(
            outcome.output.hasSuffix(" Next: on each node, stopped: profilecli compact --store FOLDER\n"), "\(outcome)")
    }

    @Test("Nodes that differ while only one has applied an erasure are asked again")
    func erasure() throws {
        try nodes.set(
            "b",
            [
                "GET /v1/cluster": nodes.state(of: "b"),
                "GET /v1/cluster/digest": nodes.digest(log: "erased", erasures: 1),
            ])
        let outcome = try run("verify")
        #expect(outcome.status == 1 && outcome.errors.contains("Node b differs from the others in log"), "\(outcome)")
        #expect(nodes.asked("b").count { $0.hasPrefix("GET /v1/cluster/digest") } > 1)
    }

    @Test("A long log is compared a million events at a time")
    func slices() throws {
        try nodes.setSound(position: 2_500_000)
        let outcome = try run("verify")
        #expect(outcome.status == 0 && outcome.output.contains("up to position 2,500,000."), "\(outcome)")
        #expect(
            nodes.asked("c").filter { $0.contains("digest") } == [
                "GET /v1/cluster/digest?from=1&position=1048576",
                "GET /v1/cluster/digest?from=1048577&position=2097152",
                "GET /v1/cluster/digest?from=2097153&position=2500000",
            ])
    }

    @Test("Two nodes that differ are not told which one is wrong")
    func two() throws {
        try nodes.set(
            "a",
            [
                "GET /v1/cluster": nodes.state(of: "a", nodes: [nodes.node("b")]),
                "GET /v1/cluster/digest": nodes.digest(names: "other"),
            ])
        let outcome = try run("verify")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("The two nodes differ in names, in positions 1 to 120."), "\(outcome)")
    }

    @Test("Ctrl-C ends a verify that waits for a node, with a sentence and the next step")
    func interrupted() throws {
        try nodes.set("c", ["GET /v1/cluster": nodes.state(of: "c", position: 1)])
        let outcome = try cli.shell(
            """
            "$0" cluster verify --url \(nodes.url("a")) & verify=$!
            while ! grep -q cluster nodes/c.asked 2> other; do sleep 0.02; done
            kill -INT $verify; wait $verify
            """)
        #expect(outcome.status == 130, "\(outcome)")
        #expect(outcome.errors == "Error: Stopped by Ctrl-C; nothing was changed.\nRun the same command again.\n")
    }

    // MARK: - stream, rebuild and leave

    @Test("The age of batches is set through one node, and a time that no stream may have is refused before that")
    func age() throws {
        for age in ["7", "59s", "0d", "4000d", "ever", "-1d"] {
            let refused = try run("stream", "--max-age=\(age)")
            #expect(refused.status == 64 && refused.errors.contains("--max-age must be a time"), "\(age): \(refused)")
        }
        #expect(try run("stream").status == 64)
        #expect(nodes.asked("a").isEmpty)
        let done = try run("stream", "--max-age", "7d")
        let sentence = "The brokers of cluster shop keep batches for 7 d. Give all nodes --stream-max-age 7d.\n"
        #expect(done.status == 0 && done.output == sentence, "\(done)")
        #expect(nodes.asked("a") == ["POST /v1/cluster/stream"])
        let rounded = try run("stream", "--max-age", "36h")
        #expect(rounded.output.contains("for 36 h. Give all nodes --stream-max-age 36h."), "\(rounded)")
        let forever = try run("stream", "--max-age", "forever")
        #expect(forever.output.contains("for ever. Omit --stream-max-age at all nodes."), "\(forever)")
        try nodes.set("a", ["POST /v1/cluster/stream": #"{"error":"No majority.","remedy":"Wait."}"#], status: 503)
        let failed = try run("stream", "--max-age", "1m")
        #expect(failed.status != 0 && failed.errors.contains("No majority."), "\(failed)")
    }

    @Test("Without --yes the stream is not made again where nobody can be asked; with it the node is asked to")
    func rebuild() throws {
        let refused = try run("rebuild")
        #expect(refused.status == 64 && refused.errors.contains("Add --yes to do it."), "\(refused)")
        #expect(!nodes.asked("a").contains { $0.hasPrefix("POST") })
        let done = try run("rebuild", "--yes")
        #expect(done.status == 0 && done.output.contains("was made again from node a, after batch 40."), "\(done)")
        #expect(nodes.asked("a").last == "POST /v1/cluster/rebuild")
    }

    @Test("A store in no cluster cannot leave one, and a folder without a store is none")
    func leave() throws {
        try cli.succeed("log", "event", "jane", "played")
        let before = try cli.succeed("history", "jane", "--format", "json").output
        let outcome = try cli.run("cluster", "leave")
        #expect(outcome.status == 1 && outcome.errors.contains("no cluster"), "\(outcome)")
        #expect(try cli.succeed("history", "jane", "--format", "json").output == before)
        #expect(try cli.run("cluster", "leave", "--store", "absent").status == 1)
        #expect(try run("leave").status == 64)
    }

    @Test("A node's store takes no writes of the command line until it has left its cluster; what it holds stays")
    func leaves() throws {
        try cli.succeed("log", "event", "jane", "played")
        do {
            let place = ReplicaPosition(
                sequence: 7, hash: [UInt8](repeating: 5, count: 32), created: "2026-11-27T20:00:00Z")
            let log = try EventLog(path: cli.store)
            try log.restore(CommitBatch(meta: CommitBatch.joinedMeta(place)))
        }
        let refused = try cli.run("log", "event", "jane", "again")
        #expect(refused.status == 1 && refused.errors.contains("`profilecli cluster leave"), "\(refused)")
        #expect(try cli.run("doctor").output.contains("up to message 7 of its stream"))
        let held = try cli.succeed("history", "jane").output
        #expect(try cli.succeed("cluster", "leave").output.contains("left its cluster after message 7"))
        #expect(try cli.succeed("history", "jane").output == held)
        try cli.succeed("log", "event", "jane", "again")
        #expect(try !cli.run("doctor").output.contains("cluster"))
    }

    // MARK: - doctor

    @Test("The doctor of a node's address says how its cluster is")
    func doctor() throws {
        let reason = #"{"reason":"cluster","error":"It may not write.","remedy":"Look."}"#
        let health = #"{"status":"degraded","reasons":[\#(reason)]}"#
        try nodes.set("a", ["GET /health": health, "GET /v1/cluster": nodes.state(of: "a")])
        let sound = try cli.run("doctor", "--url", nodes.url("a"))
        #expect(sound.output.contains("Node a of cluster shop: 3 nodes, and a writes."), "\(sound)")
        let refusal = #"{"error":"The stream was purged.","remedy":"Rebuild it."}"#
        try nodes.set("a", ["GET /health": health, "GET /v1/cluster": nodes.state(of: "a", ["refusal": refusal])])
        let purged = try cli.run("doctor", "--url", nodes.url("a"))
        #expect(purged.status == 1, "\(purged)")
        #expect(purged.output.contains("The stream was purged.") && !purged.output.contains("It may not write."))
    }
}
