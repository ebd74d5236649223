import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("POST /users/track/bulk")
struct BrazeBulkTests {
    private func objects(_ range: Range<Int>, user: String? = nil) -> String {
        range.map { #"{"external_id":"\#(user ?? "u\($0)")","n":\#($0)}"# }.joined(separator: ",")
    }

    private func events(_ range: Range<Int>) -> String {
        range.map { #"{"external_id":"u\#($0)","name":"e","time":"2026-01-01"}"# }.joined(separator: ",")
    }

    @Test("A thousand objects over the three arrays are one append")
    func thousand() async throws {
        try await withAPI { api in
            let body = #"{"attributes":[\#(objects(0..<600))],"events":[\#(events(0..<400))],"purchases":[]}"#
            let (status, json) = await api.post("/users/track/bulk", body)
            #expect(status == 201)
            #expect(json.at("attributes_processed") == 600)
            #expect(json.at("events_processed") == 400)
            #expect(json.at("message") == "success")
            let read1 = try api.log.userCount()
            #expect(read1 == 600)
            #expect(await api.post("/users/track", body).status == 400)
        }
    }

    @Test("A thousand and one are too many, as are a hundred and one about one user, under whatever type of ID")
    func tooMany() async throws {
        try await withAPI { api in
            for body in [
                #"{"attributes":[\#(objects(0..<1001))]}"#,
                #"{"attributes":[\#(objects(0..<600))],"events":[\#(events(0..<401))]}"#,
                #"{"attributes":[\#(objects(0..<100, user: "u1"))],"events":[\#(events(1..<2))]}"#,
                #"{"attributes":[\#(objects(0..<100, user: "7")),{"external_id":7,"x":1}]}"#,
            ] {
                let (status, json) = await api.post("/users/track/bulk", body)
                #expect(status == 400)
                #expect(json.at("message").text.hasPrefix("Max Input Length Exceeded"))
            }
            let read2 = try api.log.lastPosition()
            #expect(read2 == .start)
            #expect(
                await api.post("/users/track/bulk", #"{"attributes":[\#(objects(0..<100, user: "u1"))]}"#).status == 201
            )
        }
    }

    @Test("Of each of many events with too many properties the first that were sent are kept")
    func properties() async throws {
        try await withAPI { api in
            let many = (0..<257).reversed().map { #""p\#(1000 + $0)":0"# }.joined(separator: ",")
            let events = (0..<600).map {
                #"{"external_id":"u\#($0)","name":"e","time":"2026-01-01","properties":{\#(many)}}"#
            }
            let (status, json) = await api.post(
                "/users/track/bulk", #"{"events":[\#(events.joined(separator: ","))]}"#)
            #expect(status == 201)
            #expect(json.at("dropped").count == 600)
            for index in [0, 299, 599] { #expect(json.at("dropped.\(index).field") == "properties.p1000") }
        }
    }

    @Test("Two megabytes are too many")
    func bytes() async throws {
        try await withAPI { api in
            let padding = String(repeating: " ", count: 2 << 20)
            let (status, json) = await api.post(
                "/users/track/bulk", #"{"attributes":[{"external_id":"a"}]\#(padding)}"#)
            #expect(status == 413)
            #expect(json.at("code") == "too_large")
            let read3 = try api.log.lastPosition()
            #expect(read3 == .start)
        }
    }

    @Test("Refused objects are named by their place, and a key makes a retry change nothing")
    func refusedAndRetried() async throws {
        try await withAPI { api in
            let body = Array(#"{"attributes":[{"n":1},{"external_id":"a","n":{"inc":1}}]}"#.utf8)
            let request = APIRequest(.post, "/users/track/bulk", idempotencyKey: "k", body: body)
            let first = await api.answer(request)
            #expect(first.status == 201)
            let read4 = try JSON.parse(first.body).at("errors.0.index")
            #expect(read4 == 0)
            #expect(await api.answer(request).body == first.body)
            #expect(await api.exported("n") == 1)
            let other = APIRequest(.post, "/users/track", idempotencyKey: "k", body: body)
            #expect(await api.answer(other).status == 409)
        }
    }

    @Test("The limits of the workspace hold")
    func limits() async throws {
        try await withAPI { plain in
            let api = try plain.under(
                "limits: {objects_per_bulk_request: 3, objects_per_user_in_bulk: 2, objects_per_request: 1}")
            #expect(await api.post("/users/track/bulk", #"{"attributes":[\#(objects(0..<3))]}"#).status == 201)
            #expect(await api.post("/users/track/bulk", #"{"attributes":[\#(objects(0..<4))]}"#).status == 400)
            #expect(
                await api.post("/users/track/bulk", #"{"attributes":[\#(objects(0..<3, user: "a"))]}"#).status == 400)
            #expect(await api.post("/users/track", #"{"attributes":[\#(objects(0..<2))]}"#).status == 400)
        }
    }
}
