import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

/// The writer's queue is bounded: what comes beyond is refused at once, with nothing stored.
///
///     writer   work ────────────── goes on ─┐
///     first    waits ───────────────────────┴─ 200
///     second   refused: 429
@Suite("More than the writer can hold")
struct OverloadTests {
    private let path = "/v1/log/event"

    @Test("A full writer is 429 with a remedy, what waits is stored all the same, and then there is room again")
    func overloaded() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let log = try folder.open("store")
        let writer = LogWriter(log, capacity: 1)
        let api = API(writer: writer)
        let gate = DispatchSemaphore(value: 0)
        let (began, beginning) = AsyncStream<Void>.makeStream()
        async let held: Void = writer.perform { _ in
            beginning.yield()
            gate.wait()
        }
        for await _ in began { break }
        // A queue that refuses nothing must make the test fail, and not wait for ever.
        let rescue = Task {
            try? await Task.sleep(for: .seconds(600))
            gate.signal()
        }
        defer { rescue.cancel() }

        // The writer is at work, so what comes now waits: one finds room. Which one is chance.
        let body = #"{"user":"ana","name":"played"}"#
        let answers = await withTaskGroup(of: APIAnswer.self) { group in
            for _ in 0..<5 {
                group.addTask { await api.answer(APIRequest(.post, path, body: Array(body.utf8))) }
            }
            var answers: [APIAnswer] = []
            for await answer in group {
                answers.append(answer)
                // All but the one that waits have been refused: let it go on.
                if answers.count == 4 { gate.signal() }
            }
            return answers
        }
        try await held
        #expect(answers.map(\.status).sorted() == [200, 429, 429, 429, 429])
        for refused in answers where refused.status == 429 {
            let json = try JSON.parse(refused.body)
            #expect(json.at("code") == "overloaded")
            #expect(json.at("error").text.contains("nothing was stored"))
            #expect(json.at("remedy") == "Try again in a moment.")
        }
        let again = await api.post(path, body)
        #expect(again.status == 200)
        #expect(again.json.at("position") == 3)
        await writer.close()

        let closed = await api.post(path, body)
        #expect(closed.status == 503)
        #expect(closed.json.at("code") == "closed")
        #expect(try log.lastPosition().rawValue == 3)
    }
}
