import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

/// Requests under a key about several people, one of them erased. The note of the first answer is stored with
/// an event of another user.
@Suite("The note of a request names no user who was erased")
struct ErasedNoteTests {
    private static let cancelled =
        #""name":"ecommerce.order_cancelled","time":"2026-01-01","properties":{"order_id":"o","cancel_reason":"r","#
        + #""total_value":1,"currency":"EUR","products":[],"source":"s","canary-additional":1}"#

    /// Requests of which the first event is the first person's, and what the answer says about the others. Of tracked
    /// objects it names none under a key.
    static let requests: [(path: String, body: String, told: [String])] = [
        (
            "/users/track",
            """
            {"attributes":[{"external_id":"a","x.y":1,"gender":"X"},
                {"external_id":"canary-b","canary-field":{"a.b":1},"kept":1,\
                "canary-\(String(repeating: "long", count: 70))":1}],
             "events":[{"external_id":"canary-b",\(cancelled)},{"external_id":"canary-nobody",\(cancelled)},
                {"external_id":"canary-b","name":"e","time":"2026-01-01","properties":{"canary-property":[\(deep)],\
                "n":1}}],
             "purchases":[{"external_id":"canary-b","product_id":"p","currency":"EUR","price":"canary-price"}]}
            """, []
        ),
        (
            "/users/track",
            """
            {"attributes":[{"external_id":"a","n":1}],
             "events":[{"external_id":"canary-b","name":"e","time":"2026-01-01","properties":{"canary-twice":1,\
             "canary-twice":2}}]}
            """, []
        ),
        (
            "/users/track/bulk",
            #"{"attributes":[{"external_id":"a","n":1},{"external_id":"canary-b","canary-field":{"a.b":1}}]}"#, []
        ),
        (
            "/subscription/status/set",
            #"{"subscription_group_id":"g","subscription_state":"subscribed","external_id":["a","canary-nobody"]}"#,
            ["external_id[1]"]
        ),
        (
            "/v1/batch",
            """
            {"items":[{"kind":"log/event","user":"a","name":"e"},
                {"kind":"log/attributes","user":"canary-b","attributes":{"canary-field":{"inc":"x"}}},
                {"kind":"log/event","user":"canary-b","name":"e","canary-member":1}]}
            """, ["canary-field", "canary-member"]
        ),
    ]

    private static let deep = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)

    private func send(_ api: API, _ path: String, _ body: String) async -> String {
        let answer = await api.answer(APIRequest(.post, path, idempotencyKey: "k", body: Array(body.utf8)))
        return "\(answer.status) \(String(decoding: answer.body, as: UTF8.self))"
    }

    private func open(_ path: String) throws -> API {
        let groups = "subscription_groups: [{id: g, name: Group, channel: email}]"
        return API(log: try EventLog(path: path, create: true), workspace: try Workspace(yaml: groups))
    }

    @Test(
        "After compacting, the file has no byte of a note about the erased; a retry gets the same answer",
        arguments: requests.indices)
    func canary(index: Int) async throws {
        let (path, body, told) = Self.requests[index]
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let store = folder.file("store").path
        do {
            let api = try open(store)
            let other = try EventLog(path: store)
            await api.track(#"{"external_id":"a","old":1}"#, #"{"external_id":"canary-b","old":1}"#)
            let first = await send(api, path, body)
            for text in told { #expect(first.contains(text)) }
            #expect(!path.hasPrefix("/users/track") || !first.contains("canary"))
            #expect(await send(api, path, body) == repeated(first))
            #expect(await api.post("/users/delete", #"{"external_ids":["canary-b"]}"#).status == 201)
            let last = try api.log.lastPosition()
            #expect(await send(api, path, body) == repeated(first))
            #expect(await send(api, path, body + " ").hasPrefix("409"))
            #expect(try other.reader.events.append(underKey: "k")?.isErased == false)
            for log in [api.log, other] {
                #expect(try log.check().isSound)
                #expect(try log.lastPosition() == last)
            }
            #expect(try api.log.replay(verify: true).isEqual)
        }
        _ = try EventLog.compact(path: store)
        let file = try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
        #expect(file.range(of: Data("canary".utf8)) == nil)
    }

    @Test("A note from when they had names is read as it is")
    func older() async throws {
        try await withAPI { (api) async throws in
            let request = APIRequest(.post, "/users/track", idempotencyKey: "k", body: Array("{}".utf8))
            let answer =
                #"{"attributes_processed":1,"message":"success","errors":[{"type":"a fault","input_array":"events","#
                + #""index":0}],"#
                + #""dropped":[{"reason":"is odd","input_array":"attributes","index":0,"field":"a name"}]}"#
            var builder = api.log.prepare()
            try builder.leaveOut([], of: nil)
            let note = RequestNote(digest: RequestNote.digest(request), answer: Array(answer.utf8))
            _ = try api.log.commit(builder.finish(idempotencyKey: "k", note: note.bytes))
            let retry = await api.answer(request)
            #expect(retry.status == 201 && String(decoding: retry.body, as: UTF8.self) == answer)
        }
    }

    /// The answer to a retry: the note of a batch says that it is of a batch.
    private func repeated(_ answer: String) -> String {
        answer.replacingOccurrences(of: #""repeated":false"#, with: #""repeated":true"#)
    }
}
