import Foundation
import ProfileLog
import ProfileLogRequests
import Synchronization
import TestSupport
import Testing

/// Long reads wait for each other, and nothing waits for them:
///
///     long     has the place ───────────────────┐
///     long     waits ───────────────────────────┴─ 200
///     long     refused: 503
///     short    200
///     write    done
@Suite("Long reads")
struct LongReadTests {
    // MARK: - Places

    /// A read that takes longer than its moment, and goes on when it is told to.
    private struct HeldRead: Sendable {
        private let gate = DispatchSemaphore(value: 0)

        func goOn() { gate.signal() }

        func answer() -> APIAnswer {
            do { try ReadBudget.current?.check() } catch { return APIError(error).answer }
            gate.wait()
            return .ok { $0.member("held", true) }
        }
    }

    /// No moment, one place, and room for one to wait.
    private static func onePlace() -> Reads {
        Reads(timeout: .seconds(3_600), moment: .seconds(-1), places: 1, mostWaiting: 1)
    }

    private func wait(for counts: (running: Int, waiting: Int), of reads: Reads) async throws {
        for _ in 0..<5_000 where (reads.counts.running, reads.counts.waiting) != counts {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect((reads.counts.running, reads.counts.waiting) == counts)
    }

    @Test("Of long reads one goes on, one waits, a third is refused; short reads and writes are answered all the while")
    func places() async throws {
        let reads = Self.onePlace()
        let (first, second, third) = (HeldRead(), HeldRead(), HeldRead())
        // Reads that are not bounded must make the test fail, and not wait for ever.
        let rescue = Task {
            try? await Task.sleep(for: .seconds(600))
            for read in [first, second, third] { for _ in 0..<9 { read.goOn() } }
        }
        defer { rescue.cancel() }
        async let firstAnswer = reads.answer(while: { true }) { first.answer() }
        try await wait(for: (1, 0), of: reads)
        async let secondAnswer = reads.answer(while: { true }) { second.answer() }
        try await wait(for: (1, 1), of: reads)

        let refusal = await #expect(throws: APIError.self) {
            _ = try await reads.answer(while: { true }) { third.answer() }
        }
        let refused = try #require(refusal).answer(in: .native)
        #expect((refused.status, refused.code) == (503, "too_many_reads"))
        #expect(refused.headers.contains { $0 == (name: "Retry-After", value: "5") })

        let short = try await reads.answer(while: { true }) { .ok { $0.member("short", true) } }
        #expect(short.status == 200)
        #expect(try await SlowPath.run { 7 } == 7)
        #expect((reads.counts.running, reads.counts.waiting) == (1, 1))

        second.goOn()
        first.goOn()
        #expect(try await (firstAnswer.status, secondAnswer.status) == (200, 200))
        #expect((reads.counts.running, reads.counts.waiting) == (0, 0))
    }

    @Test("A part of a stream waits for the place, and is not refused")
    func parts() async throws {
        let reads = Self.onePlace()
        let held = HeldRead()
        async let long = reads.answer(while: { true }) { held.answer() }
        try await wait(for: (1, 0), of: reads)
        async let one = reads.part(while: { true }) { 1 }
        async let two = reads.part(while: { true }) { 2 }
        try await wait(for: (1, 2), of: reads)
        held.goOn()
        #expect(try await (one, two) == (1, 2))
        #expect(try await long.status == 200)
    }

    // MARK: - The end of a read

