import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("The demo")
struct DemoTests {
    /// Runs `body` with the demo; its store is in a folder of the test, and gone at the end.
    private func withDemo(_ body: (Service, _ store: String) async throws -> Void) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let service = try await Service(in: folder, arguments: ["demo"], environment: ["TMPDIR": folder.path])
        let store = try await service.get("/").json.at("store").text
        try #require(store.hasPrefix(folder.path), "\(store)")
        #expect(FileManager.default.fileExists(atPath: store))
        try await body(service, store)
        #expect(try await service.stop(SIGINT) == 0, "\(service.messages)")
        let parent = URL(filePath: store).deletingLastPathComponent().path
        #expect(!FileManager.default.fileExists(atPath: parent))
    }

    /// The answer to a GET that must succeed.
    private func ask(_ service: Service, _ path: String) async throws -> AttributeValue {
        let reply = try await service.get(path)
        try #require(reply.status == 200, "\(path): \(reply.json)")
        return reply.json
    }

    private func objects(_ value: AttributeValue) -> [AttributeValue] {
        if case .array(let elements) = value { elements } else { [] }
    }

    /// The position in `value` at a path of keys and indices.
    private func position(_ path: String, of value: AttributeValue) throws -> Int64 {
        let found: Int64? = if case .int(let position) = value.at(path) { position } else { nil }
        return try #require(found, "\(path): \(value)")
    }

    @Test("The demo needs no key, says where its console is, has a sound store, and removes it when Ctrl-C ends it")
    func store() async throws {
        try await withDemo { service, store in
            let console = try await service.get("/console/")
            #expect(console.status == 200)
            let output = try String(contentsOf: service.folder.appending(path: "stdout"), encoding: .utf8)
            #expect(output.contains("http://127.0.0.1:\(service.port)/console/"), "\(output)")
            #expect(output.contains("Ctrl-C"), "\(output)")
            #expect(service.messages.isEmpty, "\(service.messages)")
            let check = try ChildProcess(
                ChildProcess.built("profilecli"), ["check", "--replay", "--store", store], output: .nothing)
            #expect(try await Service.exitCode(of: check) == 0)
            // Afterwards it is a store like any other, whose clock goes on.
            #expect(try await service.post("/v1/log/event", #"{"user":"eve","name":"x"}"#).status == 200)
            let clock = try await service.post("/v1/clock", #"{"advance":0}"#)
            #expect(clock.json.at("standing") == false)
            #expect(clock.json.at("ahead_s") == 0.0)
        }
    }

    @Test("In the demo, Ana's level 7 of launch 1 was overwritten by an event of her tablet that came 325 days late")
    func level() async throws {
        try await withDemo { service, _ in
            let blame = try await ask(service, "/v1/blame?user=ana&field=level&log=true").at("fields.0")
            #expect(blame.at("value") == 2)
            #expect(blame.at("set.device") == "tablet")
            #expect(blame.at("set.late_s") == .double(325 * 86_400))
            #expect(blame.at("previous.value") == 7)
            let writes = objects(blame.at("log"))
            #expect(writes.map { $0.at("value") } == [6, 7, 2], "\(blame)")
            let launches = try await ask(service, "/v1/history?user=ana&kind=appLaunched").at("events")
            #expect(launches.count == 1, "\(launches)")
            #expect(writes.map { $0.at("launch") } == [.null, launches.at("0.position"), .null], "\(blame)")
            #expect(writes.map { $0.at("device") } == [.null, "phone", "tablet"], "\(blame)")

            let tablet = try position("set.position", of: blame)
            let whatif = try await ask(service, "/v1/whatif/profiles?user=ana&without=event:\(tablet)")
            #expect(whatif.at("changed") == 1, "\(whatif)")
            #expect(whatif.at("samples.0.changes.0.field") == "level", "\(whatif)")
            #expect(whatif.at("samples.0.changes.0.after") == 7, "\(whatif)")
            let occurred = try await ask(service, "/v1/profile?user=ana&order=occurred")
            #expect(occurred.at("custom_attributes.level") == 7)
        }
    }

    @Test("In the demo, Ana's phone held an event and a level before launch 1, and holds an event and a streak now")
    func pending() async throws {
        try await withDemo { service, _ in
            let launches = try await ask(service, "/v1/history?user=ana&kind=appLaunched")
            let before = try position("events.0.position", of: launches) - 1
            for (query, score, attribute, value) in [
                ("&as_of=\(before)", 10, "level", 7), ("", 12, "streak", 3),
            ] as [(String, AttributeValue, String, AttributeValue)] {
                let pending = try await ask(service, "/v1/pending?device=phone\(query)")
                #expect(pending.at("total") == 2, "\(pending)")
                let lists = pending.at("devices.0.storages.0.kinds")
                #expect(lists.at("pending_custom_events.0.name") == "Completed Match Game", "\(pending)")
                #expect(lists.at("pending_custom_events.0.properties.Score") == score, "\(pending)")
                #expect(lists.at("pending_custom_attributes.0.attributes.\(attribute)") == value, "\(pending)")
            }
        }
    }

    @Test("In the demo, bo and cleo were not shown the push that Ana was shown, for one reason, and dan was sent none")
    func message() async throws {
        try await withDemo { service, _ in
            let reason: AttributeValue = "the user does not allow the app to show pushes"
            for (user, end) in [("ana", "pushReceived"), ("bo", "pushNotReceived"), ("cleo", "pushNotReceived")] {
                let chain = try await ask(service, "/v1/messages/explain?user=\(user)&message=spring")
                let links = objects(chain.at("links"))
                #expect(links.map { $0.at("kind").text } == ["messageSent", end], "\(chain)")
                #expect(links.last?.at("reason") == (user == "ana" ? .null : reason), "\(chain)")
            }
            let others = try await ask(service, "/v1/events?kind=pushNotReceived&limit=100")
            #expect(objects(others.at("events")).map { $0.at("user").text } == ["bo", "cleo"], "\(others)")
            #expect(try await service.get("/v1/messages/explain?user=dan&message=spring").status == 404)
            let segment = try await ask(service, "/v1/users/explain?user=dan&segment=players")
            #expect(segment.at("holds") == false, "\(segment)")
        }
    }

    @Test("The demo has 50 simulated devices, whose events were recorded when they happened")
    func devices() async throws {
        try await withDemo { service, store in
            let devices = try await ask(service, "/v1/devices?limit=1000")
            let names = objects(devices.at("devices")).map { $0.at("device").text }
            let simulated = names.filter { $0.wholeMatch(of: /(phone|tablet)-[0-9]+/) != nil }
            #expect(simulated.count == 50, "\(names)")
            #expect(Set(names).isSuperset(of: ["phone", "bos-phone", "cleos-phone", "dans-phone"]), "\(names)")
            let log = try EventLog(path: store)
            let end = try log.lastPosition()
            let first = try #require(try log.event(at: Position(rawValue: 1)))
            let last = try #require(try log.event(at: end))
            let days = (last.recordedAt.rawValue - first.recordedAt.rawValue) / 86_400_000_000
            #expect(days == 7)
            let late = try log.events(from: Position(rawValue: 1), limit: 10_000).events.filter {
                $0.recordedAt.rawValue - $0.occurredAt.timestamp.rawValue > 1_000_000
            }
            #expect(late.count == 1, "\(late.map(\.position))")
        }
    }

    @Test("The demo takes a free port and says so if the usual one is in use, and refuses a port that is none")
    func port() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        // Unless another program has it.
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(8080).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if isBound { #expect(listen(descriptor, 1) == 0) }

        let portFile = folder.file("port")
        let demo = try Service.launch(
            ["demo", "--port-file", portFile.path], in: folder.url, environment: ["TMPDIR": folder.path])
        var port: Int?
        for _ in 0..<5_000 where port == nil && demo.end == nil {
            try await Task.sleep(for: .milliseconds(20))
            port = (try? String(contentsOf: portFile, encoding: .utf8)).flatMap { Int($0.dropLast()) }
        }
        demo.signal(SIGTERM)
        #expect(try await Service.exitCode(of: demo) == 0)
        let output = try String(contentsOf: folder.file("stdout"), encoding: .utf8)
        #expect(output.contains("Port 8080 is in use"), "\(output)")
        let found = try #require(port)
        #expect(found != 8080)
        #expect(output.contains("http://127.0.0.1:\(found)/console/"), "\(output)")

        let refused = try await run(["demo", "--port", "70000"], in: folder)
        #expect(refused.code == 64)
        #expect(refused.errors.contains("--port must be from 0 to 65535."), "\(refused.errors)")
    }
}
