import Dispatch
import Glibc
import ProfileLog
import Synchronization
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("What changes who is who is refused as a whole, or the answer says what was done")
struct BrazeIdentityRefusalTests {
    private func send(
        _ api: API, _ path: String, _ body: String, _ key: String? = nil
    ) async -> (status: Int, body: String) {
        let answer = await api.answer(APIRequest(.post, path, idempotencyKey: key, body: Array(body.utf8)))
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    private static func merge(_ updates: (source: String, target: String)...) -> String { merge(updates) }

    private static func merge(_ updates: [(source: String, target: String)]) -> String {
        let updates = updates.map {
            #"{"identifier_to_merge":\#($0.source),"identifier_to_keep":{"external_id":"\#($0.target)"}}"#
        }
        return #"{"merge_updates":[\#(updates.joined(separator: ","))]}"#
    }

    private static func byAlias(_ name: String) -> String { #"{"user_alias":\#(Wire.alias("l", name))}"# }

    private static func byMail(_ name: String) -> String {
        #"{"email":"\#(name)@x.example","prioritization":["unidentified"]}"#
    }

    /// One of several users, by the address s@x.example.
    private static let shared = #"{"email":"s@x.example","prioritization":["unidentified","most_recently_updated"]}"#

    /// The content of two requests under one key: the first stores one event, the second two.
    static let twins: [(path: String, first: String, second: String)] = [
        ("/users/merge", merge((byAlias("p"), "jane")), merge((byAlias("q"), "jane"), (byAlias("r"), "kim"))),
        ("/users/merge", merge((byMail("p"), "jane")), merge((byMail("q"), "jane"), (byMail("r"), "kim"))),
        (
            "/users/track", #"{"events":[{"external_id":"jane","name":"e","time":"2026-01-01"}]}"#,
            merge((byMail("q"), "jane"), (byAlias("r"), "kim"))
        ),
    ]

    @Test("Of two requests that come under one key at once, one does nothing", arguments: twins)
    func keyAtOnce(path: String, first: String, second: String) async throws {
        try await withAPI { plain in
            await plain.track(Wire.user("jane"), Wire.user("kim"))
            for name in ["p", "q", "r"] {
                await plain.track(Wire.aliasOnly("l", name, #""email":"\#(name)@x.example""#))
            }
            let before = try plain.log.lastPosition().rawValue
            let writer = LogWriter(plain.log)
            let api = API(writer: writer)
            let gate = DispatchSemaphore(value: 0)
            let (begins, begin) = AsyncStream<Void>.makeStream()
            async let held: Void = writer.perform { _ in
                begin.finish()
                gate.wait()
            }
            for await _ in begins {}
            async let one = send(api, path, first, "k")
            while api.activity.waiting < 1 { await Task.yield() }
            // Counted before it is in the queue.
            try await Task.sleep(for: .milliseconds(50))
            async let other = send(api, "/users/merge", second, "k")
            while api.activity.waiting < 2 { await Task.yield() }
            gate.signal()
            try await held
            let answers = await [one, other]
            let isFirstDone = answers[1].status == 409
            let (done, refused) = isFirstDone ? (answers[0], answers[1]) : (answers[1], answers[0])
            #expect([201, 202].contains(done.status) && !done.body.contains("dropped"), "\(done)")
            #expect(refused.status == 409 && refused.body.contains("nothing was stored"), "\(refused)")
            #expect(try api.log.lastPosition().rawValue == before + (isFirstDone ? 1 : 2))
            await writer.close()
        }
    }

    @Test("A request that has begun finds room in the writer's queue")
    func fullQueue() async throws {
        try await withAPI { plain in
            await plain.track(Wire.user("a"))
            let count = 12
            for name in 0..<count { await plain.track(Wire.aliasOnly("l\(name)", "n", #""email":"s@x.example""#)) }
            let body = Self.merge(Array(repeating: (Self.shared, "a"), count: count))
            let writer = LogWriter(plain.log, capacity: 1)
            let api = API(writer: writer)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        while !Task.isCancelled {
                            try? await writer.perform { _ in }
                            await Task.yield()
                        }
                    }
                }
                defer { group.cancelAll() }
                var answer = (status: 429, body: "")
                while answer.status == 429 {
                    let last = try api.log.lastPosition()
                    answer = await send(api, "/users/merge", body)
                    if answer.status == 429 {
                        #expect(try api.log.lastPosition() == last)
                        #expect(answer.body.contains("nothing was stored"))
                    }
                }
                #expect(answer == (202, #"{"message":"success"}"#))
            }
            await writer.close()
        }
    }

    @Test("What ends a request in its middle is reported with what was done and what was not", arguments: ["k", nil])
    func endsInTheMiddle(key: String?) async throws {
        // Without its lock file the store takes no writes; nil until the next commit is the last.
        let lastCommit = Mutex<String?>(nil)
        var options = LogOptions()
        options.onCommit = { _ in
            lastCommit.withLock { file in
                if let lock = file { rename(lock, lock + ".away") }
                file = nil
            }
        }
        try await withAPI(options) { api in
            let lock = api.log.path + "/lock.mdb"
            await api.track(Wire.user("a"))
            for name in ["1", "2", "3"] { await api.track(Wire.aliasOnly("l\(name)", name, #""email":"s@x.example""#)) }
            let missing = (source: Self.byAlias("none"), target: "a")
            let body = Self.merge(missing, (Self.shared, "a"), (Self.shared, "a"))
            rename(lock, lock + ".away")
            let refused = await send(api, "/users/merge", body, key)
            #expect(refused.status == 503 && refused.body.contains("takes no writes"))
            #expect(!refused.body.contains("dropped"))
            rename(lock + ".away", lock)
            lastCommit.withLock { $0 = lock }
            let last = try api.log.lastPosition().rawValue
            let ended = await send(api, "/users/merge", body, key)
            #expect(try api.log.lastPosition().rawValue == last + 1)
            let json = try JSON.parse(Array(ended.body.utf8))
            let remedy = json.at("remedy").text
            #expect(ended.status == 503 && json.at("code") == "files_changed")
            #expect(json.at("message").text.hasSuffix("so it takes no writes. Items that were done: 1 of 3."))
            let nobody = #"{"reason":"no such user exists","input_array":"merge_updates","index":0}"#
            let notDone = #"{"reason":"was not done","input_array":"merge_updates","index":2}"#
            #expect(ended.body.hasSuffix(#","dropped":[\#(nobody),\#(notDone)]}"#))
            #expect(remedy.hasSuffix(key == nil ? "`dropped` names." : "not done again."))
            rename(lock + ".away", lock)
            let rest = key == nil ? Self.merge(missing, (Self.shared, "a")) : body
            #expect(
                await send(api, "/users/merge", rest, key)
                    == (202, #"{"message":"success","dropped":[\#(nobody)]}"#))
            #expect(await api.export(#""email_address":"s@x.example""#).count == 2)
        }
    }

    @Test("What is stored is counted, however it was decided")
    func counted() async throws {
        try await withAPI { api in
            await api.track(Wire.user("a"))
            for name in ["p", "q"] { await api.track(Wire.aliasOnly("l", name, #""email":"\#(name)@x.example""#)) }
            func counts() -> [Int] { [api.activity.appends, api.activity.events] }
            let before = counts()
            let body = Self.merge((Self.byAlias("p"), "a"), (Self.byMail("q"), "a"), (Self.byAlias("none"), "a"))
            let stored = before.map { $0 + 2 }
            #expect(await send(api, "/users/merge", body, "k").status == 202)
            #expect(counts() == stored)
            // Again, and one that changes nothing.
            #expect(await send(api, "/users/merge", body, "k").status == 202)
            #expect(await send(api, "/users/merge", Self.merge((#"{"external_id":"a"}"#, "a"))).status == 202)
            #expect(counts() == stored)
        }
    }

    @Test("An item with an unknown outcome is reported as that")
    func unknownOutcome() async throws {
        try await withAPI { api in
            let items = ["p", "q", "r"].enumerated().map { index, name in
                let change = IdentityChange.merge(source: .alias(label: "l", name: name), target: .externalID("a"))
                return IdentityItem(change: .fixed(change), array: "merge_updates", index: index)
            }
            let request = APIRequest(.post, "/users/merge")
            var run = try IdentityRun(items, of: request, api.store)
            let unknown = AppendError.outcomeUnknown(code: 5)
            run.note(.success((true, nil)), at: 0)
            run.note(.failure(unknown), at: 1)
            #expect(run.isBegun)
            let apiError = run.apiError(unknown)
            #expect(apiError.status == 503 && apiError.error.hasSuffix("Items that were done: 1 of 3."))
            #expect(apiError.dropped.map(\.reason) == ["whether it was done is unknown", "was not done"])
            #expect(apiError.dropped.map(\.index) == [1, 2])
        }
    }
}
