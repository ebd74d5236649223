import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Random bodies of requests")
struct BrazeFuzzTests {
    @Test(
        "Every body is answered; what is valid is stored, the rest is listed by its place",
        arguments: Thoroughness.seeds(short: 4, full: 40))
    func bodies(seed: UInt64) async throws {
        try await withAPI { api in
            var bodies = RandomBodies(seed: seed)
            for _ in 0..<150 {
                let body = bodies.next()
                let (status, json) = await api.post("/users/track", body.text)
                #expect([201, 400].contains(status), "\(body.text)")
                var listed: Int64 = Int64(json.at("errors").count)
                for array in ["attributes", "events", "purchases"] {
                    if case .int(let count) = json.at("\(array)_processed") { listed += count }
                }
                #expect(listed == Int64(body.objects), "\(body.text)")
                for index in 0..<json.at("errors").count {
                    let error = json.at("errors.\(index)")
                    let count = body.counts[error.at("input_array").text] ?? 0
                    guard case .int(let place) = error.at("index") else { continue }
                    #expect((0..<Int64(count)).contains(place))
                }
            }
            let export = await api.post("/users/export/ids", #"{"external_ids":["a","b","7"]}"#)
            #expect(export.status == 201)
        }
    }

    @Test("A body cut or changed at any byte is answered", arguments: Thoroughness.seeds(short: 2, full: 20))
    func bytes(seed: UInt64) async throws {
        try await withAPI { api in
            var bodies = RandomBodies(seed: seed)
            for number in 0..<200 {
                var bytes = Array(bodies.next().text.utf8)
                let place = bodies.random.next(below: bytes.count)
                if number % 2 == 0 {
                    bytes.removeLast(bytes.count - place)
                } else {
                    bytes[place] = UInt8(truncatingIfNeeded: bodies.random.next())
                }
                for path in [
                    "/users/track", "/users/track/sync", "/users/track/bulk", "/users/export/ids",
                    "/users/export/segment", "/subscription/status/set", "/v2/subscription/status/set",
                ] {
                    let status = await api.answer(APIRequest(.post, path, body: bytes)).status
                    #expect([201, 400].contains(status), "\(path) \(bytes)")
                    #expect(status == 400 || JSONOracle.accepts(bytes), "\(path) \(bytes)")
                }
            }
        }
    }

    @Test(
        "What is no JSON is refused, whatever comes before the fault",
        arguments: Thoroughness.seeds(short: 4, full: 40))
    func behindOddValues(seed: UInt64) async throws {
        try await withAPI { api in
            var bodies = RandomBodies(seed: seed)
            for _ in 0..<150 {
                var bytes = Array(bodies.nextBehindOddValue().utf8)
                let place = bodies.random.next(below: bytes.count)
                switch bodies.random.next(below: 3) {
                case 0: bytes.remove(at: place)
                case 1: bytes[place] = Array(#"{}[]":,0n\."#.utf8)[bodies.random.next(below: 11)]
                default: bytes.insert(Array(#"{}[]":,0n\."#.utf8)[bodies.random.next(below: 11)], at: place)
                }
                let status = await api.answer(APIRequest(.post, "/users/track", body: bytes)).status
                let text = String(decoding: bytes, as: UTF8.self)
                #expect([201, 400].contains(status) && (status == 400 || JSONOracle.accepts(bytes)), "\(text)")
            }
        }
    }

    @Test(
        "Requests that change who is who are answered, cut or changed at any byte",
        arguments: Thoroughness.seeds(short: 2, full: 20))
    func identities(seed: UInt64) async throws {
        try await withAPI { api in
            var script = IdentityScript(seed: seed)
            for number in 0..<200 {
                let step = script.next()
                var bytes = Array(step.body.utf8)
                let place = script.random.next(below: bytes.count)
                switch number % 3 {
                case 0: bytes.removeLast(bytes.count - place)
                case 1: bytes[place] = UInt8(truncatingIfNeeded: script.random.next())
                // A value, or the end of one, where something else was meant.
                default: bytes[place] = Array(#"{}[]":,0n"#.utf8)[script.random.next(below: 9)]
                }
                for path in [step.path, "/users/alias/new", "/users/identify", "/users/merge"] {
                    let status = await api.answer(APIRequest(.post, path, body: bytes)).status
                    #expect([201, 202, 400].contains(status), "\(path) \(bytes)")
                }
            }
        }
    }
}

@Suite("Random requests about subscriptions")
struct SubscriptionFuzzTests {
    @Test(
        "A random body is answered, changes only the users and states that it names, and lists who was skipped",
        arguments: UInt64(0)..<6)
    func bodies(seed: UInt64) async throws {
        try await withAPI { plain in
            let api = try plain.under(
                "subscription_groups: [{id: g, name: G, channel: email}, {id: h, name: H, channel: sms}]")
            _ = await api.post(
                "/users/track",
                #"{"attributes":[{"external_id":"a","email":"a@b.example"},{"external_id":"b","phone":"+4930123456"}]}"#
            )
            var random = SeededGenerator(seed: seed)
            func pick(_ words: [String]) -> String { words[random.next(below: words.count)] }
            for _ in 0..<150 {
                let people = [#""a""#, #"["a","b"]"#, #"["nobody"]"#, "7", "null", "{}", "[[]]", "[]", #"[null,"a"]"#]
                let group = [
                    #""subscription_group_id":\#(pick([#""g""#, #""h""#, #""no""#, "7", "null"]))"#,
                    #""subscription_state":\#(pick([#""subscribed""#, #""unsubscribed""#, #""on""#, "true"]))"#,
                    #""external_id":\#(pick(people))"#, #""external_ids":\#(pick(people))"#,
                    #""emails":\#(pick(people + [#"["A@b.example"]"#, #""a@b.example""#]))"#,
                    #""phones":\#(pick(["null", "null", #"["+49 30 123456"]"#]))"#,
                ].shuffled(using: &random).dropLast(random.next(below: 3)).joined(separator: ",")
                let isNew = Bool.random(using: &random)
                let (status, json) = await api.post(
                    isNew ? "/v2/subscription/status/set" : "/subscription/status/set",
                    isNew ? #"{"subscription_groups":[{\#(group)}]}"# : "{\(group)}")
                #expect([201, 400].contains(status), "\(group)")
                #expect(!json.at("message").text.isEmpty)
            }
            let users = try api.log.userCount()
            #expect(users == 2)
            let (status, json) = await api.get(
                "/subscription/user/status", [("external_id", "a"), ("external_id", "b")])
            #expect(status == 200)
            #expect(json.at("total_count") == 2)
        }
    }
}

/// Track requests from a seed: keys that mean something, with values that may not fit them.
private struct RandomBodies {
    var random: SeededGenerator

    struct Body {
        var text: String
        var counts: [String: Int]
        var objects: Int { counts.values.reduce(0, +) }
    }

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let keys = [
        "external_id", "user_alias", "braze_id", "email", "phone", "_update_existing_only", "_merge_objects",
        "push_token_import", "name", "time", "app_id", "properties", "product_id", "currency", "price", "quantity",
        "first_name", "dob", "gender", "country", "current_location", "push_tokens", "subscription_groups",
        "date_of_first_session", "x", "y", "", "$x", "a.b",
    ]
    private static let scalars = [
        "null", "true", "false", "0", "7", "-1", "1.5", "1e308", "9223372036854775807", #""""#, #""a""#, #""b""#,
        #""EUR""#, #""2026-01-01""#, #""0000-01-01""#, #""9999-12-31T23:59:59Z""#, #""a@b.example""#, #""+49 30 1""#,
        #""M""#,
        #""é\u0000👩‍👩‍👧""#, #"{"alias_name":"n","alias_label":"l"}"#, #"{"inc":1}"#, #"{"inc":9223372036854775807}"#,
        #"{"add":["a"],"remove":["b"]}"#, #"{"add":1}"#, #"{"$add":[{"id":1}]}"#, #"{"$remove":[{}]}"#,
        #"{"$update":[{"$identifier_key":"id","$identifier_value":1,"$new_object":{"z":[1]}}]}"#,
        #"{"$time":"2026-01-01"}"#, #"{"longitude":1,"latitude":2}"#, "[]", "{}",
    ]
    /// JSON by its grammar, which no value of ours can hold.
    private static let odd = [
        "1e400", "-123456789012345678901", #""\ud800""#, #"{"k":1,"k":[]}"#,
        String(repeating: "[", count: 80) + String(repeating: "]", count: 80),
    ]

    private mutating func pick(_ from: [String]) -> String { from[random.next(below: from.count)] }

    private mutating func value(depth: Int) -> String {
        switch random.next(below: depth > 3 ? 6 : 9) {
        case 6: "[" + (0..<random.next(below: 4)).map { _ in value(depth: depth + 1) }.joined(separator: ",") + "]"
        case 7: object(depth: depth + 1, required: [])
        default: pick(random.next(below: 60) == 0 ? Self.odd : Self.scalars)
        }
    }

    private mutating func object(depth: Int, required: [String]) -> String {
        var keys: Set<String> = []
        for _ in 0..<random.next(below: 6) { keys.insert(pick(Self.keys)) }
        var members = keys.sorted().map { "\"\($0)\":" + value(depth: depth) }
        members += required.filter { key in !keys.contains { key.hasPrefix("\"\($0)\"") } }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// A body whose first object has a value that no value of ours can hold, and another one after it.
    mutating func nextBehindOddValue() -> String {
        let odd = #"{"external_id":"a","x":\#(pick(Self.odd)),"y":\#(value(depth: 2))}"#
        return #"{"attributes":[\#(odd),{"external_id":"b","z":\#(value(depth: 2))}],"partner":"p"}"#
    }

    mutating func next() -> Body {
        var counts: [String: Int] = [:]
        var arrays: [String] = []
        for array in ["attributes", "events", "purchases"] {
            let count = random.next(below: 4)
            counts[array] = count
            let objects = (0..<count).map { _ in
                let whole = [
                    #""external_id":"a""#, #""name":"e""#, #""time":"2026-01-01""#, #""product_id":"p""#,
                    #""currency":"EUR""#, #""price":1"#,
                ]
                return object(depth: 0, required: random.next(below: 3) == 0 ? [] : whole)
            }
            arrays.append("\"\(array)\":[" + objects.joined(separator: ",") + "]")
        }
        return Body(text: "{" + arrays.joined(separator: ",") + "}", counts: counts)
    }
}
