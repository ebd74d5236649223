import Foundation
import ProfileLog
import ProfileLogNativeAPI
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A person's values stay in the store: a value is planted in every field that a client can send, and looked for in all
/// errors, messages, metrics and crash output.
///
/// The fields come from the list of endpoints, so a new one is covered. Errors may name users and fields, so names are
/// not planted: only what is in their place.
@Suite("A planted value is in no error, message, metric or crash output")
struct PlantedValueTests {
    private static let word = "Planted7731Value"
    private static let number = "773177317731"

    private static func leaks(_ text: String) -> Bool {
        let text = text.lowercased()
        return text.hasBytes(of: word.lowercased()) || text.hasBytes(of: number)
    }

    /// JSON that may be sent in the place of any value; the short form plants a string.
    private static let shapes = allShapes.prefix(Thoroughness.count(short: 1, full: allShapes.count)).map(\.self)

    private static let allShapes = [
        "\"\(word)\"", number, "[\"\(word)\"]", #"{"a":"\#(word)"}"#, #"{"$time":"\#(word)"}"#, #"[{"a":\#(number)}]"#,
        "\"\(word)\\ud800\"",
    ]

    /// Sample values of fields in a valid request, where the kind does not tell. Objects have each of their members
    /// replaced in turn.
    private static let samples: [String: String] = [
        "attribute": #""first_name""#, "currency": #""EUR""#, "user": #""u""#, "app_group": #""group.app""#,
        "kind": #""cold""#, "time": #""2026-01-01T00:00:00Z""#, "source": #""rest""#, "request_policy": #""manual""#,
        "properties": #"{"a":1,"t":{"$time":"2026-01-01T00:00:00Z"},"deep":[{"b":"c"}]}"#,
        "items": #"[{"kind":"log/event","user":"u","name":"n","properties":{"a":1},"time":"2026-01-01"}]"#,
        "with_app_groups": #"[{"process":"push","app_group":"group.app"}]"#,
        "without_app_groups": #"[{"process":"push","app_group":"group.app"}]"#,
        "events": #"[{"external_id":"u","app_id":"a","name":"n","time":"2026-01-01","properties":{"a":1}}]"#,
        "purchases": #"[{"external_id":"u","product_id":"p","currency":"EUR","price":1,"quantity":1,"#
            + #""time":"2026-01-01","properties":{"a":1}}]"#,
        "user_aliases": #"[{"external_id":"u","alias_name":"n","alias_label":"l"}]"#,
        "alias_updates": #"[{"alias_label":"l","old_alias_name":"n","new_alias_name":"m"}]"#,
        "aliases_to_identify": #"[{"external_id":"u","user_alias":{"alias_name":"n","alias_label":"l"}}]"#,
        "emails_to_identify": #"[{"external_id":"u","email":"a@example.com","prioritization":["unidentified"]}]"#,
        "phone_numbers_to_identify": #"[{"external_id":"u","phone":"+15551234567","prioritization":["unidentified"]}]"#,
        "merge_updates": #"[{"identifier_to_merge":{"external_id":"u"},"#
            + #""identifier_to_keep":{"email":"a@example.com","prioritization":["identified"]}}]"#,
        "external_id_renames": #"[{"current_external_id":"u","new_external_id":"v"}]"#,
        "subscription_groups": #"[{"subscription_group_id":"g","subscription_state":"subscribed","#
            + #""external_ids":["u"],"emails":["a@example.com"],"phones":["+15551234567"]}]"#,
        "fields_to_export": #"["email"]"#,
        "attributes": #"[{"external_id":"u","braze_id":"b","user_alias":{"alias_name":"n","alias_label":"l"},"#
            + #""_update_existing_only":false,\#(reserved),"own":{"add":[1]},"other":[{"a":1}]}]"#,
    ]

