import Foundation
import ProfileLog
import Synchronization
import Testing

@testable import ProfileLogAPI

@Suite("POST /users/export/segment")
struct BrazeSegmentTests {
    private static let yaml = """
        segments:
          - {id: all, name: Everybody, users: all}
          - {id: none, name: Nobody, all: [{event: never}]}
        """

    private func export(
        _ api: API, _ body: String
    ) async throws -> (json: AttributeValue, file: [UInt8], mediaType: String) {
        var request = APIRequest(.post, "/users/export/segment", body: Array(body.utf8))
        request.baseURL = "http://h:1"
        let answer = await api.answer(request)
        #expect(answer.status == 201)
        let json = try JSON.parse(answer.body)
        let path = try #require(json.at("url").text.hasPrefix("http://h:1/exports/") ? json.at("url").text : nil)
        let got = await api.answer(APIRequest(.get, String(path.dropFirst("http://h:1".count))))
        #expect(got.status == 200 && got.body.isEmpty)
        let file = try #require(got.file)
        return (json, Array(try Data(contentsOf: URL(fileURLWithPath: file.path))), file.mediaType)
    }

    private static let someone = #"""
        {"attributes":[{"external_id":"a","first_name":"Ana","x":1,"y":"2026-01-01"},{"external_id":"b","z":"ß"},
        {"user_alias":{"alias_name":"n","alias_label":"l"},"_update_existing_only":false,"x":2}]}
        """#

    @Test("A zip has the fields that were asked for, one profile a line, in the order of creation")
    func zip() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            #expect(await api.post("/users/track", Self.someone).status == 201)
            let (json, file, mediaType) = try await export(
                api,
                #"{"segment_id":"all","fields_to_export":["external_id","first_name","nonsense","custom_attributes"]}"#)
            #expect(json.at("message") == "success")
            #expect(json.at("url").text.hasSuffix("/\(json.at("object_prefix").text).zip"))
            #expect(json.count == 3)
            #expect(mediaType == "application/zip")
            let parts = try ZipReader.parts(file)
            #expect(parts.map(\.name) == ["\(json.at("object_prefix").text)-1.txt"])
            #expect(
                parts.map(\.text) == [
                    #"{"external_id":"a","first_name":"Ana","custom_attributes":{"x":1,"y":"2026-01-01T00:00:00.000Z"}}"#
                        + "\n"
                        + #"{"external_id":"b","custom_attributes":{"z":"ß"}}"# + "\n"
                        + #"{"custom_attributes":{"x":2}}"#
                        + "\n"
                ])
        }
    }

    @Test("Who lost their only ID is still there, and who was erased is not")
    func withoutIDs() async throws {
        try await withAPI { (plain) async throws in
            let api = try plain.under(Self.yaml)
            await api.track(
                #"{"email":"old@x.example","first_name":"Ana"}"#, #"{"external_id":"b","first_name":"Bo"}"#)
            let ana = try #require(try api.log.find(.email("old@x.example")))
            await api.track(
                #"{"braze_id":"\#(ana.brazeID)","email":"new@x.example"}"#, #"{"email":"old@x.example","x":1}"#)
            #expect(try api.log.find(.brazeID(ana.brazeID))?.ids == [])
            #expect(await api.post("/users/delete", #"{"external_ids":["b"]}"#).status == 201)
            let file = try await export(api, #"{"segment_id":"all","fields_to_export":["first_name"]}"#).file
            #expect(try ZipReader.parts(file).map(\.text) == ["{\"first_name\":\"Ana\"}\n{}\n"])
        }
    }

    @Test("An erasure removes the files, in which the person may be")
    func clearedByErasure() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            for (path, body) in [
                ("/users/delete", #"{"external_ids":["a"]}"#), ("/v1/erase", #"{"user":"a","reason":"asked"}"#),
            ] {
                await api.track(Wire.user("a"))
                let exported = await api.post(
                    "/users/export/segment", #"{"segment_id":"all","fields_to_export":["external_id"]}"#)
                let request = APIRequest(.get, exported.json.at("url").text)
                #expect(await api.post("/users/delete", #"{"external_ids":["nobody"]}"#).status == 201)
                let file = try #require(await api.answer(request).file)
                #expect(FileManager.default.fileExists(atPath: file.path))
                #expect(await [200, 201].contains(api.post(path, body).status))
                #expect(await api.answer(request).status == 404)
                #expect(!FileManager.default.fileExists(atPath: file.path))
            }
        }
    }

    @Test("An erasure by another process ends the files too: the same request makes another one, without the person")
    func clearedByOtherProcess() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            let other = try EventLog(path: api.log.path)
            let body = #"{"segment_id":"all","fields_to_export":["external_id"]}"#
            func url(awaited isAwaited: Bool) async throws -> String {
                var request = APIRequest(.post, "/users/export/segment", body: Array(body.utf8))
                request.isAwaited = { isAwaited }
                return try JSON.parse(await api.answer(request).body).at("url").text
            }
            func file(_ url: String) async throws -> URL? {
                await api.answer(APIRequest(.get, url)).file.map { URL(fileURLWithPath: $0.path) }
            }
            func erase(_ user: String) throws {
                _ = try other.erase([.externalID(user)], actor: "other", reason: "asked")
            }
            await api.track(Wire.user("a"), Wire.user("b"), Wire.user("c"))
            // Of one file nobody was told, of the other somebody was.
            let untold = try await url(awaited: false)
            let path = try #require(try await file(untold)).path
            try erase("a")
            let told = try await url(awaited: true)
            #expect(told != untold)
            #expect(try await file(untold) == nil && !FileManager.default.fileExists(atPath: path))
            let parts = try ZipReader.parts(Array(try Data(contentsOf: try #require(try await file(told)))))
            #expect(parts.map(\.text) == ["{\"external_id\":\"b\"}\n{\"external_id\":\"c\"}\n"])
            try erase("b")
            #expect(try await file(told) == nil)
        }
    }

    @Test("An export during which another process erases somebody is removed, and nobody joins it")
    func outdated() async throws {
        try await withAPI { api in
            let other = try EventLog(path: api.log.path)
            await api.track(Wire.user("a"))
            let shelf = ExportShelf()
            try shelf.removeOutdated(api.log)
            /// The status with which an export is refused.
            func refusal(_ name: String, _ body: (FileHandle) async throws -> Void) async -> Int? {
                let problem = await #expect(throws: APIProblem.self) {
                    try await write(name, for: "r", on: shelf, body)
                }
                return problem?.status
            }
            let first = await refusal("first") { _ in
                _ = try other.erase([.externalID("a")], actor: "other", reason: "asked")
                try shelf.removeOutdated(api.log)
                #expect(await refusal("second") { _ in } == 429)
            }
            #expect(first == 409)
            #expect(shelf.file("first") == nil)
            #expect(try await write("third", for: "r", on: shelf).name == "third")
            try shelf.removeOutdated(api.log)
            #expect(shelf.file("third") != nil)
        }
    }

    @Test("An export has what was acknowledged before it was asked for, also beside the same one under way")
    func readsItsWrites() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            await api.track(Wire.user("a"))
            let body = #"{"segment_id":"all","fields_to_export":["external_id"]}"#
            let hasBegun = Mutex(false)
            let status = Mutex<Int?>(nil)
            var first = APIRequest(.post, "/users/export/segment", body: Array(body.utf8))
            first.isAwaited = {
                let isAskedAgain = hasBegun.withLock { hasBegun in
                    defer { hasBegun = true }
                    return hasBegun
                }
                if isAskedAgain { return true }
                // first: a is written |                                              | answered
                // other:              | writes b, is acknowledged, asks for the same |
                await api.track(Wire.user("b"))
                Task { @Sendable in
                    let second = await api.post("/users/export/segment", body)
                    status.withLock { $0 = second.status }
                }
                while status.withLock({ $0 == nil }), !api.exports.hasWaiting("all") { await Task.yield() }
                return true
            }
            #expect(await api.answer(first).status == 201)
            #expect(status.withLock { $0 } == 429)
            let parts = try ZipReader.parts(try await export(api, body).file)
            #expect(parts.map(\.text) == ["{\"external_id\":\"a\"}\n{\"external_id\":\"b\"}\n"])
        }
    }

    @Test("A line has the apps and devices if they were asked for")
    func usage() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            _ = await api.post(
                "/users/track", #"{"events":[{"external_id":"a","name":"e","app_id":"i","time":"2026-01-01"}]}"#)
            _ = await api.post("/v1/devices/d/change-user", #"{"user":"a"}"#)
            let file = try await export(
                api, #"{"segment_id":"all","fields_to_export":["apps","devices"],"output_format":"gzip"}"#
            ).file
            let time = "2026-01-01T00:00:00.000Z"
            #expect(
                try GzipReader.text(file) == #"{"devices":[{"device_id":"d"}],"#
                    + #""apps":[{"name":"i","first_used":"\#(time)","last_used":"\#(time)"}]}"# + "\n")
        }
    }

    @Test("A gzip is one file; named custom attributes are exported alone")
    func gzip() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            _ = await api.post("/users/track", Self.someone)
            let (json, file, mediaType) = try await export(
                api,
                #"{"segment_id":"all","fields_to_export":["external_id"],"custom_attributes_to_export":["x"],"#
                    + #""output_format":"gzip","callback_endpoint":"http://elsewhere.example/"}"#)
            #expect(json.at("url").text.hasSuffix(".gz"))
            #expect(json.at("dropped.0.field") == "callback_endpoint")
            #expect(mediaType == "application/gzip")
            #expect(
                try GzipReader.text(file)
                    == #"{"external_id":"a","custom_attributes":{"x":1}}"# + "\n" + #"{"external_id":"b"}"# + "\n"
                    + #"{"custom_attributes":{"x":2}}"# + "\n")
        }
    }

    @Test("Parts have 5,000 users; who was merged is there once; a large block is split")
    func parts() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            var builder = api.log.prepare(capacity: 5001)
            for number in 0..<5001 {
                try builder.add(
                    .customEventLogged(CustomEvent(name: "e")), EventContext(source: .app),
                    to: .externalID("u\(number)"))
            }
            _ = try api.log.commit(builder.finish())
            _ = try api.log.append([.customEventLogged(CustomEvent(name: "e"))], to: .device("d"))
            _ = try api.log.changeUser(device: "d", to: .externalID("u0"))
            let body = #"{"segment_id":"all","fields_to_export":["external_id","custom_events"],"output_format":""#
            let parts = try ZipReader.parts(try await export(api, body + #"zip"}"#).file)
            #expect(parts.map { $0.text.split(separator: "\n").count } == [5000, 1])
            #expect(parts[0].text.hasPrefix(#"{"external_id":"u0","custom_events":[{"name":"e","#))
            #expect(parts[1].text.hasPrefix(#"{"external_id":"u5000","#))
            let gzip = try GzipReader.text(try await export(api, body + #"gzip"}"#).file)
            #expect(gzip == parts[0].text + parts[1].text)
        }
    }

    /// The conditions of a segment, and the users in it.
    static let segments: [(String, Set<String>)] = [
        ("all: [{custom_attribute: level, exists: true}]", ["a", "b"]),
        ("all: [{custom_attribute: level, exists: false}]", ["c"]),
        ("all: [{custom_attribute: level, equals: 3}]", ["a"]),
        ("all: [{custom_attribute: level, equals: 3.0}]", ["a"]),
        ("all: [{custom_attribute: level, equals: '3'}]", []),
        ("all: [{custom_attribute: level, greater: 3}]", ["b"]),
        ("all: [{custom_attribute: level, greater: 2.5}]", ["a", "b"]),
        ("all: [{custom_attribute: level, less: 4}]", ["a"]),
        ("all: [{custom_attribute: since, less: 2026-01-01}]", ["a"]),
        ("all: [{custom_attribute: since, greater: 2025-12-31}]", ["b"]),
        ("all: [{custom_attribute: since, equals: 2026-01-01}]", ["b"]),
        ("all: [{custom_attribute: tags, contains: red}]", ["c"]),
        ("all: [{custom_attribute: tags, contains: 2}]", ["c"]),
        ("all: [{custom_attribute: vip, equals: true}]", ["c"]),
        ("all: [{attribute: country, equals: DE}]", ["a", "b"]),
        ("all: [{attribute: country, equals: Germany}]", ["a", "b"]),
        ("all: [{attribute: email, exists: true}]", ["c"]),
        ("all: [{attribute: email, equals: C@D.Example}]", ["c"]),
        ("all: [{attribute: phone, equals: +442071838750}]", ["b"]),
        ("all: [{attribute: first_name, equals: 7}]", ["c"]),
        ("all: [{attribute: first_name, equals: ''}]", ["b"]),
        ("all: [{attribute: dob, equals: 1990-05-01}]", ["a"]),
        ("all: [{attribute: dob, less: 2000-01-01}]", ["a"]),
        ("all: [{attribute: dob, greater: 1990-05-01}]", ["b"]),
        ("all: [{attribute: dob, less: 3500-01-01}]", ["a", "b"]),
        ("all: [{attribute: date_of_last_session, equals: 2026-01-01}]", ["a"]),
        ("all: [{attribute: date_of_last_session, greater: 2025-12-31}]", ["a"]),
        ("all: [{attribute: email_open_tracking_disabled, equals: true}]", ["c"]),
        ("all: [{custom_attribute: zip, equals: !!str 10115}]", ["a"]),
        ("all: [{custom_attribute: zip, equals: 10115}]", []),
        ("all: [{attribute: email_subscribe, equals: subscribed}]", ["a", "b", "c"]),
        ("all: [{attribute: push_subscribe, exists: true}]", ["a", "b", "c"]),
        ("all: [{attribute: push_tokens, exists: true}]", ["b"]),
        ("all: [{attribute: push_tokens, exists: false}]", ["a", "c"]),
        ("all: [{attribute: subscription_groups, exists: true}]", ["c"]),
        ("all: [{attribute: subscription_groups, exists: false}]", ["a", "b"]),
        ("all: [{event: order}]", ["a", "b"]),
        ("all: [{event: order, at_least: 2}]", ["b"]),
        ("all: [{event: order, at_most: 1}]", ["a", "c"]),
        ("all: [{event: order, at_least: 1, at_most: 1}]", ["a"]),
        ("all: [{purchase: shoe, at_least: 3}]", ["c"]),
        ("all: [{attribute: country, equals: DE}, {event: order, at_least: 2}]", ["b"]),
        ("any: [{purchase: shoe}, {event: order, at_least: 2}]", ["b", "c"]),
        ("any: [{purchase: shoe}, {all: [{event: order}, {custom_attribute: level, equals: 3}]}]", ["a", "c"]),
        ("users: all", ["a", "b", "c"]),
    ]

    @Test("A segment has the users for whom its conditions hold", arguments: segments)
    func segment(rule: String, users: Set<String>) async throws {
        try await withAPI { plain in
            let api = try plain.under("segments: [{id: s, name: S, \(rule)}]")
            _ = await api.post(
                "/users/track",
                #"{"attributes":[{"external_id":"a","level":3,"country":"DE","since":"2025-01-01","#
                    + #""dob":"1990-05-01","date_of_last_session":"2026-01-01T00:00:00Z","zip":"10115","#
                    + #""push_tokens":[],"subscription_groups":[]},"#
                    + #"{"external_id":"b","level":4,"country":"DE","since":"2026-01-01","#
                    + #""dob":"2001-02-03","phone":"+442071838750","first_name":"","#
                    + #""push_tokens":[{"app_id":"i","token":"t"}]},"#
                    + #"{"external_id":"c","email":"c@d.example","tags":["red",2],"vip":true,"#
                    + #""first_name":"7","email_open_tracking_disabled":true,"#
                    + #""subscription_groups":[{"subscription_group_id":"g","subscription_state":"unsubscribed"}]}],"#
                    + #""events":[{"external_id":"a","name":"order","time":"2026-01-01"},"#
                    + #"{"external_id":"b","name":"order","time":"2026-01-01"},"#
                    + #"{"external_id":"b","name":"order","time":"2026-01-01"}],"purchases":["#
                    + #"{"external_id":"c","product_id":"shoe","currency":"EUR","price":1,"quantity":3,"time":"2026-01-01"}]}"#
            )
            let file = try await export(api, #"{"segment_id":"s","fields_to_export":["external_id"]}"#).file
            let lines = try ZipReader.parts(file).flatMap { $0.text.split(separator: "\n") }
            #expect(Set(try lines.map { try JSON.parse(String($0)).at("external_id").text }) == users)
        }
    }

    @Test("What the native API keeps as it was written is compared in its normal form")
    func asWritten() async throws {
        try await withAPI { plain in
            for (attribute, value, test) in [
                ("email", #""Ann@Example.com""#, "equals: ann@EXAMPLE.com"),
                ("phone", #""+44 20 7183 8750""#, "equals: +442071838750"),
                ("phone", #""12345""#, "equals: \"12345\""),
                ("phone", #""020 7183 8750""#, "equals: 020 7183 8750"),
                ("dob", #"{"$time":"1990-12-31T00:00:00Z"}"#, "equals: 1990-12-31"),
                ("dob", #"{"$time":"1990-12-31T00:00:00Z"}"#, "less: 1991-01-01"),
                ("date_of_first_session", #""2026-01-01 00:00:00""#, "equals: 2026-01-01T00:00:00Z"),
                ("language", #""en-US""#, "equals: en"),
            ] {
                let set = #"{"user":"n","attribute":"\#(attribute)","value":\#(value)}"#
                #expect(await plain.post("/v1/log/user-attribute", set).status == 200)
                let api = try plain.under("segments: [{id: s, name: S, all: [{attribute: \(attribute), \(test)}]}]")
                let file = try await export(api, #"{"segment_id":"s","fields_to_export":["external_id"]}"#).file
                let lines = try ZipReader.parts(file).map(\.text)
                #expect(lines == [#"{"external_id":"n"}"# + "\n"], "\(attribute) \(test)")
            }
        }
    }

    @Test("A segment without users is a file without lines")
    func nobody() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            _ = await api.post("/users/track", Self.someone)
            let body = #"{"segment_id":"none","fields_to_export":["external_id"],"output_format":""#
            #expect(try ZipReader.parts(try await export(api, body + #"zip"}"#).file).map(\.text) == [""])
            #expect(try GzipReader.text(try await export(api, body + #"gzip"}"#).file) == "")
        }
    }

    @Test("Who was erased is in no file, and what only they brought in no list; their type is forgotten")
    func erased() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            _ = await api.post("/users/track", Self.someone)
            let (_, deleted) = await api.post("/users/delete", #"{"external_ids":["a"]}"#)
            #expect(deleted.at("deleted") == 1)
            let (_, file, _) = try await export(
                api, #"{"segment_id":"all","fields_to_export":["external_id","braze_id"]}"#)
            let lines = try ZipReader.parts(file).flatMap { $0.text.split(separator: "\n") }
            #expect(lines.count == 2)
            #expect(!lines.contains { $0.contains(#""a""#) })
            let (_, attributes) = await api.get("/custom_attributes")
            #expect(attributes.at("attributes").count == 2)
            #expect(attributes.at("attributes.0.name") == "x")
            #expect(attributes.at("attributes.1.name") == "z")
            #expect(
                await api.post("/users/track", #"{"attributes":[{"external_id":"b","y":7}]}"#).json.at("dropped")
                    == .null)
        }
    }

    /// Bodies that are refused, and what the message says.
    static let wrong: [(String, String)] = [
        ("", "empty"), ("{}", "Invalid segment ID"),
        (#"{"segment_id":"no","fields_to_export":["email"]}"#, "Invalid segment ID"),
        (#"{"segment_id":7,"fields_to_export":["email"]}"#, "Invalid segment ID"),
        (#"{"segment_id":"all"}"#, "fields_to_export"),
        (#"{"segment_id":"all","fields_to_export":[]}"#, "fields_to_export"),
        (#"{"segment_id":"all","fields_to_export":"email"}"#, "fields_to_export"),
        (#"{"segment_id":"all","fields_to_export":[7]}"#, "fields_to_export"),
        (#"{"segment_id":"all","fields_to_export":["email"],"output_format":"rar"}"#, "output_format"),
        (
            #"{"segment_id":"all","fields_to_export":["email"],"custom_attributes_to_export":["#
                + (0...500).map { "\"a\($0)\"" }.joined(separator: ",") + "]}", "custom_attributes_to_export"
        ),
        (
            #"{"segment_id":"all","fields_to_export":["email"],"custom_attributes_to_export":{}}"#,
            "custom_attributes_to_export"
        ),
    ]

    @Test("What is no such request is 400", arguments: wrong)
    func refused(body: String, says: String) async throws {
        try await withAPI { plain in
            let (status, json) = try await plain.under(Self.yaml).post("/users/export/segment", body)
            #expect(status == 400)
            #expect(json.at("message").text.contains(says))
        }
    }

    @Test("Who may export has the file's name, which nobody guesses; whoever has that may fetch it")
    func permission() {
        let permissions = API.endpoints.filter { $0.path.contains("export/segment") || $0.path.contains("exports") }
            .map(\.permission)
        #expect(Set(permissions) == ["users.export.segment", nil])
        #expect(!Endpoint.permissions.contains { $0.contains("{") && !$0.hasPrefix("v1") })
    }

    @Test("Only the files of exports are there, and not for ever")
    func shelf() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            for name in ["no.zip", "..%2Fstore", "%2Fetc%2Fpasswd"] {
                let (status, json) = await api.get("/exports/\(name)")
                #expect(status == 404)
                #expect(json.at("code") == "unknown_export")
            }
            var paths: [String] = []
            for _ in 0..<17 {
                let (_, json) = await api.post(
                    "/users/export/segment", #"{"segment_id":"none","fields_to_export":["email"]}"#)
                paths.append(json.at("url").text)
            }
            #expect(await api.get(paths[0]).status == 404)
            #expect(await api.get(paths[1]).status == 200)
            #expect(await api.get(paths[16]).status == 200)
        }
    }

    /// Runs an export on `shelf`, for the request of that name, which came when the log had so many events.
    @discardableResult
    private func write(
        _ name: String, of segment: String = "s", for request: String? = nil, behind events: UInt64 = 0,
        isAwaited: @escaping @Sendable () -> Bool = { false }, on shelf: ExportShelf,
        _ body: (FileHandle) async throws -> Void = { _ in }
    ) async throws -> ExportShelf.File {
        let asker = ExportShelf.Asker(
            digest: Array((request ?? name).utf8), position: Position(rawValue: events), isAwaited: isAwaited)
        return try await shelf.write(name, mediaType: "", of: segment, for: asker, body)
    }

    @Test("A file is there for four hours, and none is when the exports are removed")
    func age() async throws {
        let time = Mutex(Date(timeIntervalSince1970: 0))
        let shelf = ExportShelf { time.withLock { $0 } }
        try await write("old", on: shelf)
        time.withLock { $0 += ExportShelf.age - 1 }
        try await write("young", on: shelf)
        let (old, young) = (try #require(shelf.file("old")).path, try #require(shelf.file("young")).path)
        time.withLock { $0 += 1 }
        #expect(shelf.file("old") == nil && shelf.file("young") != nil)
        #expect(!FileManager.default.fileExists(atPath: old) && FileManager.default.fileExists(atPath: young))
        shelf.clear()
        #expect(shelf.file("young") == nil && !FileManager.default.fileExists(atPath: young))
        try await write("again", on: shelf)
        #expect(shelf.file("again") != nil)
    }

    @Test("A file that is old goes, though nobody asks for anything any more, and the folder with the last one")
    func cleaning() async throws {
        let time = Mutex(Date(timeIntervalSince1970: 0))
        let (sleeps, sleep) = AsyncStream<TimeInterval>.makeStream()
        // Who sleeps is woken at once, and the time has passed.
        let shelf = ExportShelf {
            time.withLock { $0 }
        } sleep: { span in
            sleep.yield(span)
            time.withLock { $0 += span }
        }
        let path = try await write("old", on: shelf).path
        var spans = sleeps.makeAsyncIterator()
        #expect(await spans.next() == ExportShelf.age)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        for gone in [path, folder.path] {
            for _ in 0..<500 where FileManager.default.fileExists(atPath: gone) {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(!FileManager.default.fileExists(atPath: gone))
        }
        // And so does the next one.
        try await write("next", on: shelf)
        #expect(await spans.next() == ExportShelf.age)
    }

    /// Removes the folder in which `path` is.
    private func clean(_ path: String) throws {
        try FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent())
    }

    @Test("Who cleans the temporary folder takes the files that are there, and the next export makes another")
    func cleaned() async throws {
        let shelf = ExportShelf()
        try clean(try await write("old", on: shelf).path)
        // Nobody was told of the one that is gone.
        for (name, request) in [("new", "other"), ("again", "old")] {
            let file = try await write(name, for: request, on: shelf)
            #expect(file.name == name && FileManager.default.fileExists(atPath: file.path))
        }
        #expect(shelf.file("new") != nil && shelf.file("again") != nil && shelf.file("old") == nil)
    }

    @Test("The same request after the temporary folder was cleaned makes another file, if nothing came between")
    func cleanedUntold() async throws {
        let shelf = ExportShelf()
        try clean(try await write("old", for: "r", on: shelf).path)
        let file = try await write("new", for: "r", on: shelf)
        #expect(file.name == "new" && FileManager.default.fileExists(atPath: file.path))
    }

    @Test("An export whose file is cleaned away while it is written is 507, also for who joined it")
    func cleanedMeanwhile() async throws {
        let shelf = ExportShelf()
        let path = try await write("old", on: shelf).path
        let (begins, begin) = AsyncStream<Void>.makeStream()
        /// The status with which an export is refused.
        func refusal(_ name: String, _ body: (FileHandle) async throws -> Void) async -> Int? {
            let problem = await #expect(throws: APIProblem.self) {
                try await write(name, for: "r", on: shelf, body)
            }
            return problem?.status
        }
        async let first = refusal("first") { file in
            begin.finish()
            while !shelf.hasWaiting("s") { try await Task.sleep(for: .milliseconds(1)) }
            try clean(path)
            try file.write(contentsOf: [1])
        }
        for await _ in begins {}
        async let second = refusal("second") { _ in Issue.record("It is written twice.") }
        #expect(await [first, second] == [507, 507])
        #expect(shelf.file("first") == nil)
        #expect(try await write("third", for: "r", on: shelf).name == "third")
    }

    @Test("A folder that a dead process left is removed, that of a living one is not")
    func abandoned() throws {
        let parent = try Service.newFolder()
        defer { try? FileManager.default.removeItem(at: parent) }
        let dead = parent.appendingPathComponent("profilelog-exports-dead")
        try FileManager.default.createDirectory(at: dead, withIntermediateDirectories: true)
        try Data().write(to: dead.appendingPathComponent("in-use"))
        try Data([1]).write(to: dead.appendingPathComponent("a.zip"))
        try Data([1]).write(to: parent.appendingPathComponent("other"))
        let prefix = "profilelog-exports-"
        var living: ScratchFolder? = try ScratchFolder(prefix: prefix, in: parent.path)
        let path = try #require(living?.path)
        #expect(!FileManager.default.fileExists(atPath: dead.path))
        let second = try ScratchFolder(prefix: prefix, in: parent.path)
        #expect(FileManager.default.fileExists(atPath: path) && FileManager.default.fileExists(atPath: second.path))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        living = nil
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(FileManager.default.fileExists(atPath: parent.appendingPathComponent("other").path))
    }

    @Test("One export of a segment runs at a time, and one that failed leaves no file")
    func running() async throws {
        let shelf = ExportShelf()
        try await write("a", on: shelf) { file in
            try file.write(contentsOf: [1])
            let second = await #expect(throws: APIProblem.self) { try await write("b", on: shelf) }
            #expect(second?.status == 429)
            try await write("c", of: "t", on: shelf)
        }
        #expect(shelf.file("a") != nil && shelf.file("b") == nil && shelf.file("c") != nil)
        await #expect(throws: CancellationError.self) {
            try await write("d", on: shelf) { _ in throw CancellationError() }
        }
        #expect(shelf.file("d") == nil)
        try await write("e", on: shelf)
    }

    @Test(
        "The same request gets the file of the one that runs, or its failure", .timeLimit(.minutes(1)),
        arguments: [false, true])
    func joined(fails: Bool) async throws {
        let shelf = ExportShelf()
        let (begins, begin) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        func name(_ name: String, _ body: (FileHandle) async throws -> Void) async -> String {
            (try? await write(name, for: "r", on: shelf, body))?.name ?? "none"
        }
        async let first = name("first") { _ in
            begin.finish()
            for await _ in ends {}
            if fails { throw CancellationError() }
        }
        for await _ in begins {}
        async let second = name("second") { _ in Issue.record("It is written twice.") }
        while !shelf.hasWaiting("s") { await Task.yield() }
        end.finish()
        let names = await [first, second]
        #expect(names == (fails ? ["none", "none"] : ["first", "first"]))
        #expect(await name("third") { _ in } == (fails ? "third" : "first"))
    }

    @Test(
        "Behind a write the same request joins the one that runs only if all clients of that have left",
        .timeLimit(.minutes(1)))
    func joinedBehindWrite() async throws {
        let shelf = ExportShelf()
        let (begins, begin) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let isAwaited = Mutex(true)
        /// The status with which the same request is refused.
        func refusal(_ name: String, behind events: UInt64) async -> Int? {
            let problem = await #expect(throws: APIProblem.self) {
                try await write(name, for: "r", behind: events, on: shelf)
            }
            return problem?.status
        }
        async let first = write("first", for: "r", isAwaited: { isAwaited.withLock { $0 } }, on: shelf) { _ in
            begin.finish()
            for await _ in ends {}
        }
        for await _ in begins {}
        #expect(await refusal("second", behind: 1) == 429)
        isAwaited.withLock { $0 = false }
        async let third = write("third", for: "r", behind: 1, isAwaited: { true }, on: shelf)
        while !shelf.hasWaiting("s") { await Task.yield() }
        #expect(await refusal("fourth", behind: 2) == 429)
        end.finish()
        #expect(try await [first.name, third.name] == ["first", "first"])
    }

    @Test("A file for which somebody waits is nobody else's from when it is there", .timeLimit(.minutes(1)))
    func joinedAndTold() async throws {
        let shelf = ExportShelf()
        let (begins, begin) = AsyncStream<Void>.makeStream()
        async let first = write("first", for: "r", on: shelf) { _ in
            begin.finish()
            while !shelf.hasWaiting("s") { try await Task.sleep(for: .milliseconds(1)) }
        }
        for await _ in begins {}
        let wasThere = Mutex<[Bool]>([])
        let isAwaited: @Sendable () -> Bool = {
            wasThere.withLock { $0.append(shelf.file("first") != nil) }
            return true
        }
        async let second = write("second", for: "r", isAwaited: isAwaited, on: shelf)
        #expect(try await [first.name, second.name] == ["first", "first"])
        #expect(wasThere.withLock { $0.first } == false)
        #expect(try await write("third", for: "r", behind: 1, on: shelf).name == "third")
    }

    @Test("A file of which nobody was told is that of the same request for a quarter of an hour, or until somebody is")
    func untold() async throws {
        let time = Mutex(Date(timeIntervalSince1970: 0))
        let shelf = ExportShelf { time.withLock { $0 } }
        func name(_ name: String, _ request: String = "r", isAwaited: Bool = false) async throws -> String {
            try await write(name, for: request, isAwaited: { isAwaited }, on: shelf).name
        }
        #expect(try await name("a") == "a")
        #expect(try await name("b", "other") == "b")
        #expect(try await name("c", isAwaited: true) == "a")
        #expect(try await name("d") == "d")
        time.withLock { $0 += ExportShelf.patience }
        #expect(try await name("e") == "e")
        shelf.clear()
        #expect(try await name("f") == "f")
    }

    @Test("Behind a write a file of which nobody was told waits for a minute; then the same request makes another")
    func untoldBehindWrite() async throws {
        let time = Mutex(Date(timeIntervalSince1970: 0))
        let shelf = ExportShelf { time.withLock { $0 } }
        func name(_ name: String, behind events: UInt64) async throws -> String {
            try await write(name, for: "r", behind: events, on: shelf).name
        }
        #expect(try await name("a", behind: 7) == "a")
        time.withLock { $0 += ExportShelf.patienceBehindWrite - 1 }
        #expect(try await name("b", behind: 8) == "a")
        time.withLock { $0 += 1 }
        #expect(try await name("c", behind: 7) == "a")
        #expect(try await name("d", behind: 8) == "d")
        #expect(try await name("e", behind: 8) == "d")
    }

    @Test("A request whose client has left is answered when it comes again")
    func clientLeft() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            let body = #"{"segment_id":"none","fields_to_export":["email"]}"#
            func urls(awaited: [Bool]) async throws -> [String] {
                var urls: [String] = []
                for isAwaited in awaited {
                    var request = APIRequest(.post, "/users/export/segment", body: Array(body.utf8))
                    request.isAwaited = { isAwaited }
                    let json = try JSON.parse(await api.answer(request).body)
                    #expect(json.at("url").text == "/exports/\(json.at("object_prefix").text).zip")
                    urls.append(json.at("url").text)
                }
                return urls
            }
            let answers = try await urls(awaited: [false, false, true, true])
            #expect(Set(answers[...2]).count == 1 && answers[3] != answers[2])
        }
    }
}
