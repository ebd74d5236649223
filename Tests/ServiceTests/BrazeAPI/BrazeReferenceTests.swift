import Foundation
import ProfileLogRequests
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI

/// The whole reference of the platform: simulated endpoints are in it, and the others say that they are not simulated.
@Suite("The platform's reference")
struct BrazeReferenceTests {
    private static func body(_ method: String) -> [UInt8]? { method == "GET" ? nil : Array("{}".utf8) }

    @Test("Each endpoint is simulated, or has something to use in its place; each of ours is in the reference")
    func complete() {
        let entries = BrazeReference.entries
        #expect(Set(entries.map { "\($0.method) \($0.path)" }).count == entries.count)
        let ours = Set(BrazeAPI.endpoints.map { "\($0.method.rawValue) \($0.path)" }).subtracting([
            "GET /exports/{file}"
        ])
        #expect(Set(entries.filter { $0.instead == nil }.map { "\($0.method) \($0.path)" }) == ours)
        for entry in entries {
            #expect(entry.path.hasPrefix("/") && !entry.path.contains("//"), "\(entry.path)")
            #expect(entry.instead.map { $0.hasSuffix(".") } ?? true, "\(entry.path)")
        }
    }

    @Test("What is not simulated answers that Braze has it, with what to use; another method is told the right ones")
    func answers() async throws {
        try await withService { service in
            let missing = BrazeReference.entries.filter { $0.instead != nil }
            #expect(missing.count > 60)
            let methods = Dictionary(grouping: missing, by: \.path).mapValues { Set($0.map(\.method)) }
            for entry in missing {
                let path = entry.path.replacing(#/\{[a-z_]+\}/#, with: "x")
                // Another path of the reference may have no place for a name here.
                for path in [path, path + "/"] {
                    let answer = try await service.send(entry.method, path, body: Self.body(entry.method))
                    #expect(answer.status == 501, "\(entry.method) \(path)")
                    #expect(answer.json.at("code") == "not_simulated")
                    #expect(
                        answer.json.at("message").text
                            == "Braze has \(entry.method) \(entry.path); ProfileLog does not simulate it.")
                    #expect(answer.json.at("remedy").text == entry.instead)
                }
                for other in ["GET", "POST", "PUT", "DELETE", "PATCH"]
                where !methods[entry.path, default: []].contains(other) {
                    let answer = try await service.send(other, path, body: Self.body(other))
                    #expect(answer.status == 405, "\(other) \(path)")
                    for method in methods[entry.path] ?? [] {
                        #expect(answer.headers["allow"]?.contains(method) ?? false, "\(other) \(path)")
                        #expect(answer.json.at("message").text.contains(method))
                    }
                    #expect(answer.json.at("remedy").text == entry.instead)
                }
            }
        }
    }

    @Test("Of what is simulated another method is told the right one, and an unknown path is none of another method")
    func otherMethods() async throws {
        try await withService { service in
            for endpoint in BrazeAPI.endpoints where !endpoint.path.contains("{") {
                let other = endpoint.method == .get ? "POST" : "GET"
                let answer = try await service.send(other, endpoint.path, body: Self.body(other))
                #expect(answer.status == 405, "\(endpoint.path)")
                #expect(answer.json.at("remedy").text == "Send \(endpoint.method.rawValue).")
            }
            for method in ["GET", "POST", "PUT", "DELETE"] {
                let answer = try await service.send(method, "/none/at/all", body: Self.body(method))
                #expect(answer.status == 404, "\(method)")
                #expect(answer.json.at("code") == "unknown_path")
            }
            let near = try await service.send("POST", "/user/track", body: Array("{}".utf8))
            #expect(near.json.at("remedy").text.contains("Did you mean /users/track?"))
        }
    }

    @Test("The service's log has the path of what is not there, without what may be a value")
    func logged() async throws {
        try await withService(arguments: ["--log-level", "info"]) { service in
            let long = "/" + Array(repeating: "part", count: 30).joined(separator: "/")
            for path in [
                "/users/trakc", "/user/track/", "/users/jane@x.example/level", "/users/%1b%5b31m", "/users/a7731b",
                long,
                "/catalogs/secret-name/items",
            ] {
                _ = try await service.send("POST", path, body: Array("{}".utf8))
            }
            #expect(try await service.stop() == 0)
            let paths = service.messages.split(separator: "\n").filter { $0.contains(" request") }.compactMap { line in
                line.split(separator: " ").first { $0.hasPrefix("path=") }.map { String($0.dropFirst(5)) }
            }
            #expect(
                paths == [
                    "/users/trakc", "/user/track", "/users/…/level", "/users/…", "/users/…",
                    "/part/part/part/part/part/part/…", "/catalogs/{catalog_name}/items",
                ])
        }
    }

    @Test("A slash at the end of a path changes nothing")
    func slash() async throws {
        try await withService { service in
            let body = #"{"attributes":[{"external_id":"ana","level":1}]}"#
            for path in ["/users/track/", "//users/track//", "/users/track/?x=1"] {
                let answer = try await service.send("POST", path, body: Array(body.utf8))
                #expect(answer.status == 201, "\(path)")
            }
            #expect(try await service.get("/events/list/?page=0").status == 200)
            #expect(try await service.get("/").status == 200)
        }
    }

    @Test("docs/braze-compatibility.md has each endpoint that is not simulated, with what to use")
    func documented() throws {
        let text = try Repository.text("docs/braze-compatibility.md")
        let missing = BrazeReference.entries.filter { $0.instead != nil }
        let rows = Dictionary(grouping: missing) { [$0.path, $0.instead ?? ""] }.map { key, entries in
            "| `\(key[0])` | \(entries.map(\.method).joined(separator: ", ")) | \(key[1]) |"
        }.sorted()
        let documented = text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("| `/") }
        #expect(documented.sorted() == rows, "The rows of the table are:\n\(rows.joined(separator: "\n"))")
    }
}
