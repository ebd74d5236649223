import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogNativeAPI
@testable import ProfileLogRequests

@Suite("The user of an address when a write is stored")
struct MeantUserTests {
    private static let p = UserID.alias(label: "l", name: "p")

    /// Sends `body` to `path`, and has `change` come between what it is decided by and its commit: the writer does that
    /// first, and only when the write waits after it.
    private func answer(
        _ api: API, _ writer: LogWriter, _ path: String, _ body: String,
        behind change: @escaping @Sendable (EventLog) throws -> Void
    ) async throws -> (status: Int, json: AttributeValue) {
        let isHeld = Mutex(false)
        async let held: Void = writer.perform { log in
            isHeld.withLock { $0 = true }
            while api.activity.waiting == 0 { Thread.sleep(forTimeInterval: 0.001) }
            try change(log)
        }
        while !isHeld.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        let answer = await api.post(path, body)
        try await held
        return answer
    }

    /// Runs `body` with `p`, who is known by an alias and has x@y.example, and with jane, who has another address.
    private func withTwo(_ body: (API, LogWriter) async throws -> Void) async throws {
        try await withAPI { plain in
            let writer = LogWriter(plain.log)
            let api = API(writer: writer)
            for (user, address) in [("alias:l:p", "x@y.example"), ("jane", "j@z.example")] {
                let body = #"{"user":"\#(user)","attribute":"email","value":"\#(address)"}"#
                #expect(await api.post("/v1/log/user-attribute", body).status == 200)
            }
            try await body(api, writer)
        }
    }

    private static let attributes = #""user":"email:x@y.example","attributes":{"plan":"free"}"#
    private static let writes = [
        ("/v1/log/attributes", "{\(attributes)}"), ("/v1/save/attributes", #"{\#(attributes),"device":"d"}"#),
        ("/v1/batch", #"{"items":[{"kind":"log/attributes",\#(attributes)}]}"#),
    ]

    private static func merge(_ log: EventLog) throws {
        let merge = IdentityChange.merge(source: p, target: .externalID("jane"))
        _ = try log.commit(.identity(merge, context: EventContext(source: .rest)))
    }

    @Test(
        "A user who is merged or erased meanwhile takes nothing along", arguments: writes, [true, false])
    func mergedMeanwhile(write: (path: String, body: String), isMerged: Bool) async throws {
        try await withTwo { (api, writer) async throws in
            let (status, json) = try await answer(api, writer, write.path, write.body) { log in
                if isMerged {
                    try Self.merge(log)
                } else {
                    _ = try log.erase([Self.p], actor: "a test", reason: "asked to")
                }
            }
            #expect(status == 200, "\(json)")
            let user = write.path == "/v1/batch" ? json.at("results.0.user") : json.at("user")
            #expect(user.at("number") == 3)
            let jane = try #require(try api.log.find(.externalID("jane")))
            #expect(try api.log.named(api.log.profile(of: jane.number)).customAttributes.isEmpty)
            #expect(await api.get("/v1/profile", [("user", "email:x@y.example")]).json.at("user.number") == 3)
        }
    }

    @Test("An expected version counts for the user that the address resolves to at the commit")
    func expected() async throws {
        try await withTwo { (api, writer) async throws in
            let body = #"{\#(Self.attributes),"expect":2}"#
            let (status, json) = try await answer(api, writer, "/v1/log/attributes", body, behind: Self.merge)
            #expect(status == 412 && json.at("actual") == 0, "\(json)")
            #expect(try api.log.find(.email("x@y.example")) == nil)
        }
    }

    @Test("A braze_id that a request names itself is refused if it is no user's")
    func named() async throws {
        try await withTwo { (api, writer) async throws in
            let p = try #require(try api.log.find(Self.p))
            let user = #""user":"braze:\#(p.brazeID)","name":"e""#
            let item = #"{"kind":"log/attributes",\#(Self.attributes)}"#
            let (status, json) = try await answer(
                api, writer, "/v1/batch", #"{"items":[\#(item),{"kind":"log/event",\#(user)}]}"#
            ) { log in _ = try log.erase([Self.p], actor: "a test", reason: "asked to") }
            #expect(status == 404, "\(json)")
            #expect(try api.log.find(.email("x@y.example")) == nil)
        }
    }

    static let refusedVersions = [
        ("/v1/log/event", #"{"user":"email:x@y.example","name":"e","expect":7}"#),
        ("/v1/save/event", #"{"user":"email:x@y.example","device":"d","name":"e","expect":7}"#),
        ("/v1/batch", #"{"items":[{"kind":"log/event","user":"email:x@y.example","name":"e","expect":7}]}"#),
    ]

    @Test("A write by an outdated address with a refused version changes nothing", arguments: refusedVersions)
    func outdatedAndRefused(path: String, body: String) async throws {
        try await withAPI { (api) async throws in
            let moved = #"{"user":"email:x@y.example","attribute":"email","value":"new@y.example"}"#
            #expect(await api.post("/v1/log/user-attribute", moved).status == 200)
            let before = try (api.log.lastPosition(), api.log.find(.email("x@y.example")))
            let (status, json) = await api.post(path, body)
            #expect(status == 412 && json.at("actual") == 0, "\(json)")
            #expect(try api.log.lastPosition() == before.0 && api.log.find(.email("x@y.example")) == before.1)
            let accepted = body.replacingOccurrences(of: ",\"expect\":7", with: "")
            let (_, made) = await api.post(path, accepted)
            #expect((path == "/v1/batch" ? made.at("results.0.user") : made.at("user")).at("number") == 2, "\(made)")
        }
    }
}
