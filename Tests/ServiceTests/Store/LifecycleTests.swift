import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("Start, stop and start again")
struct LifecycleTests {
    @Test(
        "Every write that was answered before and during the stop is there after a restart",
        arguments: [SIGTERM, SIGINT])
    func drain(signal: Int32) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let service = try await Service(in: folder)
        let (answered, first) = AsyncStream<Void>.makeStream()
        let acknowledged = await withTaskGroup(of: [Int64].self) { group in
            for client in 0..<8 {
                group.addTask {
                    var positions: [Int64] = []
                    for index in 0..<100_000 {
                        let body = #"{"user":"u\#(client)","name":"e","properties":{"i":\#(index)}}"#
                        guard let reply = try? await service.post("/v1/log/event", body), reply.status == 200 else {
                            break
                        }
                        if case .int(let position) = reply.json.at("position") { positions.append(position) }
                        first.yield()
                    }
                    first.finish()
                    return positions
                }
            }
            group.addTask {
                for await _ in answered.prefix(200) {}
                service.signal(signal)
                return []
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(try await service.stop(signal) == 0, "\(service.messages)")
        #expect(!acknowledged.isEmpty)
        #expect(Set(acknowledged).count == acknowledged.count)
        #expect(!FileManager.default.fileExists(atPath: folder.file("port").path))
        let log = try EventLog(path: service.store)
        for position in acknowledged {
            let event = try log.event(at: Position(rawValue: UInt64(position)))
            #expect(event?.event.kind == .customEventLogged)
        }

        let second = try await Service(in: folder)
        let stats = try await second.get("/v1/stats").json
        #expect(stats.at("events") == .int(Int64(try log.lastPosition().rawValue)))
        #expect(try await second.stop() == 0)
    }

    @Test("A signal of a fault that another process sends says nothing of a broken page", arguments: [SIGSEGV, SIGBUS])
    func fault(signal: Int32) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let service = try await Service(in: folder)
        #expect(try await service.post("/v1/log/event", #"{"user":"a","name":"e"}"#).status == 200)
        #expect(try await service.stop(signal) == -signal)
        #expect(!service.messages.contains("backup"), "\(service.messages)")
    }

    @Test("A wait for news does not delay the stop")
    func stopWhileWaiting() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let service = try await Service(in: folder, arguments: ["--log-level", "info"])
        let news = try RawConnection(service)
        news.send("GET /v1/events?wait_s=30 HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try await service.get("/health/live")
        try await Task.sleep(for: .milliseconds(300))
        #expect(try await service.stop() == 0)
        #expect(news.read().hasPrefix("HTTP/1.1 200 "))
        // Before the wait's own end, which a stop that waits for it would wait for.
        #expect(try service.milliseconds(of: "/v1/events") < 30_000)
    }

