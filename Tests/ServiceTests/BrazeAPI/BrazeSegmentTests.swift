import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

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
                    #"{"external_id":"a","first_name":"Ana","custom_attributes":{"x":1,"#
                        + #""y":"2026-01-01T00:00:00.000Z"}}"#
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
            #expect(try api.log.find(.assignedID(ana.brazeID))?.ids == [])
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

    /// Exports the external IDs of all users; the URL of the archive.
    private func exportAll(_ api: API) async -> String {
        await api.post("/users/export/segment", #"{"segment_id":"all","fields_to_export":["external_id"]}"#)
            .json.at("url").text
    }

    /// Returns the path of the archive at `url`; nil if it is gone.
    private func path(_ url: String, _ api: API) async -> String? {
        await api.answer(APIRequest(.get, url)).file?.path
    }

    @Test("An erasure by another process removes the files too, and no newer one")
    func clearedByOtherProcess() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            let other = try EventLog(path: api.log.path)
            await api.track(Wire.user("a"), Wire.user("b"))
            let old = await exportAll(api)
            let oldPath = await path(old, api)
            let removed = try #require(oldPath)
            _ = try other.erase([.externalID("a")], actor: "other", reason: "asked")
            let new = await exportAll(api)
            let (oldNow, newPath) = (await path(old, api), await path(new, api))
            #expect(oldNow == nil && !FileManager.default.fileExists(atPath: removed))
            let file = try #require(newPath)
            let parts = try ZipReader.parts(Array(try Data(contentsOf: URL(fileURLWithPath: file))))
            #expect(parts.map(\.text) == ["{\"external_id\":\"b\"}\n"])
        }
    }

    @Test("Exports succeed while users are erased all the time, and have none whose erasure came first")
    func erasedAllTheTime() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            let users = (0..<30).map { "u\($0)" }
            for user in users { await api.track(Wire.user(user)) }
            let other = try EventLog(path: api.log.path)
            let erased = Mutex<[String]>([])
            async let eraser: Void = {
                for user in users {
                    _ = try other.erase([.externalID(user)], actor: "other", reason: "asked")
                    erased.withLock { $0.append(user) }
                    await Task.yield()
                }
            }()
            var isOver = false
            while !isOver {
                let before = erased.withLock { $0 }
                isOver = before.count == users.count
                let answer = await api.post(
                    "/users/export/segment", #"{"segment_id":"all","fields_to_export":["external_id"]}"#)
                #expect(answer.status == 201, "\(answer.json)")
                // A user was erased since: the file is gone.
                guard let file = await api.answer(APIRequest(.get, answer.json.at("url").text)).file,
                    let content = try? Data(contentsOf: URL(fileURLWithPath: file.path))
                else { continue }
                let text = try ZipReader.parts(Array(content)).map(\.text).joined()
                for user in before { #expect(!text.contains("\"\(user)\"")) }
            }
            try await eraser
        }
    }

    @Test("An export is of one view: later changes are not in it, nor is anyone erased since it began")
    func oneView() async throws {
        // Reading a profile asks for the time, as the workspace has a window: so the test acts between two profiles.
        let meanwhile = Mutex<[@Sendable () -> Void]>([])
        var options = LogOptions()
        options.now = {
            let next = meanwhile.withLock { $0.popLast() }
            next?()
            return .now()
        }
        try await withAPI(options) { plain in
            let api = try plain.under(Self.yaml + "\nexport_window_days: 90")
            await api.track(Wire.user("a"), Wire.user("b"), Wire.user("c", #""x":1"#), Wire.user("d"))
            let other = try EventLog(path: api.log.path)
            let acted = Mutex(0)
            let act: @Sendable () -> Void = {
                _ = try? other.erase([.externalID("a"), .externalID("d")], actor: "other", reason: "asked")
                let change = ProfileEvent.customAttributesChanged([AttributeChange("x", .set(2))])
                if (try? other.append([change], to: .externalID("c"))) != nil { acted.withLock { $0 += 1 } }
            }
            // The day in the file's name, then a, then b.
            meanwhile.withLock { $0 = [act, {}, {}] }
            let file = try await export(
                api,
                #"{"segment_id":"all","fields_to_export":["external_id"],"custom_attributes_to_export":["x"]}"#
            ).file
            #expect(acted.withLock { $0 } == 1)
            let text = try ZipReader.parts(file).map(\.text).joined()
            #expect(
                text == #"{"external_id":"b"}"# + "\n" + #"{"external_id":"c","custom_attributes":{"x":1}}"# + "\n")
        }
    }

    @Test("An export has what was acknowledged before it was asked for")
    func readsItsWrites() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            let body = #"{"segment_id":"all","fields_to_export":["external_id"]}"#
            var lines = ""
            for user in ["a", "b"] {
                await api.track(Wire.user(user))
                lines += "{\"external_id\":\"\(user)\"}\n"
                #expect(try ZipReader.parts(try await export(api, body).file).map(\.text) == [lines])
            }
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

    @Test("A segment has the users whose profiles fulfil its conditions", arguments: segments)
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
                    + #"{"external_id":"c","product_id":"shoe","currency":"EUR","price":1,"quantity":3,"#
                    + #""time":"2026-01-01"}]}"#
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

    @Test("Exporting needs a permission; fetching a file needs its name only, which cannot be guessed")
    func permission() {
        let permissions = API.table.endpoints.filter {
            $0.path.contains("export/segment") || $0.path.contains("exports")
        }
        .map(\.permission)
        #expect(Set(permissions) == ["users.export.segment", nil])
        #expect(!API.table.permissions.contains { $0.contains("{") && !$0.hasPrefix("v1") })
    }

    @Test("Only the files of exports are there, and not for ever")
    func bounded() async throws {
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

    /// Exports an empty file, after `body`, and gives its path.
    @discardableResult
    private func write(
        _ name: String, of segment: String = "s", to files: ExportFiles,
        _ body: (_ folder: String) async throws -> Void = { _ in }
    ) async throws -> String {
        try await files.withFolder(for: segment) { folder in
            try await body(folder)
            let path = "\(folder)/\(name)"
            try ExportFiles.write(path) { _ in }
            try files.keep(name, in: folder, mediaType: "", .start)
            return path
        }
    }

    /// The status with which an export is refused.
    private func refusal(
        of segment: String = "s", to files: ExportFiles, _ body: (_ folder: String) async throws -> Void = { _ in }
    ) async -> Int? {
        let apiError = await #expect(throws: APIError.self) {
            try await write("refused", of: segment, to: files, body)
        }
        return apiError?.status
    }

    @Test("A file is there for four hours, and none is when the exports are removed")
    func age() async throws {
        try await withAPI { api in
            let time = Mutex(Date(timeIntervalSince1970: 0))
            let files = ExportFiles { time.withLock { $0 } }
            func isThere(_ name: String) -> Bool { files.file(name, of: api.log) != nil }
            let old = try await write("old", to: files)
            time.withLock { $0 += ExportFiles.age - 1 }
            let young = try await write("young", to: files)
            #expect(isThere("old") && isThere("young"))
            time.withLock { $0 += 1 }
            #expect(!isThere("old") && isThere("young"))
            #expect(!FileManager.default.fileExists(atPath: old) && FileManager.default.fileExists(atPath: young))
            files.clear()
            #expect(!isThere("young") && !FileManager.default.fileExists(atPath: young))
            try await write("again", to: files)
            #expect(isThere("again"))
        }
    }

    @Test("Old files are removed although no request comes any more, and the folder with the last one")
    func cleaning() async throws {
        let time = Mutex(Date(timeIntervalSince1970: 0))
        let files = ExportFiles { time.withLock { $0 } }
        for name in ["old", "next"] {
            let path = try await write(name, to: files)
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            time.withLock { $0 += ExportFiles.age - 1 }
            files.removeOld()
            #expect(FileManager.default.fileExists(atPath: path))
            time.withLock { $0 += 1 }
            files.removeOld()
            for gone in [path, folder] { #expect(!FileManager.default.fileExists(atPath: gone)) }
        }
    }

    @Test("After the temporary folder was cleaned, an export makes a new one; an export that it met is 507")
    func cleaned() async throws {
        let files = ExportFiles()
        let old = URL(fileURLWithPath: try await write("old", to: files)).deletingLastPathComponent()
        try FileManager.default.removeItem(at: old)
        #expect(FileManager.default.fileExists(atPath: try await write("new", to: files)))
        #expect(await refusal(to: files) { try FileManager.default.removeItem(atPath: $0) } == 507)
        #expect(FileManager.default.fileExists(atPath: try await write("again", to: files)))
    }

    @Test("A folder that a dead process left is removed, that of a living one is not")
    func abandoned() throws {
        let parent = try TemporaryFolder.made(prefix: "profiled")
        let dead = parent.file("profilelog-exports-dead")
        try FileManager.default.createDirectory(at: dead, withIntermediateDirectories: true)
        try Data().write(to: dead.appendingPathComponent("in-use"))
        try Data([1]).write(to: dead.appendingPathComponent("a.zip"))
        try Data([1]).write(to: parent.file("other"))
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
        #expect(FileManager.default.fileExists(atPath: parent.file("other").path))
    }

    @Test("One export of a segment runs at a time, and a few in all; one that failed leaves no file")
    func running() async throws {
        let files = ExportFiles()
        try await write("a", to: files) { _ in
            #expect(await refusal(to: files) == 429)
            try await write("b", of: "t", to: files)
        }
        func nest(_ running: Int) async throws {
            if running == ExportFiles.mostRunning {
                #expect(await refusal(of: "other", to: files) == 429)
            } else {
                try await write("n\(running)", of: "s\(running)", to: files) { _ in try await nest(running + 1) }
            }
        }
        try await nest(0)
        await #expect(throws: CancellationError.self) {
            try await files.withFolder(for: "s") { folder in
                try ExportFiles.write("\(folder)/c") { _ in throw CancellationError() }
            }
        }
        let path = try await write("d", to: files)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/c"))
    }
}