    @Test("A read ends when its client has gone, and its place is free again")
    func gone() async throws {
        let reads = Self.onePlace()
        let checks = Mutex(0)
        let isWanted = { @Sendable in
            checks.withLock { checks in
                checks += 1
                return checks < 5
            }
        }
        let apiError = await #expect(throws: APIError.self) {
            _ = try await reads.answer(while: isWanted) {
                // It takes no notice of the first error.
                for _ in 0..<7 { try? ReadBudget.current?.check() }
                return .ok { $0.member("done", true) }
            }
        }
        #expect((apiError?.status, apiError?.code) == (499, "abandoned"))
        #expect(reads.counts.running == 0)
    }

    @Test("A wait for news takes nothing of a read's time")
    func waiting() throws {
        let budget = ReadBudget(.seconds(-1))
        #expect(throws: ReadError.tooLong(.seconds(-1))) { try budget.check() }
        let patient = ReadBudget(.seconds(3_600))
        patient.restart()
        try patient.check()
    }

    /// Reads that grow with a user or the store.
    static let reads: [(path: String, query: [(name: String, value: String)])] = [
        ("/v1/profile", [("user", "u"), ("as_of", "version:100")]),
        ("/v1/profile", [("user", "u"), ("order", "occurred")]),
        ("/v1/traits", [("user", "u")]), ("/v1/blame", [("user", "u")]),
        ("/v1/blame", [("user", "u"), ("log", "true")]), ("/v1/blame", [("user", "u"), ("as_of", "now")]),
        ("/v1/devices", [("as_of", "now")]),
        ("/v1/blame", [("user", "u"), ("field", "a"), ("log", "true")]),
        ("/v1/blame", [("user", "u"), ("field", "event:e")]),
        ("/v1/history", [("user", "u"), ("limit", "1000")]), ("/v1/history", [("user", "u"), ("field", "a")]),
        ("/v1/history", [("user", "u"), ("parts", "times")]),
        ("/v1/history", [("user", "u"), ("parts", "times"), ("merged", "true")]),
        ("/v1/events", [("user", "u"), ("limit", "1000")]), ("/v1/events", [("reverse", "true"), ("limit", "1000")]),
        ("/v1/events", [("user", "u"), ("reverse", "true"), ("limit", "1000")]),
        ("/v1/series", [("of", "late"), ("unit", "hour")]),
        ("/v1/diff", [("user", "u"), ("a", "version:1")]), ("/v1/diff", [("a", "1")]),
        ("/v1/events", [("limit", "1000")]), ("/v1/users", [("where", "custom.a > 7")]),
        ("/v1/users/explain", [("user", "u"), ("where", "events.e.first < 1h ahead")]),
        ("/v1/users", [("prefix", "u")]),
        ("/v1/series", [("of", "event:e"), ("length", "30")]), ("/v1/export", [("what", "events")]),
        ("/v1/export", [("what", "profiles")]), ("/v1/whatif", []),
        ("/v1/whatif/profiles", [("without", "name:e")]), ("/v1/rejected", []),
        ("/events/data_series", [("event", "e"), ("length", "30")]),
    ]

    @Test("Each read looks whether its time is up, and says so")
    func everyRead() async throws {
        var options = LogOptions()
        options.indexLag = 100_000
        try await withAPI(options) { api in
            for number in 0..<300 {
                let context = EventContext(source: .rest)
                _ = try api.log.append(
                    [
                        .customEventLogged(CustomEvent(name: "e", properties: [.init("p", .int(Int64(number)))])),
                        .customAttributesChanged([.init("a", .set(.int(Int64(number))))]),
                    ], to: .externalID(number % 5 == 0 ? "user \(number)" : "u"), context: context)
            }
            for (path, query) in Self.reads {
                let request = APIRequest(.get, path, query: query)
                let plain = await api.answer(request)
                #expect(plain.status == 200, "\(path) \(query): \(String(decoding: plain.body, as: UTF8.self))")
                let answer = await ReadBudget.$current.withValue(ReadBudget(.seconds(-1))) { await api.answer(request) }
                #expect((answer.status, answer.code) == (503, "read_too_long"), "\(path) \(query)")
                let json = try JSON.parse(answer.body)
                #expect(json.at("remedy").text.contains("--read-timeout"))
                #expect(answer.headers.contains { $0.name == "Retry-After" })
            }
        }
    }

    @Test("A log of values that would take too much memory is refused, and the value alone is told")
    func tooLarge() async throws {
        try await withAPI { api in
            func append(_ operations: [AttributeOperation]) throws {
                let events = operations.map { ProfileEvent.customAttributesChanged([.init("a", $0)]) }
                _ = try api.log.append(events, to: .externalID("u"))
            }
            let texts = (0..<90).map { AttributeValue.string(String(repeating: "x", count: 1_000) + "\($0)") }
            try append([.set(.array(texts))])
            // Each write shows the whole array: 280 MB.
            for round in 0..<31 { try append((0..<100).map { .arrayAdd([.string("\(round) \($0)")]) }) }
            let blame: [(name: String, value: String)] = [("user", "u"), ("field", "a")]
            let refused = await api.answer(APIRequest(.get, "/v1/blame", query: blame + [("log", "true")]))
            #expect((refused.status, refused.code) == (413, "too_large"))
            #expect(try JSON.parse(refused.body).at("remedy").text.contains("without the log"))
            #expect(await api.get("/v1/blame", blame).status == 200)
        }
    }

    // MARK: - In the service

    /// A user with an object of many members that was set often.
    private func largeStore(in folder: TemporaryFolder) throws {
        let log = try folder.open("store")
        for round in 0..<20 {
            let members = (0..<2_000).map { AttributeValue.Member(Name("m\($0)"), .int(Int64($0 + round))) }
            let object = AttributeValue.object(members.sorted { $0.key < $1.key })
            _ = try log.append([.customAttributesChanged([.init("a", .set(object))])], to: .externalID("u"))
        }
    }

    private func sample(_ name: String, _ service: Service) async throws -> Int {
        let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { Int($0.dropFirst(name.count + 1)) } ?? 0
    }

    /// The long reads that have a place, and those that wait, when `condition` accepts them; nil if it never does.
    private func longReads(
        _ service: Service, when condition: (_ running: Int, _ waiting: Int) -> Bool
    ) async throws -> (running: Int, waiting: Int)? {
        for _ in 0..<3_000 {
            let running = try await sample("profiled_long_reads_running", service)
            let waiting = try await sample("profiled_long_reads_waiting", service)
            if condition(running, waiting) { return (running, waiting) }
            try await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    @Test("Health, writes and short reads are answered before long reads, which end when their clients have gone")
    func service() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        try largeStore(in: folder)
        let service = try await Service(in: folder)
        var clients: [RawConnection] = []
        for _ in 0..<12 {
            let client = try RawConnection(service)
            client.send("GET /v1/blame?user=u&log=true HTTP/1.1\r\nHost: x\r\n\r\n")
            clients.append(client)
        }
        #expect(try await longReads(service) { $0 > 0 && $1 > 5 } != nil)
        #expect(try await service.get("/health/live").status == 200)
        #expect(try await service.get("/v1/profile?user=nobody").status == 404)
        #expect(try await service.post("/v1/log/event", #"{"user":"ana","name":"e"}"#).status == 200)
        #expect(try await sample("profiled_long_reads_waiting", service) > 0)
        clients = []
        #expect(try await longReads(service) { $0 == 0 && $1 == 0 } != nil)
        let abandoned = #"profiled_requests_total{method="GET",endpoint="/v1/blame",status="499"}"#
        #expect(try await sample(abandoned, service) > 0)
        #expect(try await service.stop() == 0)
    }
}
