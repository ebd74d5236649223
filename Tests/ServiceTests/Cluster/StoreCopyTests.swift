import Foundation
import ProfileLog
import ProfileLogBackup
import ProfileLogRequests
import TestSupport
import Testing

@Suite("A copy of a node's store for another node")
struct StoreCopyTests {
    private static let place = ReplicaPosition(
        sequence: 7, hash: [UInt8](repeating: 5, count: 32), created: "2026-11-27T20:00:00Z")

    /// Makes a store of some hundred events in `folder`, which is of a cluster.
    private static func makeMember(in folder: TemporaryFolder) throws {
        let log = try EventLog(path: folder("store"), create: true)
        for number in 0..<200 {
            let event = CustomEvent(name: Name("event \(number % 7)"))
            _ = try log.append([.customEventLogged(event)], to: .externalID("u\(number % 9)"))
        }
        _ = try log.erase([.externalID("u3")], actor: "a test", reason: "asked to")
        try log.restore(CommitBatch(meta: CommitBatch.joinedMeta(place)))
    }

    /// A service that has the store of a node, without being one.
    static func member(_ arguments: [String] = []) async throws -> Service {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        try makeMember(in: folder)
        return try await Service(in: folder, arguments: arguments)
    }

    /// All rows of what is true in a store.
    private static func rows(_ path: String) throws -> [[[UInt8]]] {
        let log = try EventLog(path: path)
        let tables = log.environment.tables
        return try log.environment.withReadTransaction { transaction in
            try [tables.log, tables.names, tables.meta].map { table in
                var rows: [[UInt8]] = []
                try transaction.withCursor(table) { cursor in
                    var row = try cursor.first()
                    while let found = row {
                        rows += [Array(found.key), Array(found.value)]
                        row = try cursor.next()
                    }
                }
                return rows
            }
        }
    }

    // MARK: - What a node sends

    @Test("GET /v1/cluster/copy sends all of which a node makes the same store")
    func sent() async throws {
        let service = try await Self.member()
        let answer = try await service.get("/v1/cluster/copy")
        #expect(answer.status == 200 && answer.headers["content-type"] == "application/x-tar")
        let target = try TemporaryFolder.made(prefix: "joined")
        // It has the folder alone for as long as it is there.
        func joined() throws -> RestoreReport {
            let folder = try JoinFolder(path: target("b"))
            try folder.unpacker.add(answer.body)
            return try folder.finish(projections: RequestStore.projections)
        }
        let report = try joined()
        #expect(report.end.rawValue > 200)
        #expect(try Self.rows(target("b")) == Self.rows(service.store))
        #expect(try await service.stop() == 0)
    }