    /// Every reserved field of Braze's format, with a value that it takes.
    private static let reserved = #"""
        "first_name":"a","last_name":"a","email":"a@example.com","phone":"+15551234567","country":"DE","language":"de",
        "time_zone":"Europe/Berlin","gender":"F","home_city":"a","image_url":"a","dob":"2000-01-01",
        "email_subscribe":"subscribed","push_subscribe":"subscribed","date_of_first_session":"2026-01-01",
        "date_of_last_session":"2026-01-01","marked_email_as_spam_at":"2026-01-01","email_open_tracking_disabled":true,
        "email_click_tracking_disabled":true,"current_location":{"longitude":1,"latitude":1},
        "facebook":{"id":"a","likes":[],"num_friends":1},"twitter":{"id":1,"screen_name":"a","followers_count":1},
        "push_tokens":[{"app_id":"a","token":"t","device_id":"d"}],"push_token_import":false,
        "subscription_groups":[{"subscription_group_id":"g","subscription_state":"subscribed"}]
        """#

    private static func sample(_ input: EndpointInput, of endpoint: Endpoint) -> String {
        if input.name == "attributes", endpoint.isNative { return #"{"a":1,"b":{"inc":1},"c":{"$merge":{"d":1}}}"# }
        if let sample = samples[input.name] { return sample }
        return switch input.kind {
        case .string, .any: #""x""#
        case .integer, .number: "1"
        case .boolean: "true"
        case .object: #"{"a":1}"#
        case .array: #"["x"]"#
        }
    }

    /// `value` with a shape in place of itself, and of each value within it.
    private static func planted(_ value: AttributeValue) -> [String] {
        var all = shapes
        switch value {
        case .array(let elements):
            for (place, element) in elements.enumerated() {
                all += planted(element).map { shape in
                    "[" + elements.indices.map { $0 == place ? shape : elements[$0].json }.joined(separator: ",") + "]"
                }
            }
        case .object(let members):
            for (place, member) in members.enumerated() {
                all += planted(member.value).map { shape in
                    let texts = members.indices.map { index in
                        "\(AttributeValue.string(members[index].key.text).json):"
                            + (index == place ? shape : members[index].value.json)
                    }
                    return "{" + texts.joined(separator: ",") + "}"
                }
            }
        default: break
        }
        return all
    }

    /// The bodies of `endpoint` with a planted value.
    private static func bodies(of endpoint: Endpoint) throws -> [(field: String, body: String)] {
        let inputs = endpoint.inputs
        let broken = ["{\"a\":\"\(word)\"", "{\"a\":\"\(word)", #"{"a":"\#(word)","a":1}"#]
        var bodies = (shapes + broken).map { (field: "", body: $0) }
        for input in inputs {
            let others = inputs.filter { $0.isRequired && $0 != input }
                .map { "\"\($0.name)\":\(sample($0, of: endpoint))" }
            let value = try JSON.parse(sample(input, of: endpoint))
            bodies += planted(value).map {
                (field: input.name, body: "{" + (others + ["\"\(input.name)\":\($0)"]).joined(separator: ",") + "}")
            }
        }
        return bodies
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }

    /// Fields whose content an error may repeat: a user, the name of an attribute, a version, a position of the log,
    /// the number of a shadow, of a line.
    private static let named: Set = [
        "user", "attribute", "expect", "positions", "position", "generation", "first_line", "numbers",
    ]

    /// Checks an error, and an answer of Braze's format that may hold errors. Other answers have values, as they
    /// should.
    private func check(_ answer: Service.Reply, _ what: String) {
        let mayHoldErrors = ["POST /users/", "POST /subscription/", "POST /v2/"].contains { what.hasPrefix($0) }
        // Profiles, and the IDs that were renamed or removed.
        let hasValues = ["/users/export/", "/users/track/sync", "/users/external_ids/"].contains { what.contains($0) }
        guard answer.status >= 400 || mayHoldErrors && !hasValues else { return }
        let text = String(decoding: answer.body, as: UTF8.self) + answer.headers.values.joined()
        #expect(!Self.leaks(text), "\(what) \(answer.status): \(text)")
    }

    /// Runs `body` against a service that logs everything, and checks what it has said when `signal` has ended it.
    private func withTalkativeService(endedBy signal: Int32, _ body: (Service) async throws -> Void) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        // Names of functions in the report of a crash would take seconds in a debug build.
        let service = try await Service(
            in: folder, arguments: ["--log-level", "trace"], environment: ["SWIFT_BACKTRACE": "symbolicate=off"])
        try await body(service)
        for path in ["/metrics", "/health", "/openapi.json", "/"] {
            #expect(!Self.leaks(String(decoding: try await service.get(path).body, as: UTF8.self)), "\(path)")
        }
        service.signal(signal)
        if signal == SIGABRT {
            // After its report of a signal from outside, Swift's runtime lets the process go on; the next one ends it.
            try await waitUntil(turns: 3_000) {
                service.end != nil || service.messages.hasBytes(of: "Backtrace took")
            }
        }
        #expect(try await service.stop(signal) != nil)
        let messages = service.messages
        #expect(!Self.leaks(messages), "\(messages.split(separator: "\n").filter { Self.leaks(String($0)) })")
        #expect(!Self.leaks(try String(contentsOf: folder.file("stdout"), encoding: .utf8)))
    }

    @Test(
        "A value planted in any field of any body is in no error, message or metric",
        arguments: ["/v1/", "/users/track", "/"])
    func bodies(prefix: String) async throws {
        let others = ["/v1/", "/users/track"].filter { $0 != prefix }
        try await withTalkativeService(endedBy: SIGABRT) { service in
            // A user who has values, for errors that are about a profile.
            let attributes = #"{"external_id":"u","email":"a@example.com","own":"\#(Self.word)"}"#
            #expect(try await service.post("/users/track", #"{"attributes":[\#(attributes)]}"#).status == 201)
            for endpoint in API.table.endpoints where endpoint.method == .post && endpoint.path.hasPrefix(prefix) {
                if others.contains(where: { endpoint.path.hasPrefix($0) }) { continue }
                // Its answers are those of `/users/track`.
                if endpoint.path == "/users/track/bulk" { continue }
                let path = endpoint.path.replacingOccurrences(of: "{device}", with: "d")
                for (field, body) in try Self.bodies(of: endpoint) {
                    let answer = try await service.post(path, body)
                    if !Self.named.contains(field) { check(answer, "POST \(path) \(body)") }
                }
            }
        }
    }

    @Test("A value planted in a query, a path or a header is in no error, message or metric")
    func elsewhere() async throws {
        try await withTalkativeService(endedBy: SIGTERM) { service in
            for endpoint in API.table.endpoints {
                let method = endpoint.method.rawValue
                let plain = endpoint.path.replacingOccurrences(of: "{device}", with: "d")
                // A position that does not come would be waited for.
                let names = endpoint.inputs.map(\.name).filter { $0 != "wait_for" }
                for name in names + ["unknown", "api_key"] {
                    let others = endpoint.inputs.filter { $0.isRequired && $0.name != name }
                        .map { "&\($0.name)=u" }.joined()
                    let values = [
                        Self.word, "-\(Self.number)", "\(Self.word)%zz", "\(Self.word):\(Self.word)", Self.number,
                    ]
                    for value in values.prefix(Thoroughness.count(short: 3, full: values.count)) {
                        let path = "\(plain)?\(name)=\(value)\(others)"
                        guard !value.contains("%") || endpoint.method == .get else { continue }
                        let answer = try await raw(service, "\(method) \(path)", "")
                        if !Self.named.contains(name) { check(answer, "\(method) \(path)") }
                    }
                }
                if endpoint.path.contains("{") {
                    for value in [Self.word, Self.escaped("\(Self.word) é"), "\(Self.word)%ff"] {
                        let path = endpoint.path.replacing(/\{[a-z]+\}/, with: value)
                        check(try await raw(service, "\(method) \(path)", ""), "\(method) \(path)")
                    }
                }
            }
            for path in [
                "/\(Self.word)", "/v1/\(Self.word)", "/users/\(Self.word)", "/v1/profile/\(Self.word)",
                "//\(Self.word)",
            ] {
                for method in ["GET", "POST", "DELETE", "PATCH", "OPTIONS", Self.word.uppercased()] {
                    check(try await raw(service, "\(method) \(path)", ""), "\(method) \(path)")
                }
            }
            let names = [
                "Accept", "Accept-Language", "Authorization", "Content-Encoding", "Content-Type", "Cookie", "Expect",
                "Forwarded", "Idempotency-Key", "If-Match", "Last-Event-ID", "Origin", "Referer", "Transfer-Encoding",
                "Upgrade", "User-Agent", "X-Api-Key", "X-Braze-Bulk", "X-Forwarded-For", "X-Forwarded-Host",
            ]
            for name in names {
                for value in [Self.word, Self.number, "Bearer \(Self.word)", "text/event-stream, \(Self.word)"] {
                    for line in [
                        "GET /v1/events?wait_s=0", "POST /v1/log/event", "POST /users/track", "GET /v1/profile?user=u",
                    ] {
                        let answer = try await raw(service, line, "\(name): \(value)\r\n")
                        check(answer, "\(line) \(name): \(value)")
                    }
                }
            }
        }
    }

    /// An answer to bytes that no client library sends.
    private func raw(_ service: Service, _ line: String, _ headers: String) async throws -> Service.Reply {
        let connection = try RawConnection(service)
        let host = headers.hasPrefix("Host") ? "" : "Host: \(Self.word)\r\n"
        let length = line.hasPrefix("POST") && !headers.hasPrefix("Transfer") ? "Content-Length: 2\r\n" : ""
        connection.send("\(line) HTTP/1.1\r\n\(host)\(headers)\(length)Connection: close\r\n\r\n")
        if !length.isEmpty { connection.send("{}") }
        connection.finish()
        let text = connection.read()
        let status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 400
        return Service.Reply(status: status, body: Array(text.utf8), headers: [:])
    }

    // MARK: - Imports and damage

    /// A line of every kind that a store of format 1 has.
    private func exportedLines() async throws -> [AttributeValue] {
        let fixture = Repository.file("Tests/Fixtures/format-1/data.mdb")
        let folder = try TemporaryFolder.made(prefix: "profiled")
        try FileManager.default.copyItem(at: fixture, to: folder.file("data.mdb"))
        let api = API(log: try EventLog(path: folder.path))
        guard case .array(let events) = await api.get("/v1/events", [("limit", "10000")]).json.at("events") else {
            return []
        }
        return events
    }

    @Test("In an import: every field of every kind of line")
    func imports() async throws {
        let lines = try await exportedLines()
        #expect(lines.count > 20)
        try await withAPI { api in
            let log = api.log
            for line in lines {
                for text in Self.planted(line) + ["{\"kind\":\"\(Self.word)", Self.word] {
                    let said = Self.refusal(of: text, log)
                    // A kind is a word of the format, and none of a person's values.
                    if text.contains("\"kind\":\"\(Self.word)\"") { continue }
                    #expect(!Self.leaks(said), "\(text): \(said)")
                }
            }
        }
    }

    private static func refusal(of line: String, _ log: EventLog) -> String {
        do {
            var chunker = ImportChunker(name: "import:n", bytesPerChunk: 1 << 20) { log.prepare() }
            guard let chunk = try Array(line.utf8).withUnsafeBytes({ try chunker.add($0) }) ?? chunker.finish() else {
                return ""
            }
            _ = try log.commit(chunk.append)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("In an import by the command")
    func importCommand() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let file = folder.file("lines.jsonl")
        let errors = folder.file("errors")
        let output = folder.file("output")
        for line in [
            #"{"kind":"custom_event","user":"u","name":"n","occurred_at":"\#(Self.word)"}"#,
            #"{"kind":"custom_event","user":"u","name":"n","properties":"\#(Self.word)"}"#,
            #"{"kind":"custom_event","user":"u","name":"n","properties":{"a":"\#(Self.word)"#,
            #"{"kind":"user_attribute","user":"u","attribute":"gender","value":"\#(Self.word)"}"#,
            #"{"kind":"purchase","user":"u","product":"p","currency":"\#(Self.word)","price":1}"#, "\(Self.word)",
        ] {
            try Data("\(line)\n".utf8).write(to: file)
            let process = try ChildProcess(
                ChildProcess.built("profilecli"), ["import", file.path, "--store", "store", "--name", "n"],
                in: folder.url,
                output: .file(output), errors: .file(errors))
            #expect(try await Service.exitCode(of: process) == 1)
            for file in [errors, output] {
                #expect(!Self.leaks(try String(contentsOf: file, encoding: .utf8)), "\(line)")
            }
        }
    }

    /// The file of a store that holds the value in every event.
    private static let store = Result {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let log = try folder.open()
        let value = AttributeValue.object([.init("a", .string(word)), .init("b", try JSON.parse(number))])
        let event = CustomEvent(name: "n", properties: [.init("a", .string(word)), .init("o", value)])
        for index in 0..<200 { _ = try log.append([.customEventLogged(event)], to: .externalID("u\(index % 7)")) }
        try log.writeIndex()
        return try Data(contentsOf: folder.file("data.mdb"))
    }

    @Test("A value planted in a damaged store is not in what is said of the damage", arguments: UInt64(0)..<6)
    func damage(seed: UInt64) async throws {
        let folder = try TemporaryFolder.made(.damaged, prefix: "profiled")
        var bytes = try Self.store.get()
        // The first two pages say where all others are.
        var place = 2 * 4096 + Int(seed) * 37
        while place < bytes.count {
            bytes[place] ^= 0x5A
            place += 997 + Int(seed) * 613
        }
        let store = folder.file("store")
        try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        try bytes.write(to: store.appendingPathComponent("data.mdb"))
        // It may refuse to start, or end at a broken page: each says so in words.
        let damaged = try Service.launch(
            ["--store", store.path, "--port", "0", "--port-file", "port", "--log-level", "trace"], in: folder.url)
        let port = folder.file("port")
        try await waitUntil(turns: 1_500) { damaged.end != nil || (try? Data(contentsOf: port))?.isEmpty == false }
        if let number = (try? String(contentsOf: port, encoding: .utf8)).flatMap({ Int($0.dropLast()) }) {
            for path in [
                "events?limit=1000", "history?user=u1", "profile?user=u2", "users", "stats", "pending", "rejected",
            ] {
                guard let url = URL(string: "http://127.0.0.1:\(number)/v1/\(path)"),
                    let (data, response) = try? await URLSession.shared.data(from: url)
                else { continue }
                guard (response as? HTTPURLResponse)?.statusCode ?? 0 >= 400 else { continue }
                #expect(!Self.leaks(String(decoding: data, as: UTF8.self)), "\(path)")
            }
        }
        damaged.signal(SIGTERM)
        _ = try await Service.exitCode(of: damaged)
        #expect(!Self.leaks(try String(contentsOf: folder.file("stderr"), encoding: .utf8)))
    }
}