    @Test("Two services may share a store, and each sees what the other writes")
    func sharedStore() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let other = try TemporaryFolder.made(prefix: "profiled")
        let first = try await Service(in: folder)
        let second = try await Service(in: other, arguments: ["--store", first.store])
        for index in 1...10 {
            let writer = index % 2 == 0 ? first : second
            let reader = index % 2 == 0 ? second : first
            let body = #"{"user":"u","attributes":{"n":{"inc":1}}}"#
            #expect(try await writer.post("/v1/log/attributes", body).status == 200)
            let profile = try await reader.get("/v1/profile?user=u").json
            #expect(profile.at("custom_attributes.n") == .int(Int64(index)))
        }
        #expect(try await first.stop() == 0)
        #expect(try await second.stop() == 0)
    }

    @Test("A port that is in use is one sentence, a remedy and exit code 1")
    func portInUse() async throws {
        try await withService { service in
            let folder = try TemporaryFolder.made(prefix: "profiled")
            let message = try await failure(["--store", "s", "--port", "\(service.port)"], in: folder, code: 1)
            #expect(message.contains("Port \(service.port) on 127.0.0.1 is in use."))
        }
    }

    /// Tells whether `::1` is an address of this machine.
    private static var hasIPv6: Bool {
        let addresses = try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8)
        return addresses?.contains(String(repeating: "0", count: 31) + "1") == true
    }

    @Test(
        "A port in use on an address of IPv6, or of IPv4 when all are asked for, stops the start",
        .enabled(if: hasIPv6), arguments: [("::1", "::1"), ("0.0.0.0", "::")])
    func portInUseBesideIPv4(taken: String, host: String) async throws {
        let (folder, other) = (
            try TemporaryFolder.made(prefix: "profiled"), try TemporaryFolder.made(prefix: "profiled")
        )
        let keys = folder.file("k.json").path
        #expect(try await run(["keys", "add", "--keys", keys, "--name", "app"], in: folder).code == 0)
        let service = try await Service(in: other, arguments: ["--ephemeral", "--host", taken, "--keys", keys])
        let message = try await failure(
            ["--store", "s", "--host", host, "--keys", keys, "--port", "\(service.port)"], in: folder, code: 1)
        #expect(message.contains("Port \(service.port) on \(host) is in use."))
        #expect(try await service.stop() == 0)
    }

    @Test("After a failed start the port file does not hold the port of a service that was killed")
    func stalePort() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let port = folder.file("port")
        try Data("{}\n".utf8).write(to: folder.file("facts.jsonl"))
        try Data("1\n".utf8).write(to: port)
        let arguments = ["--ephemeral", "--port", "0", "--port-file", "port", "--fixtures", "facts.jsonl"]
        _ = try await failure(arguments, in: folder, code: 1)
        #expect(!FileManager.default.fileExists(atPath: port.path))
    }

    @Test("A folder that is no store, a file, a missing parent, a bad port file: exit code 1 and nothing changed")
    func unusableStore() async throws {
        let folder = try TemporaryFolder.made(.damaged, prefix: "profiled")
        let foreign = folder.file("foreign")
        try FileManager.default.createDirectory(at: foreign, withIntermediateDirectories: true)
        let data = Data(repeating: 7, count: 10_000)
        try data.write(to: foreign.appendingPathComponent("data.mdb"))
        #expect(
            try await failure(["--store", "foreign", "--port", "0"], in: folder, code: 1).contains(
                "not a ProfileLog store"))
        #expect(try Data(contentsOf: foreign.appendingPathComponent("data.mdb")) == data)
        try data.write(to: folder.file("afile"))
        #expect(
            try await failure(["--store", "afile", "--port", "0"], in: folder, code: 1).contains("folder afile cannot"))
        _ = try await failure(["--store", "missing/store", "--port", "0"], in: folder, code: 1)
        let portFile = try await failure(
            ["--store", "s", "--port", "0", "--port-file", "missing/port"], in: folder, code: 1)
        #expect(portFile.contains("port file"))
        #expect(try await failure(["--host", "256.1.2.3", "--store", "s"], in: folder, code: 1).contains("--host"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("s").path))
        #expect(try await run(["keys", "add", "--keys", "k.json", "--name", "app"], in: folder).code == 0)
        let host = try await failure(["--host", "no host", "--keys", "k.json", "--store", "s"], in: folder, code: 1)
        #expect(host.contains("The host no host is not known."), "\(host)")
    }

    @Test(
        "Wrong arguments end with exit code 64",
        arguments: [["--port", "70000"], ["--port", "x"], ["--log-level", "loud"], ["--store", ""], ["--nonsense"]])
    func wrongArguments(arguments: [String]) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        _ = try await failure(arguments, in: folder, code: 64)
        #expect(!FileManager.default.fileExists(atPath: folder.file("profilelog").path))
    }

    @Test("The environment names the store, and the log of requests has no personal values")
    func environmentAndLog() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let process = try Service.launch(
            ["--port", "0", "--port-file", "p"], in: folder.url, environment: ["PROFILELOG_STORE": "elsewhere"])
        try await waitUntil { (try? Data(contentsOf: folder.file("p")).isEmpty) == false }
        process.signal(SIGTERM)
        #expect(try await Service.exitCode(of: process) == 0)
        #expect(FileManager.default.fileExists(atPath: folder.file("elsewhere/data.mdb").path))

        try await withService(arguments: ["--log-level", "info"]) { service in
            _ = try await service.post("/v1/log/event", #"{"user":"secret-user","name":"secret-event"}"#)
            _ = try await service.get("/v1/profile?user=secret-user")
            _ = try await service.get("/no-such/secret@path/4711secret")
            #expect(service.messages.contains("/v1/profile"))
            #expect(service.messages.contains("path=/no-such/…/… "))
            #expect(!service.messages.contains("secret"))
        }
    }

    /// Runs the program, which must end with `code`; what it says on standard error.
    private func failure(_ arguments: [String], in folder: TemporaryFolder, code: Int32) async throws -> String {
        let process = try Service.launch(arguments, in: folder.url)
        let end = try await Service.exitCode(of: process)
        #expect(end == code)
        let message = try String(contentsOf: folder.file("stderr"), encoding: .utf8)
        #expect(!message.isEmpty)
        if code == 1 { #expect(message.split(separator: "\n").count == 2, "\(message)") }
        return message
    }
}
