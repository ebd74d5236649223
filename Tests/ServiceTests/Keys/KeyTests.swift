import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("Keys")
struct KeyTests {
    private static let track = #"{"events":[{"external_id":"u","name":"n","time":"2026-01-01T00:00:00Z"}]}"#

    /// Runs `body` in a folder with a store called `store`.
    private func withFolder(_ body: (TemporaryFolder) async throws -> Void) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        try await body(folder)
    }

    private func add(_ name: String, _ permissions: String? = nil, in folder: TemporaryFolder) async throws -> String {
        let more = permissions.map { ["--permissions", $0] } ?? []
        let made = try await run(["keys", "add", "--store", "store", "--name", name] + more, in: folder)
        #expect(made.code == 0, "\(made.errors)")
        #expect(!made.errors.contains(made.output.trimmingCharacters(in: .newlines)))
        #expect(made.errors.contains("keeps its hash.\nSend it as `Authorization: Bearer KEY`"), "\(made.errors)")
        return made.output.trimmingCharacters(in: .newlines)
    }

    private func bearer(_ key: String) -> [String: String] { ["Authorization": "Bearer \(key)"] }

    @Test("Where there are rate limits, their headers are on a 401 too, and empty")
    func limitsWithoutKey() async throws {
        try await withFolder { folder in
            _ = try await add("all", in: folder)
            let service = try await Service(in: folder, arguments: ["--rate-limit", "9/3600"])
            let answer = try await service.post("/users/track", Self.track, headers: bearer("wrong"))
            #expect(answer.status == 401)
            for name in ["limit", "remaining", "reset"] { #expect(answer.headers["x-ratelimit-\(name)"] == "") }
            let other = try await service.post("/users/track/sync", Self.track, headers: bearer("wrong"))
            #expect(other.headers["x-ratelimit-limit"] == nil)
            #expect(try await service.stop() == 0)
        }
    }

    @Test("A key does what it is allowed to, an unknown one nothing, and neither is ever repeated")
    func permissions() async throws {
        try await withFolder { folder in
            let tracker = try await add("tracker", "users.track", in: folder)
            let reader = try await add("reader", "v1.read,metrics", in: folder)
            let all = try await add("all", in: folder)
            let unknown = "plk_00000000_" + String(repeating: "a", count: 64)
            let wrongSecret = tracker.dropLast(4) + (tracker.hasSuffix("0000") ? "1111" : "0000")
            let service = try await Service(in: folder, arguments: ["--log-level", "trace"])

            for (key, path, body, status) in [
                (tracker, "/users/track", Self.track, 201), (tracker, "/users/track/sync", Self.track, 403),
                (tracker, "/users/export/ids", "{}", 403), (tracker, "/v1/log/event", "{}", 403),
                (reader, "/users/track", Self.track, 403), (reader, "/v1/log/event", "{}", 403),
                (all, "/users/track", Self.track, 201), (all, "/v1/log/event", #"{"user":"u","name":"x"}"#, 200),
                (unknown, "/users/track", Self.track, 401), (String(wrongSecret), "/users/track", Self.track, 401),
                ("", "/users/track", Self.track, 401), ("plk", "/v1/log/event", "{}", 401),
            ] {
                let answer = try await service.post(path, body, headers: bearer(key))
                #expect(answer.status == status, "\(path) \(answer.json)")
                #expect(key.isEmpty || !String(decoding: answer.body, as: UTF8.self).contains(key))
                if status == 401, path.hasPrefix("/users") {
                    #expect(answer.json.at("message") == "Invalid API key")
                    #expect(answer.headers["www-authenticate"] == "Bearer")
                }
                if status == 403 { #expect(answer.json.at("code") == "not_allowed") }
            }
            // A page of another site has no key, so a browser may call the service what it likes.
            let browser = try RawConnection(service)
            browser.send(
                "GET /v1/stats HTTP/1.1\r\nHost: crm.example\r\nAccept-Language: en\r\nAuthorization: Bearer "
                    + "\(reader)\r\n"
                    + "Connection: close\r\n\r\n")
            #expect(browser.read().hasPrefix("HTTP/1.1 200 "))
            for (key, path, status) in [
                (reader, "/v1/stats", 200), (reader, "/metrics", 200), (tracker, "/metrics", 403),
                (tracker, "/v1/stats", 403), (unknown, "/v1/stats", 401), (all, "/v1/stats", 200),
            ] {
                #expect(try await service.get(path, headers: bearer(key)).status == status, "\(path)")
            }
            for path in ["/health", "/health/live", "/health/ready", "/", "/openapi.json"] {
                #expect(try await service.get(path).status == 200, "\(path)")
            }
            #expect(try await service.get("/").json.at("store") == .null)
            #expect(try await service.get("/metrics").status == 401)
            #expect(try await service.get("/v1/stats", headers: ["Authorization": all]).status == 401)
            #expect(try await service.get("/v1/stats", headers: ["Authorization": "Basic \(all)"]).status == 401)
            #expect(try await service.get("/v1/stats", headers: ["Authorization": "bearer  \(all)"]).status == 200)
            #expect(try await service.get("/v1/stats", headers: bearer(all)).json.at("events") == 4)
            #expect(try await service.stop() == 0)
            for key in [tracker, reader, all, unknown] {
                #expect(!service.messages.contains(key))
                #expect(!service.messages.contains(key.suffix(64)))
            }
            let file = folder.file("store/keys.json")
            let content = try String(contentsOf: file, encoding: .utf8)
            for key in [tracker, reader, all] { #expect(!content.contains(key.suffix(64))) }
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("Old clients of Braze send the key as `api_key` in the body; the native API does not know that")
    func keyInBody() async throws {
        try await withFolder { folder in
            let key = try await add("old", in: folder)
            let service = try await Service(in: folder)
            func post(_ path: String, _ member: String, headers: [String: String] = [:]) async throws -> Int {
                try await service.post(path, "{\(member),\(Self.track.dropFirst())", headers: headers).status
            }
            #expect(try await post("/users/track", #""api_key":"\#(key)""#) == 201)
            #expect(try await post("/users/track", #""api_key":"wrong""#) == 401)
            #expect(try await post("/users/track", #""api_key":7"#) == 401)
            #expect(try await post("/users/track", #""API_KEY":"\#(key)""#) == 401)
            // The header counts where there is one.
            #expect(try await post("/users/track", #""api_key":"\#(key)""#, headers: bearer("wrong")) == 401)
            #expect(try await service.post("/users/track", "{").status == 401)
            // Whatever else is wrong with the body, the key in it is found, and only there where it belongs.
            let odd = #"{"api_key":"\#(key)","attributes":[{"external_id":"u","x":1e400},{"external_id":"u","y":1}]}"#
            let partly = try await service.post("/users/track", odd)
            #expect(partly.status == 201 && partly.json.at("errors").count == 1)
            for wrong in [
                #"{"api_key":"\#(key)","attributes":[{"external_id":"u","x":1},]}"#, #"{"api_key":"\#(key)",}"#,
                #"{"attributes":[{"external_id":"u","x":1}],"partner":1,"partner":2,"api_key" : "\#(key)" }"#,
                #"{"attributes":[}, "api_key":"\#(key)""#,
            ] {
                let answer = try await service.post("/users/track", wrong)
                #expect(answer.status == 400 && answer.json.at("code") == "invalid_json", "\(wrong)")
            }
            for wrong in [
                #"{"x":{"api_key":"\#(key)"}}"#, #"{"x":"api_key","\#(key)":1}"#, #"{"x":["api_key","\#(key)"]}"#,
                #"{"x":"\"api_key\":\"\#(key)\""}"#, #"["api_key","\#(key)"]"#, #"{"x":"api_key":"\#(key)"}"#,
            ] {
                #expect(try await service.post("/users/track", wrong).status == 401, "\(wrong)")
            }
            let padding = String(repeating: " ", count: 1 << 20)
            #expect(try await post("/users/track", #"\#(padding)"api_key":"\#(key)""#) == 201)
            #expect(
                try await service.post("/v1/log/event", #"{"api_key":"\#(key)","user":"u","name":"x"}"#).status == 401)
            #expect(try await service.stop() == 0)
        }
    }

    @Test("Clients may send their key in the URL too, which nothing repeats")
    func keyInURL() async throws {
        try await withFolder { folder in
            let key = try await add("old", "users.track,events.get,metrics", in: folder)
            let service = try await Service(in: folder, arguments: ["--log-level", "trace"])
            func post(_ query: String, _ more: String = "", headers: [String: String] = [:]) async throws -> Int {
                try await service.post("/users/track?\(query)", "{\(more)\(Self.track.dropFirst())", headers: headers)
                    .status
            }
            #expect(try await post("api_key=\(key)") == 201)
            #expect(try await post("a=b&api_key=\(key)", #""api_key":"wrong","#) == 201)
            #expect(try await post("api_key=wrong", #""api_key":"\#(key)","#) == 401)
            #expect(try await post("api_key=", #""api_key":"\#(key)","#) == 401)
            #expect(try await post("API_KEY=\(key)") == 401)
            #expect(try await post("api_key=\(key)", headers: bearer("wrong")) == 401)
            #expect(try await service.post("/users/track/sync?api_key=\(key)", Self.track).status == 403)
            for name in (0..<60).map({ "e\($0)" }) {
                let event = #"{"external_id":"u","name":"\#(name)","time":"2026-01-01T00:00:00Z"}"#
                _ = try await service.post("/users/track?api_key=\(key)", #"{"events":[\#(event)]}"#)
            }
            let page = try await service.get("/events?api_key=\(key)")
            #expect(page.status == 200)
            #expect(try #require(page.headers["link"]).contains("cursor="))
            #expect(page.headers["link"]?.contains("api_key") == false)
            #expect(try await service.get("/events?api_key=\(key)&cursor=x").status == 400)
            // The native API and the service itself take none from there.
            for path in ["/metrics", "/v1/stats"] {
                #expect(try await service.get("\(path)?api_key=\(key)").status == 401, "\(path)")
            }
            #expect(try await service.get("/nothing?api_key=\(key)").status == 404)
            #expect(try await service.stop() == 0)
            #expect(!service.messages.contains(key.suffix(64)))
        }
    }

    @Test("A store or a file without keys is told, and is no failure")
    func noKeys() async throws {
        try await withFolder { folder in
            _ = try folder.open("store")
            for arguments in [["--store", "store"], ["--store", "store", "--json"]] {
                let listed = try await run(["keys", "list"] + arguments, in: folder)
                #expect(listed.code == 0)
                #expect(listed.output.isEmpty)
                #expect(listed.errors.contains("no keys") && listed.errors.contains("profiled keys add"))
            }
            _ = try await add("only", in: folder)
            #expect(try await run(["keys", "revoke", "--store", "store", "only"], in: folder).code == 0)
            let listed = try await run(["keys", "list", "--store", "store"], in: folder)
            #expect(listed.code == 0)
            #expect(listed.errors.contains("refuses every request"), "\(listed.errors)")
        }
    }

    @Test("Keys are listed below a heading, as wide as the longest name")
    func heading() async throws {
        try await withFolder { folder in
            _ = try await add("app", in: folder)
            _ = try await add("a longer name", "users.track,v1.read", in: folder)
            let lines = try await run(["keys", "list", "--store", "store"], in: folder).output.split(separator: "\n")
            #expect(lines.count == 3)
            let heading = try #require(lines.first)
            #expect(heading.split(separator: " ") == ["ID", "CREATED", "NAME", "PERMISSIONS"], "\(heading)")
            let place = try #require(heading.range(of: "PERMISSIONS")).lowerBound
            let column = heading.distance(from: heading.startIndex, to: place)
            #expect(lines.dropFirst().map { String($0.dropFirst(column)) } == ["all", "users.track,v1.read"])
        }
    }

    @Test(
        "A word that is no command is refused, and the nearest one is named",
        arguments: [
            (["serv"], "There is no command profiled serv.\nDid you mean serve? See `profiled --help` for all."),
            (["keys", "lst"], "There is no command profiled keys lst.\nDid you mean list?"),
            (["xyzzy"], "There is no command profiled xyzzy.\nSee `profiled --help` for all."),
        ])
    func unknownCommand(arguments: [String], message: String) async throws {
        try await withFolder { folder in
            let refused = try await run(arguments, in: folder)
            #expect(refused.code == 64 && refused.output.isEmpty)
            #expect(refused.errors.contains(message), "\(refused.errors)")
        }
    }

    @Test("A request without a key does not use up the limit, wherever the key would be")
    func limitsAndKeys() async throws {
        try await withFolder { folder in
            let key = try await add("app", in: folder)
            let service = try await Service(in: folder, arguments: ["--rate-limit", "2/3600"])
            for _ in 0..<3 {
                #expect(try await service.post("/users/track", Self.track).status == 401)
                #expect(try await service.post("/users/track", Self.track, headers: bearer("wrong")).status == 401)
            }
            #expect(try await service.post("/users/track", Self.track, headers: bearer(key)).status == 201)
            let inBody = "{\"api_key\":\"\(key)\",\(Self.track.dropFirst())"
            #expect(try await service.post("/users/track", inBody).status == 201)
            #expect(try await service.post("/users/track", inBody).status == 429)
            #expect(try await service.stop() == 0)
        }
    }

    @Test("A change is seen by a running service with the next request, and the last key takes the door with it")
    func withoutRestart() async throws {
        try await withFolder { folder in
            let service = try await Service(in: folder)
            #expect(try await service.get("/v1/stats").status == 200)
            #expect(try await service.get("/").json.at("authorization").text.contains("no keys"))
            let key = try await add("first", in: folder)
            #expect(try await service.get("/v1/stats").status == 401)
            #expect(try await service.get("/v1/stats", headers: bearer(key)).status == 200)
            let second = try await add("second", in: folder)
            #expect(try await service.get("/v1/stats", headers: bearer(second)).status == 200)
            let stream = try RawConnection(service)
            stream.send(
                "GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer "
                    + "\(key)\r\n\r\n"
            )
            #expect(stream.read(until: "events follow").contains("events follow"))
            #expect(try await run(["keys", "revoke", "--store", "store", "first"], in: folder).code == 0)
            #expect(try await service.get("/v1/stats", headers: bearer(key)).status == 401)
            #expect(stream.read(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
            #expect(try await service.get("/v1/stats", headers: bearer(second)).status == 200)
            let id = String(second.split(separator: "_")[1])
            #expect(try await run(["keys", "revoke", "--store", "store", id], in: folder).code == 0)
            #expect(try await service.get("/v1/stats", headers: bearer(second)).status == 401)
            #expect(try await service.get("/v1/stats").status == 401)
            // Neither a broken file nor none opens it again while it runs.
            let file = folder.file("store/keys.json")
            try Data("{".utf8).write(to: file)
            #expect(try await service.get("/v1/stats").status == 401)
            try FileManager.default.removeItem(at: file)
            #expect(try await service.get("/v1/stats").status == 401)
            #expect(try await service.stop() == 0)
        }
    }

    @Test("A file of keys that could not be read is read again, though it looks the same")
    func unreadOnce() async throws {
        try await withFolder { folder in
            let key = try await add("app", in: folder)
            let service = try await Service(in: folder)
            func status() async throws -> Int {
                try await Task.sleep(for: .milliseconds(30))
                return try await service.get("/v1/stats", headers: bearer(key)).status
            }
            #expect(try await status() == 200)
            let path = folder.file("store/keys.json")
            let content = try Data(contentsOf: path)
            /// Puts bytes into the same file, with the same time.
            func write(_ data: Data) throws {
                let file = try FileHandle(forWritingTo: path)
                try file.write(contentsOf: data)
                try file.close()
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 1_767_225_600)], ofItemAtPath: path.path)
            }
            try write(Data(repeating: 0x20, count: content.count))
            #expect(try await status() == 401)
            try write(content)
            #expect(try await status() == 200)
            #expect(try await service.stop() == 0)
        }
    }

    @Test(
        "A file of keys that is there and cannot be reached stops the start",
        arguments: [("nowhere.json", "leads nowhere"), ("keys.json", "symbolic links")])
    func unreachable(target: String, reason: String) async throws {
        try await withFolder { folder in
            _ = try folder.open("store")
            let link = folder.file("store/keys.json").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            let commands = [
                [], ["--keys", "store/keys.json", "--ephemeral"], ["keys", "list"], ["keys", "add", "--name", "a"],
                ["keys", "revoke", "a"],
            ]
            for command in commands {
                let store = command.contains("--ephemeral") ? [] : ["--store", "store"]
                let port = command.first == "keys" ? [] : ["--port", "0"]
                let refused = try await run(command + store + port, in: folder)
                #expect(refused.code == 1, "\(command)")
                #expect(refused.errors.contains("store/keys.json"), "\(refused.errors)")
                #expect(refused.errors.contains(reason), "\(refused.errors)")
                #expect(refused.output.isEmpty)
            }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
        }
    }

    @Test("While the file of keys cannot be reached, every request is refused")
    func unreachableLater() async throws {
        try await withFolder { folder in
            let service = try await Service(in: folder)
            #expect(try await service.get("/v1/stats").status == 200)
            let file = folder.file("store/keys.json")
            try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "keys.json")
            try await Task.sleep(for: .milliseconds(30))
            #expect(try await service.get("/v1/stats").status == 401)
            try FileManager.default.removeItem(at: file)
            #expect(try await service.get("/v1/stats").status == 401)
            #expect(try await service.stop() == 0)
        }
    }

    @Test("A file that --keys names must be there: the service says how to make one, and makes no store")
    func named() async throws {
        try await withFolder { folder in
            for arguments in [["--store", "store"], ["--ephemeral"]] {
                let refused = try await run(arguments + ["--port", "0", "--keys", "kyes.json"], in: folder)
                #expect(refused.code == 1)
                #expect(refused.errors.contains("no file of keys kyes.json"), "\(refused.errors)")
                #expect(refused.errors.contains("profiled keys add"))
            }
            #expect(!FileManager.default.fileExists(atPath: folder.file("store").path))
        }
    }

    @Test("Through a link the file itself is changed, and the link stays")
    func link() async throws {
        try await withFolder { folder in
            let key = try await add("app", in: folder)
            let file = folder.file("store/keys.json")
            let link = folder.file("link.json")
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "store/keys.json")
            let service = try await Service(in: folder)
            #expect(try await service.get("/v1/stats", headers: bearer(key)).status == 200)
            let added = try await run(["keys", "add", "--keys", "link.json", "--name", "second"], in: folder)
            let second = added.output.trimmingCharacters(in: .newlines)
            #expect(try await service.get("/v1/stats", headers: bearer(second)).status == 200)
            #expect(try await run(["keys", "revoke", "--keys", "link.json", "app"], in: folder).code == 0)
            #expect(try await service.get("/v1/stats", headers: bearer(key)).status == 401)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "store/keys.json")
            #expect(!FileManager.default.fileExists(atPath: link.path + ".lock"))
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.type] as? FileAttributeType == .typeRegular)
            #expect(try await service.stop() == 0)
        }
    }

    /// A library with which syncs of folders fail with this code.
    private func failingSync(_ code: String) throws -> [String: String] {
        try Shim(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <sys/stat.h>

            int fsync(int file) {
                int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
                struct stat status;
                if (fstat(file, &status) == 0 && S_ISDIR(status.st_mode)) return errno = \(code), -1;
                return real(file);
            }
            """
        ).environment()
    }

    @Test("A change whose new file's name may not be on the disk is told as made, and not as certain")
    func synced() async throws {
        try await withFolder { folder in
            let environment = try failingSync("EIO")
            let added = try await run(
                ["keys", "add", "--keys", "keys.json", "--name", "app"], in: folder, environment: environment)
            #expect(added.code == 1 && added.output.hasPrefix("plk_"), "\(added)")
            let revoked = try await run(
                ["keys", "revoke", "--keys", "keys.json", "app"], in: folder, environment: environment)
            #expect(revoked.code == 1 && revoked.output.isEmpty, "\(revoked)")
            for errors in [added.errors, revoked.errors] {
                #expect(errors.contains("keys.json is changed") && errors.contains("power cut"), "\(errors)")
                #expect(!errors.contains("cannot be written"))
            }
            let left = try await run(["keys", "list", "--keys", "keys.json"], in: folder)
            #expect(left.code == 0 && left.output.isEmpty, "\(left)")
        }
    }

    @Test("Where the file system has no syncs of folders, keys are changed all the same")
    func withoutSync() async throws {
        try await withFolder { folder in
            let environment = try failingSync("EINVAL")
            let added = try await run(
                ["keys", "add", "--store", "store", "--name", "app"], in: folder, environment: environment)
            #expect(added.code == 0 && added.output.hasPrefix("plk_"), "\(added)")
            let revoked = try await run(
                ["keys", "revoke", "--store", "store", "app"], in: folder, environment: environment)
            #expect(revoked.code == 0 && revoked.output.contains("is revoked"), "\(revoked)")
        }
    }

    @Test("profiled without keys does not listen where others can reach it")
    func loopback() async throws {
        try await withFolder { folder in
            let arguments = ["--store", "store", "--host", "0.0.0.0", "--port", "0"]
            let refused = try await run(arguments, in: folder)
            #expect(refused.code == 1)
            #expect(refused.errors.contains("there are no keys"), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.file("store").path))
            let ephemeral = try await run(["--ephemeral", "--host", "0.0.0.0", "--port", "0"], in: folder)
            #expect(ephemeral.code == 1)
            for host in ["::", "127.example.com", "8.8.8.8", "example.com"] {
                let refused = try await run(["--store", "store", "--host", host, "--port", "0"], in: folder)
                #expect(refused.errors.contains("there are no keys"), "\(host)")
            }
            for host in ["127.0.0.2", "localhost"] {
                let service = try await Service(in: folder, arguments: ["--host", host])
                #expect(try await service.stop() == 0)
            }

            let key = try await add("app", in: folder)
            let service = try await Service(in: folder, arguments: ["--host", "0.0.0.0"])
            #expect(try await service.get("/v1/stats").status == 401)
            #expect(try await service.get("/v1/stats", headers: bearer(key)).status == 200)
            #expect(try await service.stop() == 0)
            #expect(try await run(["keys", "revoke", "--store", "store", "app"], in: folder).code == 0)
            #expect(try await run(arguments, in: folder).code == 1)
        }
    }

    @Test("A file of its own serves a store for tests")
    func ownFile() async throws {
        try await withFolder { folder in
            let made = try await run(["keys", "add", "--keys", "k.json", "--name", "ci"], in: folder)
            #expect(made.code == 0)
            #expect(!FileManager.default.fileExists(atPath: folder.file("profilelog").path))
            let service = try await Service(in: folder, arguments: ["--ephemeral", "--keys", "k.json"])
            #expect(try await service.post("/v1/reset", "").status == 401)
            let key = made.output.trimmingCharacters(in: .newlines)
            #expect(try await service.post("/v1/reset", "", headers: bearer(key)).status == 200)
            #expect(try await service.stop() == 0)
        }
    }

    @Test("Several processes add keys at once, and all of them are there")
    func manyProcesses() async throws {
        try await withFolder { folder in
            let processes = try (0..<8).map { number in
                let own = folder.file("p\(number)")
                try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
                return try Service.launch(["keys", "add", "--keys", "../k.json", "--name", "n\(number)"], in: own)
            }
            for process in processes { #expect(try await Service.exitCode(of: process) == 0) }
            let listed = try await run(["keys", "list", "--keys", "k.json", "--json"], in: folder)
            let names = try listed.output.split(separator: "\n").map { try JSON.parse(String($0)).at("name").text }
            #expect(names.sorted() == (0..<8).map { "n\($0)" })
        }
    }

    @Test(
        "What cannot be done with keys is told",
        arguments: [
            (["add"], Int32(64), "--name"), (["add", "--name", ""], 64, "--name"),
            (["add", "--name", "a", "--permissions", "users.fly"], 64, "users.fly"),
            (["add", "--name", "a", "--permissions", ","], 64, "--permissions"),
            (["add", "--name", "a", "--keys", "missing/k.json"], 1, "cannot be written"),
            (["revoke", "nobody"], 1, "no ProfileLog store in ./profilelog"),
            (["revoke", "nobody", "--store", "store"], 1, "nobody"),
            (["revoke", "nobody", "--keys", "missing.json"], 1, "missing.json"),
            (["list"], 1, "no ProfileLog store in ./profilelog"),
            (["list", "--json", "--store", "missing"], 1, "no ProfileLog store in missing"),
            (["list", "--keys", "missing.json"], 1, "missing.json"),
            (["list", "--store", "."], 1, "not a ProfileLog store"),
            (["list", "--keys", "broken.json"], 1, "broken.json"),
            (["add", "--name", "a", "--keys", "broken.json"], 1, "broken.json"),
        ])
    func failures(arguments: [String], code: Int32, message: String) async throws {
        try await withFolder { folder in
            try Data("[]".utf8).write(to: folder.file("broken.json"))
            _ = try folder.open("store")
            let failed = try await run(["keys"] + arguments, in: folder)
            #expect(failed.code == code)
            #expect(failed.errors.contains(message), "\(failed.errors)")
            #expect(failed.output.isEmpty)
            let service = try await run(["--keys", "broken.json", "--store", "s", "--port", "0"], in: folder)
            #expect(service.code == 1)
        }
    }

    @Test("Every endpoint has a permission that a key can be given")
    func everyEndpoint() {
        let open = ["/exports/{file}"]
        for endpoint in API.table.endpoints where !open.contains(endpoint.path) {
            let isOpen = endpoint.takesAnyKey && endpoint.permission == nil
            #expect(isOpen || endpoint.permission.map(API.table.permissions.contains) == true, "\(endpoint.path)")
        }
        #expect(API.table.permissions.contains("users.track"))
        #expect(API.table.endpoint(.post, "/users/export/ids")?.permission == "users.export.ids")
        #expect(API.table.endpoint(.get, "/v1/devices/d")?.permission == "v1.read")
        #expect(API.table.endpoint(.post, "/v1/devices/d/launch")?.permission == "v1.write")
    }
}
