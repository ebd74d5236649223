import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("Files of the console")
struct ConsoleTests {
    private static let folder = Repository.file("Sources/profiled/Console")

    /// A whole answer, as text, of a request that no client library would change.
    private func answer(
        _ service: Service, _ target: String, _ headers: String = "", method: String = "GET", host: String = "x"
    ) throws -> String {
        let connection = try RawConnection(service)
        connection.send("\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(headers)\r\n")
        return try #require(connection.readToEnd())
    }

    /// The value of a header in such an answer.
    private func header(_ name: String, of answer: String) -> String? {
        answer.components(separatedBy: "\r\n\r\n")[0].components(separatedBy: "\r\n").lazy.compactMap { line in
            line.lowercased().hasPrefix("\(name): ") ? String(line.dropFirst(name.count + 2)) : nil
        }.first
    }

    @Test("The console's page needs no key, and its headers let nothing in that is not from the service")
    func headers() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let keys = folder.file("keys.json").path
        #expect(try await run(["keys", "add", "--name", "k", "--keys", keys], in: folder).code == 0)
        let service = try await Service(in: folder, arguments: ["--ephemeral", "--keys", keys])
        for path in ["/console/", "/console/router.js", "/console/users/ana", "/console/nothing.js"] {
            let answer = try await service.get(path)
            #expect(answer.status == (path.contains("nothing") ? 404 : 200), "\(path)")
            #expect(
                answer.headers["content-security-policy"]
                    == "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                    + "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
                    + "require-trusted-types-for 'script'; trusted-types 'none'", "\(path)")
            #expect(answer.headers["x-content-type-options"] == "nosniff", "\(path)")
            #expect(answer.headers["referrer-policy"] == "no-referrer", "\(path)")
        }
        #expect(try await service.get("/v1/stats").status == 401)
        #expect(try await service.get("/").json.at("console") == "/console/")
        #expect(try await service.stop() == 0)
    }

    @Test("Every file of the console's folder is in the program, with its type, and the page names only files there")
    func files() async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
        #expect(names.contains("index.html") && names.contains("router.js"))
        let types = [
            "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
            "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
        ]
        try await withService(arguments: ["--ephemeral"]) { (service) async throws in
            for name in names {
                let answer = try await service.get("/console/\(name)")
                #expect(answer.status == 200, "\(name)")
                #expect(try answer.body == Array(Data(contentsOf: Self.folder.appending(path: name))), "\(name)")
                let type = try #require(types[name.components(separatedBy: ".")[1]])
                #expect(answer.headers["content-type"] == type, "\(name)")
            }
        }
        let page = try Repository.text("Sources/profiled/Console/index.html")
        for link in page.components(separatedBy: "\"./").dropFirst() {
            let name = link.components(separatedBy: "\"")[0]
            if name.contains(".") { #expect(names.contains(name), "\(name)") }
        }
        #expect(!page.contains("=\"/") && !page.contains("http"))
    }

    @Test("A version that the browser has is not sent again, packed or not")
    func versions() async throws {
        try await withService(arguments: ["--ephemeral"]) { (service) async throws in
            let packed = "Accept-Encoding: br, gzip;q=0.5\r\n"
            var tags: Set<String> = []
            for encoding in ["", packed, "Accept-Encoding: gzip;q=0\r\n"] {
                let first = try answer(service, "/console/app.css", encoding)
                #expect(first.hasPrefix("HTTP/1.1 200 "))
                #expect(header("content-encoding", of: first) == (encoding == packed ? "gzip" : nil))
                #expect(header("vary", of: first) == "Accept-Encoding")
                #expect(header("cache-control", of: first) == "no-cache")
                let tag = try #require(header("etag", of: first))
                tags.insert(tag)
                for known in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                    let again = try answer(service, "/console/app.css", "\(encoding)If-None-Match: \(known)\r\n")
                    #expect(again.hasPrefix("HTTP/1.1 304 "), "\(known)")
                    #expect(again.hasSuffix("\r\n\r\n"), "\(known)")
                    #expect(header("etag", of: again) == tag)
                }
                let other = try answer(service, "/console/app.css", "\(encoding)If-None-Match: \"other\"\r\n")
                #expect(other.hasPrefix("HTTP/1.1 200 "))
            }
            #expect(tags.count == 2, "The packed form is another version.")
            // The client library asks for gzip, and unpacks it.
            let css = try Data(contentsOf: Self.folder.appending(path: "app.css"))
            #expect(try await service.get("/console/app.css", headers: ["Accept-Encoding": "gzip"]).body == Array(css))
        }
    }

    @Test("An address of a place gets the page, whose links lead to the console's root from there")
    func places() async throws {
        try await withService(arguments: ["--ephemeral", "--base-url", "https://profiles.example/pre/fix"]) {
            (service) async throws in
            for (path, link) in [
                ("", "./"), ("events", "./"), ("users/", "../"), ("users/ana?at=12&field=level", "../"),
                ("users/a%2Fb%23%00..%2F..", "../"), ("users/a/b", "../../"), ("devices/x.y.js", "../"),
            ] {
                let page = try answer(service, "/console/\(path)")
                #expect(page.hasPrefix("HTTP/1.1 200 "), "\(path)")
                #expect(header("content-type", of: page) == "text/html; charset=utf-8", "\(path)")
                #expect(page.contains("href=\"\(link)app.css\""), "\(path)")
                #expect(page.contains("src=\"\(link)router.js\""), "\(path)")
            }
            let redirect = try answer(service, "/console")
            #expect(redirect.hasPrefix("HTTP/1.1 308 "))
            #expect(header("location", of: redirect) == "console/")
        }
    }

    @Test("Nothing outside of the console's folder is served, whatever the path")
    func traversal() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let files = folder.file("files")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        try Data("<title>mine</title>".utf8).write(to: files.appending(path: "index.html"))
        try Data("secret".utf8).write(to: folder.file("secret.js"))
        try Data("secret".utf8).write(to: files.appending(path: ".hidden.js"))
        let service = try await Service(in: folder, arguments: ["--ephemeral", "--console", files.path])
        for path in [
            "../secret.js", "..%2Fsecret.js", "%2e%2e/secret.js", "..", ".", "x/../../secret.js", "/etc/passwd",
            ".hidden.js", "..\\secret.js", "secret.js", "consoles", "%", "a.js/", "a.js%00.css",
        ] {
            let refused = try answer(service, "/console/\(path)")
            #expect(!refused.contains("secret\r\n") && !refused.hasSuffix("secret"), "\(path)")
            #expect(!refused.contains("root:"), "\(path)")
            #expect(refused.hasPrefix("HTTP/1.1 404 "), "\(path)")
        }
        #expect(try answer(service, "/consoles").hasPrefix("HTTP/1.1 404 "))
        #expect(try await service.stop() == 0)
    }

    @Test("With --console the files come from the folder, as they are at that moment; without a page it does not start")
    func folder() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let files = folder.file("files")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        let refused = try await run(["--ephemeral", "--console", files.path], in: folder)
        #expect(refused.code == 1)
        #expect(refused.errors.contains("has no index.html"))
        let page = files.appending(path: "index.html")
        try Data("<title>first</title>".utf8).write(to: page)
        let service = try await Service(in: folder, arguments: ["--ephemeral", "--console", files.path])
        let first = try answer(service, "/console/")
        #expect(first.hasSuffix("<title>first</title>"))
        try Data("<title>second</title>".utf8).write(to: page)
        let tag = try #require(header("etag", of: first))
        #expect(try answer(service, "/console/", "If-None-Match: \(tag)\r\n").hasSuffix("<title>second</title>"))
        try Data("new".utf8).write(to: files.appending(path: "new.js"))
        #expect(try answer(service, "/console/new.js").hasSuffix("new"))
        // What a clone's folder may also have is no file of the console.
        for other in ["notes.txt", "photo.png", "data.json", "new.js.map", "new", ".env", "tool.mjs"] {
            try Data("private".utf8).write(to: files.appending(path: other))
            #expect(try await service.get("/console/\(other)").status == 404, "\(other)")
        }
        for (name, type) in [("a.css", "text/css"), ("b.svg", "image/svg+xml"), ("c.html", "text/html")] {
            try Data("own".utf8).write(to: files.appending(path: name))
            let served = try answer(service, "/console/\(name)")
            #expect(header("content-type", of: served)?.hasPrefix(type) == true, "\(served)")
        }
        #expect(try await service.get("/console/router.js").status == 404)
        #expect(try await service.stop() == 0)
    }

    @Test("Files of the console know GET, HEAD and OPTIONS, and a page of another site does not get them")
    func methods() async throws {
        try await withService(arguments: ["--ephemeral"]) { (service) async throws in
            let head = try answer(service, "/console/", method: "HEAD")
            #expect(head.hasPrefix("HTTP/1.1 200 ") && head.hasSuffix("\r\n\r\n"))
            let page = try Repository.text("Sources/profiled/Console/index.html")
            #expect(header("content-length", of: head) == "\(page.utf8.count)")
            let post = try await service.post("/console/", "{}")
            #expect(post.status == 405 && post.headers["allow"] == "GET, HEAD")
            #expect(try await service.send("OPTIONS", "/console/x").headers["allow"] == "GET, HEAD, OPTIONS")
            let rebound = try answer(service, "/console/", "Sec-Fetch-Site: none\r\n", host: "evil.example")
            #expect(rebound.hasPrefix("HTTP/1.1 403 ") && rebound.contains("foreign_origin"))
            let own = try answer(service, "/console/", "Sec-Fetch-Site: none\r\n", host: "127.0.0.1:\(service.port)")
            #expect(own.hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("A page behind a proxy may write if --base-url names its origin, and no other page may")
    func origins() async throws {
        let body = #"{"user":"u","name":"n"}"#
        for (base, origin, status) in [
            ("https://Profiles.example/pre/fix", "https://profiles.example", 200),
            ("https://profiles.example/pre/fix", "https://evil.example", 403),
            ("https://profiles.example/pre/fix", "http://profiles.example", 403),
            ("https://profiles.example", "https://profiles.example.evil.example", 403),
            // Browsers omit the port of a scheme.
            ("https://profiles.example:443/pre", "https://profiles.example", 200),
            ("http://profiles.example:80", "http://profiles.example", 200),
            ("https://profiles.example:80", "https://profiles.example", 403),
            ("https://profiles.example:8443", "https://profiles.example:8443", 200),
        ] {
            try await withService(arguments: ["--ephemeral", "--base-url", base]) { (service) async throws in
                let answer = try await service.post("/v1/log/event", body, headers: ["Origin": origin])
                #expect(answer.status == status, "\(base) \(origin)")
            }
        }
    }

    @Test("Requests of the console are in the metrics as one path, and no ID is in the log")
    func log() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let service = try await Service(in: folder, arguments: ["--ephemeral", "--log-level", "info"])
        _ = try await service.get("/console/users/jane%40example.org")
        let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
        #expect(metrics.contains(#"profiled_requests_total{method="GET",endpoint="/console/",status="200"} 1"#))
        #expect(try await service.stop() == 0)
        #expect(service.messages.contains("path=/console/ "))
        #expect(!service.messages.contains("example.org"))
    }
}