    @Test("A copy for a node has no configuration, which is of the node that sends it")
    func withoutConfiguration() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        try Self.makeMember(in: folder)
        try Data("log:\n  level: info\n".utf8).write(to: folder.file("profiled.yaml"))
        let service = try await Service(in: folder, arguments: ["--config", folder("profiled.yaml")])
        let answer = try await service.get("/v1/cluster/copy")
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(answer.status == 200 && text.contains("manifest.json") && !text.contains("profiled.yaml"))
        #expect(try await service.stop() == 0)
    }

    @Test("A service that has its store alone has no copy for a node")
    func alone() async throws {
        try await withService { service in
            let answer = try await service.get("/v1/cluster/copy")
            #expect(answer.status == 404 && answer.json.at("code") == "no_cluster")
        }
    }

    @Test("A service that is not the node of the store reads it alone")
    func readOnly() async throws {
        let service = try await Self.member()
        #expect(try await service.get("/v1/profile?user=u1").status == 200)
        let refused = try await service.post("/v1/log/event", #"{"user":"u1","name":"x"}"#)
        #expect(refused.status == 503 && refused.json.at("code") == "in_cluster", "\(refused.json)")
        #expect(refused.json.at("remedy").text.contains("profilecli cluster leave"))
        #expect(try await service.get("/health/ready").status == 503)
        #expect(try await service.stop() == 0)
    }

    @Test("Digests of one position stay equal while the log goes on, and tell when they cannot be")
    func digests() async throws {
        try await withService { service in
            for name in ["a", "b"] { _ = try await service.post("/v1/log/event", #"{"user":"u","name":"\#(name)"}"#) }
            let first = try await service.get("/v1/cluster/digest").json
            #expect(first.at("sequence") == .null && first.at("position") == 3)
            // The process of the SDK, which is `app`, and the names of the two events.
            #expect(first.at("name_count") == 3)
            _ = try await service.post("/v1/log/event", #"{"user":"u","name":"c"}"#)
            let again = try await service.get("/v1/cluster/digest?position=3").json
            #expect(again.at("last_position") == 4)
            for part in ["log", "names", "meta", "name_count", "rewrites"] {
                #expect(again.at(part) == first.at(part), "\(part)")
            }
            let whole = try await service.get("/v1/cluster/digest").json
            #expect(whole.at("log") != first.at("log") && whole.at("names") != first.at("names"))
            let part = try await service.get("/v1/cluster/digest?from=2&position=3").json
            #expect(part.at("log") != first.at("log") && part.at("names") == first.at("names"))
            _ = try await service.post("/v1/erase", #"{"user":"u","reason":"asked to"}"#)
            let erased = try await service.get("/v1/cluster/digest?position=3").json
            #expect(erased.at("log") != first.at("log") && erased.at("rewrites") == 1)
            let beyond = try await service.get("/v1/cluster/digest?position=99")
            #expect(beyond.status == 400 && beyond.json.at("place") == "position", "\(beyond.json)")
        }
    }

    @Test("A copy needs a key with a permission of its own, as it has the hashes of the keys")
    func permission() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        try Self.makeMember(in: folder)
        func key(_ name: String, _ permissions: String) async throws -> String {
            let made = try await run(
                ["keys", "add", "--store", "store", "--name", name, "--permissions", permissions], in: folder)
            #expect(made.code == 0, "\(made.errors)")
            return made.output.trimmingCharacters(in: .newlines)
        }
        let (reader, node) = (try await key("reader", "v1.read"), try await key("node", "v1.cluster"))
        let service = try await Service(in: folder)
        let answers: [(key: String?, status: Int)] = [(nil, 401), (reader, 403), (node, 200)]
        for (key, status) in answers {
            let headers = key.map { ["Authorization": "Bearer \($0)"] } ?? [:]
            #expect(try await service.get("/v1/cluster/copy", headers: headers).status == status)
        }
        #expect(
            try await service.get("/v1/cluster/digest", headers: ["Authorization": "Bearer \(reader)"]).status == 200)
        #expect(try await service.stop() == 0)
    }

    // MARK: - A node that joins

    /// Arguments of a new node whose brokers are not there.
    private static func arguments(_ folder: TemporaryFolder, join url: String, _ more: [String] = []) -> [String] {
        [
            "--store", folder("b"), "--port", "0", "--port-file", folder("port"), "--replicate", "nats://127.0.0.1:1",
            "--node", "b", "--node-url", "http://127.0.0.1:1", "--join", url,
        ] + more
    }

    @Test("A new node takes the copy, verifies it and serves it, and its next start needs the other node no more")
    func joins() async throws {
        let service = try await Self.member()
        let folder = try TemporaryFolder.made(prefix: "joined")
        for url in ["http://127.0.0.1:\(service.port)/", "http://127.0.0.1:1"] {
            let node = try Service.launch(Self.arguments(folder, join: url), in: folder.url)
            defer {
                node.signal(SIGKILL)
                node.waitForEnd()
            }
            try await waitUntil(turns: 2_000) {
                (try? Data(contentsOf: folder.file("port")).isEmpty) == false || node.end != nil
            }
            let messages = try String(contentsOf: folder.file("stderr"), encoding: .utf8)
            #expect(node.end == nil, "\(messages)")
            try? FileManager.default.removeItem(atPath: folder("port"))
        }
        #expect(try Self.rows(folder("b")) == Self.rows(service.store))
        #expect(!FileManager.default.fileExists(atPath: folder("b/joining")))
        #expect(try await service.stop() == 0)
    }

    @Test(
        "A node that cannot join says why in one sentence, and leaves no store",
        arguments: ["nothing", "alone", "closed", "wrong key", "foreign"])
    func refused(why: String) async throws {
        let folder = try TemporaryFolder.made(prefix: "joined")
        let other = try TemporaryFolder.made(prefix: "profiled")
        if why != "alone" { try Self.makeMember(in: other) }
        if ["closed", "wrong key"].contains(why) {
            let made = try await run(["keys", "add", "--store", "store", "--name", "a"], in: other)
            #expect(made.code == 0, "\(made.errors)")
        }
        let service = try await Service(in: other)
        try Data("no-key-of-it\n".utf8).write(to: folder.file("key"))
        if why == "foreign" {
            try FileManager.default.createDirectory(atPath: folder("b"), withIntermediateDirectories: true)
            try Data("x".utf8).write(to: folder.file("b/notes"))
        }
        let port = why == "nothing" ? 1 : service.port
        let key = why == "wrong key" ? ["--join-key-file", folder("key")] : []
        let end = try await run(Self.arguments(folder, join: "http://127.0.0.1:\(port)", key), in: folder)
        let sentence =
            switch why {
            case "nothing": "does not answer."
            case "alone": "is no node of a cluster."
            case "closed": "needs a key."
            case "wrong key": "does not know the key."
            default: "holds files that are not those of a store."
            }
        #expect(end.code == 1 && end.errors.contains(sentence), "\(end.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("b/data.mdb")))
        #expect(!FileManager.default.fileExists(atPath: folder("b/joining")))
        #expect(try await service.stop() == 0)
    }
}
