import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

private let node = ["--replicate", "nats://b1,b2", "--node", "a"]

/// The settings of a node of a cluster, without a broker.
@Suite("Settings of a node")
struct ClusterSettingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made(prefix: "cluster") }

    private func check(_ arguments: [String]) async throws -> (code: Int32?, output: String, errors: String) {
        try await run(["config", "check", "--config", "/dev/null"] + arguments, in: folder)
    }

    #if Replicas
        @Test(
            "Settings of a node that cannot hold together are refused, each with one sentence",
            arguments: [
                (["--node", "a"], "--node is there without --replicate."),
                (["--join", "http://b:8080"], "--join is there without --replicate."),
                (["--max-lag", "5s"], "--max-lag is there without --replicate."),
                (["--broker-creds", "x"], "--broker-creds is there without --replicate."),
                (["--any-broker-version"], "--any-broker-version is there without --replicate."),
                (node + ["--ephemeral"], "--replicate has no meaning with --ephemeral"),
                (node + ["--port", "0"], "Other nodes cannot be told how they reach this one"),
                (node + ["--join-key-file", "x"], "--join-key-file is there without --join."),
                (node + ["--broker-user", "u"], "--broker-user is there without --broker-password-file."),
                (node + ["--broker-password-file", "x"], "--broker-password-file is there without --broker-user."),
                (node + ["--broker-tls-key", "x"], "--broker-tls-key is there without --broker-tls-cert."),
                (
                    node + ["--broker-creds", "x", "--broker-nkey-seed", "x"],
                    "--broker-creds and --broker-nkey-seed are two ways"
                ),
                (
                    node + ["--broker-tls-ca", "missing"],
                    "The file of --broker-tls-ca, missing cannot be read: No such"
                ),
            ])
        func refused(arguments: [String], sentence: String) async throws {
            try Data("x".utf8).write(to: folder.file("x"))
            let outcome = try await check(arguments)
            #expect(outcome.code == 1 && outcome.output.isEmpty)
            #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
            #expect(outcome.errors.split(separator: "\n").count == 2, "\(outcome.errors)")
            // A start says the same, and makes no store.
            let start = try await run(["--config", "/dev/null"] + arguments, in: folder)
            #expect(start.code == 1 && start.errors == outcome.errors)
            #expect(!FileManager.default.fileExists(atPath: folder.file("profilelog").path))
        }

        @Test("A start with brokers and without a name, or with an address that is none, is a wrong command line")
        func usage() async throws {
            let nameless = try await run(["--config", "/dev/null", "--replicate", "nats://b1"], in: folder)
            #expect(nameless.code == 64, "\(nameless.errors)")
            #expect(nameless.errors.contains("--replicate is there without --node."), "\(nameless.errors)")
            let checked = try await check(["--replicate", "nats://b1"])
            #expect(checked.code == 1 && checked.errors == nameless.errors, "\(checked.errors)")
            let other = try await run(
                ["--config", "/dev/null", "--replicate", "http://b1", "--node", "a"], in: folder)
            #expect(other.code == 64, "\(other.errors)")
            #expect(other.errors.contains("nats://a,b:4223,c or tls://a,b,c"), "\(other.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.file("profilelog").path))
        }

        @Test("Settings of a node that belong together are good")
        func good() async throws {
            for name in ["key", "password", "ca.pem"] { try Data("x".utf8).write(to: folder.file(name)) }
            let outcome = try await check(
                node + [
                    "--join", "https://b.example:8080", "--join-key-file", "key", "--cluster", "shop-2", "--replicas",
                    "1", "--stream-max-age", "7d", "--max-lag", "5s", "--broker-monitor",
                    "http://b1:8222,http://b2:8222",
                    "--broker-user", "u", "--broker-password-file", "password", "--broker-tls-ca", "ca.pem",
                    "--any-broker-version",
                ])
            #expect(outcome.code == 0, "\(outcome.errors)")
        }

        @Test("A new node without a broker does not start, and makes no store")
        func noBroker() async throws {
            let outcome = try await run(
                [
                    "--config", "/dev/null", "--store", "s", "--port", "0", "--node", "a", "--node-url",
                    "http://127.0.0.1:1", "--replicate", "nats://127.0.0.1:1",
                ], in: folder)
            #expect(outcome.code == 1 && outcome.errors.contains("profiled: "), "\(outcome.errors)")
            #expect(!outcome.errors.contains("unexpected error"), "\(outcome.errors)")
            let remedy = "\nStart the brokers, or correct --replicate, and start this program again.\n"
            #expect(outcome.errors.hasSuffix(remedy), "\(outcome.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.file("s/data.mdb").path))
        }
    #else
        @Test("A program that was built without replicas says so")
        func withoutReplicas() async throws {
            let outcome = try await check(node)
            #expect(outcome.code == 1)
            #expect(outcome.errors.contains("built without replicas"), "\(outcome.errors)")
        }
    #endif

    @Test("A value of a node's setting that cannot be right is named with its place in the file")
    func values() async throws {
        let yaml = """
            cluster:
              replicate: http://b1
              node: Node_A
              name: "\(String(repeating: "n", count: 64))"
              replicas: 9
              stream-max-age: 5s
              max-lag: 0
            broker:
              monitor: nats://b1
              password: x
            """
        try yaml.write(to: folder.file("profiled.yaml"), atomically: true, encoding: .utf8)
        let outcome = try await run(["config", "check", "--config", "profiled.yaml"], in: folder)
        #expect(outcome.code == 1)
        for part in [
            "line 2, column 14: `cluster.replicate` must be brokers as nats://a,b:4223,c",
            "line 3, column 9: `cluster.node` must be 1 to 63 characters of a-z, 0-9 and -.",
            "line 4, column 9: `cluster.name` must be 1 to 63 characters",
            "line 5, column 13: `cluster.replicas` must be a whole number from 1 to 5.",
            "line 6, column 19: `cluster.stream-max-age` must be seconds from 60 to 315360000",
            "line 7, column 12: `cluster.max-lag` must be seconds from 1 to 86400",
            "line 9, column 12: `broker.monitor` must be URLs as http://a:8222",
            "line 10, column 3: `broker.password` is not known.",
        ] {
            #expect(outcome.errors.contains(part), "\(part)\n\(outcome.errors)")
        }
    }

    @Test(
        "Brokers are a list with one scheme, without a user and without a path",
        arguments: [
            ("nats://a", #"["nats://a"]"#), ("nats://a,b:4223,c", #"["nats://a","nats://b:4223","nats://c"]"#),
            ("tls://a,tls://[::1]:4222", #"["tls://a","tls://[::1]:4222"]"#), ("a,b", nil), ("nats://", nil),
            ("nats://a,tls://b", nil), ("http://a", nil), ("nats://u:p@a", nil), ("nats://a/x", nil),
            ("nats://a?x", nil), ("a", nil), ("nats://a/b,c", nil),
        ] as [(String, String?)])
    func brokers(text: String, urls: String?) async throws {
        let outcome = try await run(
            ["config", "show", "--json", "--config", "/dev/null"], in: folder,
            environment: ["PROFILED_REPLICATE": text])
        #expect(outcome.code == (urls == nil ? 1 : 0), "\(outcome.errors)")
        if let urls {
            let line = try #require(
                outcome.output.split(separator: "\n").first { $0.contains(#""key":"cluster.replicate""#) })
            #expect(try JSON.parse(Array(line.utf8)).at("value").json == urls, "\(line)")
        } else {
            #expect(outcome.errors.contains("The variable PROFILED_REPLICATE must be brokers"), "\(outcome.errors)")
        }
    }

    @Test("A service that has its store alone is in no cluster, and its answers name no node")
    func alone() async throws {
        try await withService(arguments: ["--ephemeral"]) { service in
            let answer = try await service.get("/v1/cluster")
            #expect(answer.status == 404 && answer.json.at("code") == "no_cluster", "\(answer.json)")
            let read = try await service.get("/v1/status")
            let write = try await service.post("/v1/log/event", #"{"user":"u","name":"x"}"#)
            for name in ["node", "lag", "position"] {
                #expect(read.headers["x-profilelog-\(name)"] == nil && write.headers["x-profilelog-\(name)"] == nil)
            }
            let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
            #expect(!metrics.contains("profiled_cluster_"))
            #expect(metrics.contains("profiled_degraded{reason=\"cluster\"} 0\n"))
        }
    }
}
