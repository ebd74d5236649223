import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("What is wrong is said")
struct ErrorTests {
    /// A path, a body, the status, and the field that the answer must name.
    static let wrongBodies: [(String, String, Int, String)] = [
        ("/v1/save/event", "", 400, "body"),
        ("/v1/save/event", "[]", 400, "body"),
        ("/v1/save/event", "{", 400, "byte 1"),
        ("/v1/save/event", #"{"nam":"x"}"#, 400, "nam"),
        ("/v1/save/event", #"{"name":7}"#, 400, "name"),
        ("/v1/save/event", #"{}"#, 400, "name"),
        ("/v1/save/event", #"{"name":"x","time":"yesterday"}"#, 400, "time"),
        ("/v1/save/event", #"{"name":"x","private":true,"app_group":"g"}"#, 400, "private"),
        ("/v1/save/event", #"{"name":"x","properties":[]}"#, 400, "properties"),
        ("/v1/save/event", #"{"name":"x","properties":{"t":{"$time":"no"}}}"#, 400, "properties.t"),
        ("/v1/save/event", #"{"name":"x","device":""}"#, 400, "device"),
        ("/v1/save/event", #"{"name":"","user":"u"}"#, 400, "The event's name"),
        ("/v1/save/attributes", #"{"attributes":{}}"#, 400, "attributes"),
        ("/v1/save/attributes", #"{"attributes":{"a":{"inc":1.5}}}"#, 400, "attributes.a"),
        ("/v1/save/attributes", #"{"attributes":{"a":{"$update":[{}]}}}"#, 400, "attributes.a"),
        ("/v1/save/user-attribute", #"{"attribute":"shoe_size","value":3}"#, 400, "attribute"),
        ("/v1/save/user-attribute", #"{"attribute":"email"}"#, 400, "value"),
        ("/v1/log/event", #"{"name":"x"}"#, 400, "user"),
        ("/v1/log/event", #"{"name":"x","user":"u","source":"system"}"#, 400, "source"),
        ("/v1/log/event", #"{"name":"x","user":"u","expect":-1}"#, 400, "expect"),
        ("/v1/log/event", #"{"name":"x","user":"braze:000000000000000000000000"}"#, 404, "user"),
        ("/v1/log/event", #"{"name":"x","\u202ey\u2028":1}"#, 400, "\u{FFFD}y\u{FFFD}"),
        ("/v1/log/purchase", #"{"user":"u","product":"p","currency":"eur","price":1}"#, 400, "currency"),
        ("/v1/log/purchase", #"{"user":"u","product":"p","currency":"XXQ","price":1}"#, 400, "currency"),
        ("/v1/log/purchase", #"{"user":"u","product":"p","currency":"EUR","price":"1"}"#, 400, "price"),
        ("/v1/launch", #"{"kind":"warm"}"#, 400, "kind"),
        ("/v1/launch", #"{"only":["everything"]}"#, 400, "only"),
        ("/v1/change-user", "{}", 400, "user"),
        ("/v1/pending/discard", "{}", 400, "reason"),
        ("/v1/pending/discard", #"{"reason":"r","device":"nowhere"}"#, 404, "device"),
        ("/v1/pending/retry", "{}", 400, "position"),
        ("/v1/pending/retry", #"{"position":0}"#, 400, "position"),
        ("/v1/pending/retry", #"{"position":7}"#, 400, "position"),
        ("/v1/launch", #"{"die_after":"lunch"}"#, 400, "die_after"),
        ("/v1/launch", #"{"time":"2199-01-01"}"#, 400, "The time"),
        ("/v1/devices/d/launch", #"{"device":"d"}"#, 400, "device"),
        ("/v1/devices/d/launch", #"{"time":"1969-12-31"}"#, 400, "The time"),
        ("/v1/devices/d/launch", #"{"time":"soon"}"#, 400, "time"),
        ("/v1/devices/d/leave", "{}", 404, "device"),
        ("/v1/devices/d/send", "{}", 404, "device"),
        ("/v1/devices/d/log-out", "{}", 404, "device"),
        ("/v1/devices/d/wipe", "{}", 404, "device"),
        ("/v1/devices/d/change-user", "{}", 400, "user"),
        ("/v1/devices/d/change-user", #"{"user":"u","time":"2199-01-01"}"#, 400, "The time"),
        ("/v1/devices/d/settings", #"{"session_timeout_s":0}"#, 400, "session_timeout_s"),
        ("/v1/devices/d/settings", #"{"flush_interval_s":-1}"#, 400, "flush_interval_s"),
        ("/v1/devices/d/settings", #"{"request_policy":"lazy"}"#, 400, "request_policy"),
        ("/v1/devices/d/settings", #"{"online":1}"#, 400, "online"),
        ("/v1/devices/d/settings", #"{"without_app_groups":["g"]}"#, 400, "without_app_groups"),
        (
            "/v1/devices/d/settings", #"{"without_app_groups":[{"process":"p","app_group":"shared"}]}"#, 400,
            "The app group"
        ),
        ("/v1/save/event", #"{"name":"x","app_group":"shared"}"#, 400, "The app group"),
        ("/v1/save/event", #"{"name":"$x"}"#, 400, "The event's name"),
        ("/v1/save/event", #"{"name":"x","time":"1969-12-31"}"#, 400, "The time"),
        ("/v1/save/event", #"{"name":"x","time":"2199-01-01"}"#, 400, "The time"),
        ("/v1/save/user-attribute", #"{"attribute":"email","value":"none"}"#, 400, "The user attribute email"),
        ("/v1/save/user-attribute", #"{"attribute":"phone","value":"none"}"#, 400, "The user attribute phone"),
    ]

    @Test("A wrong body names the field, stores nothing and shows no value", arguments: wrongBodies)
    func wrongBody(path: String, body: String, status: Int, place: String) async throws {
        try await withAPI { api in
            let answer = await api.post(path, body)
            #expect(answer.status == status)
            #expect(answer.json.at("place") == .string(place))
            #expect(answer.json.at("error").text.hasSuffix("."))
            #expect(answer.json.at("remedy").text.hasSuffix("."))
            let last = try api.log.lastPosition()
            #expect(last == .start)
        }
    }

    static let wrongQueries: [(String, [String: String], Int, String)] = [
        ("/v1/profile", [:], 400, "user"),
        ("/v1/profile", ["user": "nobody"], 404, "user"),
        ("/v1/profile", ["user": "nobody", "asof": "3"], 400, "asof"),
        ("/v1/profile", ["user": "device:" + String(repeating: "x", count: 600)], 400, "user"),
        ("/v1/profile", ["user": "u", "as_of": "noon"], 400, "as_of"),
        ("/v1/history", ["user": "u", "from": "3", "to": "2"], 400, "from"),
        ("/v1/history", ["user": "u", "kind": "somethingElse"], 400, "kind"),
        ("/v1/events", ["limit": "0"], 400, "limit"),
        ("/v1/events", ["wait_s": "31"], 400, "wait_s"),
        ("/v1/events", ["after": "-1"], 400, "after"),
        ("/v1/users", ["limit": "many"], 400, "limit"),
        ("/v1/pending", ["device": "nowhere"], 404, "device"),
        ("/v1/stats", ["verbose": "1"], 400, "verbose"),
        ("/v1/devices", ["limit": "0"], 400, "limit"),
        ("/v1/devices/nowhere", [:], 404, "device"),
        ("/v1/rejected", ["user": "nobody"], 404, "user"),
        ("/v1/rejected", ["repaired": "perhaps"], 400, "repaired"),
    ]

    @Test("A wrong query names the parameter", arguments: wrongQueries)
    func wrongQuery(path: String, query: [String: String], status: Int, place: String) async throws {
        try await withAPI { api in
            let answer = await api.get(path, query.map { ($0.key, $0.value) })
            #expect(answer.status == status)
            #expect(answer.json.at("place") == .string(place))
        }
    }

    @Test("A version that moved on is a conflict, a key used for something else is one too")
    func conflicts() async throws {
        try await withService { service in
            let body = #"{"user":"u","name":"x","expect":"none"}"#
            #expect(try await service.post("/v1/log/event", body).status == 200)
            let late = try await service.post("/v1/log/event", body)
            #expect(late.status == 412)
            #expect(late.json.at("actual") == 2)
            let stale = try await service.post(
                "/v1/log/event", #"{"user":"u","name":"x"}"#, headers: ["If-Match": "\"1\""])
            #expect(stale.status == 412)
            let right = try await service.post(
                "/v1/log/event", #"{"user":"u","name":"x"}"#, headers: ["If-Match": "\"2\""])
            #expect(right.status == 200)

            let key = ["Idempotency-Key": "k"]
            let first = try await service.post("/v1/log/event", #"{"user":"v","name":"x"}"#, headers: key)
            let again = try await service.post("/v1/log/event", #"{"user":"v","name":"x"}"#, headers: key)
            #expect(again.json.at("repeated") == true)
            for member in ["position", "version", "user", "events", "created"] {
                #expect(again.json.at(member) == first.json.at(member))
            }
            let other = try await service.post("/v1/log/event", #"{"user":"v","name":"y"}"#, headers: key)
            #expect(other.status == 409)
            #expect(other.json.at("code") == "key_reused")
            let launch = try await service.post("/v1/launch", "{}", headers: key)
            #expect(launch.status == 400)
        }
    }

    @Test("What HTTP adds: methods, paths, sizes, escapes, other sites")
    func http() async throws {
        try await withService { service in
            #expect(try await service.get("/v1/nothing").status == 404)
            let method = try await service.send("DELETE", "/v1/users")
            #expect(method.status == 405)
            #expect(method.headers["allow"] == "GET, HEAD")
            #expect(try await service.get("/v1/launch").headers["allow"] == "POST")
            #expect(try await service.get("/v1/devices/d/launch").headers["allow"] == "POST")
            #expect(try await service.send("DELETE", "/v1/devices/d").headers["allow"] == "GET, HEAD")
            for path in ["/v1/devices/", "/v1/devices/d/", "/v1/devices/d/dance", "/v1/devices/%ff"] {
                #expect(try await service.get(path).json.at("code") == "unknown_path", "\(path)")
            }
            let large = try await service.send(
                "POST", "/v1/log/event", body: [UInt8](repeating: 0x20, count: APIRouter.maxBodyBytes + 1))
            #expect(large.status == 413)
            #expect(large.json.at("code") == "too_large")
            #expect(try await service.get("/v1/profile?user=%ff").status == 400)
            #expect(try await service.get("/v1/profile?user=a&user=b").status == 400)
            let foreign = try await service.post(
                "/v1/log/event", #"{"user":"u","name":"x"}"#, headers: ["Origin": "http://example.com"])
            #expect(foreign.status == 403)
            // A page's own name can lead to this machine; other clients than browsers may use any name for the service.
            let language = "Accept-Language: en"
            for (host, header, status) in [
                ("evil.example:8080", language, 403), ("evil.example", "Accept-Language:", 403),
                ("evil.example", "Origin: http://evil.example", 403), ("evil.example", "Sec-Fetch-Site: none", 403),
                ("evil.example", "Referer: http://evil.example/a", 403), ("evil.example", "Sec-Fetch-Mode: cors", 403),
                ("evil.example", "User-Agent: Mozilla/5.0 (X11)", 403), ("evil.example", "User-Agent: curl/8.5.0", 200),
                ("evil.example", nil, 200), ("localhost:8080", language, 200), ("127.0.0.1:1", language, 200),
                ("localhost:8080", "Sec-Fetch-Site: cross-site", 200), ("[::1]:8080", language, 200),
                ("profiles", language, 200), ("app.localhost", language, 200), ("127.0.0.1.example", language, 403),
            ] as [(String, String?, Int)] {
                for path in ["/v1/stats", "/", "/metrics", "/health"] {
                    let connection = try RawConnection(service)
                    let line = header.map { "\($0)\r\n" } ?? ""
                    connection.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\(line)Connection: close\r\n\r\n")
                    let answer = connection.read()
                    #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(host)\(path) \(line): \(answer)")
                    #expect(answer.contains(#""code":"foreign_origin""#) == (status == 403))
                }
            }
            #expect(try await service.get("/v1/stats").json.at("events") == 0)
        }
    }

    @Test("A full device refuses a save and says what to do")
    func pendingFull() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        var options = LogOptions()
        options.pendingItemsPerDevice = 2
        let log = try EventLog(path: folder.file("store").path, create: true, options: options)
        let api = API(log: log)
        for _ in 0..<2 { #expect(await api.post("/v1/save/event", #"{"name":"x"}"#).status == 200) }
        let refused = await api.post("/v1/save/event", #"{"name":"x"}"#)
        #expect(refused.status == 409)
        #expect(refused.json.at("code") == "pending_full")
    }
}
