import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogNativeAPI
@testable import ProfileLogRequests

@Suite("Computed traits")
struct TraitTests {
    @Test(
        "Random traits of random people are what a plain walk over what they did gives, now and in the past",
        arguments: Thoroughness.seeds(short: 4, full: 40))
    func bruteForce(seed: UInt64) async throws {
        try await withPeople(seed: seed, steps: 160) { api, people, past, random in
            let traits = (0..<12).map { ComputedTrait.random(Name("t\($0)"), &random) }
            api.declare(traits)
            for (position, then) in past + [(try api.log.lastPosition().rawValue, people)] {
                let rows = try await rows(api, asOf: position)
                for trait in traits {
                    let expected = then.all.filter { !$0.isMerged }.map { ($0, trait.expected(of: $0)) }
                    for (person, value) in expected {
                        let row = rows.first { $0.at("braze_id").text == person.brazeID }
                        let got = row?.at("traits.\(trait.name.text)")
                        #expect(
                            got == (value.map(JSONValues.json) ?? .null),
                            "seed \(seed), as of \(position): \(trait.declaration.json) of \(person.id)")
                    }
                    // As a condition, where one scan of the log replaces the histories.
                    guard let wanted = expected.compactMap(\.1).randomElement(using: &random),
                        [.bool, .int, .double, .string].contains(wanted.kind)
                    else { continue }
                    let query = [
                        ("where", "traits.\(trait.name.text) = \(wanted.json)"), ("limit", "1000"),
                        ("as_of", "\(position)"),
                    ]
                    let (status, json) = await api.get("/v1/users", query.map { (name: $0.0, value: $0.1) })
                    #expect(status == 200, "\(json.json)")
                    let found = expected.filter {
                        $0.1?.asNumber == wanted.asNumber && ($0.1 == wanted || $0.1?.asNumber != nil)
                    }
                    #expect(
                        json.at("users").asArray?.map { $0.at("braze_id").text } == found.map(\.0.brazeID),
                        "seed \(seed), as of \(position): \(query)")
                }
            }
            // One user at a time, from their history only.
            for person in people.all where !person.isMerged {
                let json = await api.get("/v1/profile", [("user", "braze:\(person.brazeID)")]).json
                for trait in traits {
                    let value = trait.expected(of: person).map(JSONValues.json) ?? .null
                    #expect(json.at("traits.\(trait.name.text)") == value, "seed \(seed): \(trait.declaration.json)")
                }
            }
        }
    }

    private func rows(_ api: API, asOf position: UInt64) async throws -> [AttributeValue] {
        let query = [
            ("what", "profiles"), ("as_of", "\(position)"), ("limit", "10000"), ("time", People.now.rfc3339()),
        ]
        let (status, json) = await api.get("/v1/export", query.map { (name: $0.0, value: $0.1) })
        try #require(status == 200, "\(json.json)")
        return json.at("rows").asArray ?? []
    }

    @Test("A void event does not count, and what waits for a launch does not count yet")
    func void() async throws {
        try await withAPI { api in
            api.declare([
                ComputedTrait("n", .count, of: .event("won")),
                ComputedTrait("points", .sum, of: .event("won"), property: "points"),
                ComputedTrait("latest", .last, of: .event("won"), property: "points"),
                ComputedTrait("all", .unique, of: .event("won"), property: "points"),
            ])
            @Sendable func values() async -> [AttributeValue] {
                let json = await api.get("/v1/traits", [("user", "ana")]).json
                return (json.at("traits").asArray ?? []).map { $0.at("value") }
            }
            var positions: [AttributeValue] = []
            for points in [3, 5] {
                let body = #"{"user":"ana","name":"won","properties":{"points":\#(points)}}"#
                positions.append(await api.post("/v1/log/event", body).json.at("position"))
            }
            #expect(await values() == [2, 8, 5, .array([3, 5])])
            let save = #"{"user":"ana","name":"won","properties":{"points":7},"device":"phone"}"#
            #expect(await api.post("/v1/save/event", save).status == 200)
            #expect(await values() == [2, 8, 5, .array([3, 5])])
            #expect(await api.post("/v1/change-user", #"{"user":"ana"}"#).status == 200)
            #expect(await api.post("/v1/launch", "{}").status == 200)
            #expect(await values() == [3, 15, 7, .array([3, 5, 7])])
            let void = #"{"position":\#(positions[1].json),"reason":"wrong"}"#
            #expect(await api.post("/v1/void", void).status == 200)
            #expect(await values() == [2, 10, 7, .array([3, 7])])
            let then = await api.get("/v1/traits", [("user", "ana"), ("as_of", "version:3")]).json
            #expect(then.at("traits.1.value") == 8)
        }
    }

    @Test("What the rules block counts in no trait, search and series, as if it had never been sent")
    func blocked() async throws {
        /// Returns the answers of a store after `names` were saved, blocked or not, logged and flushed.
        func answers(_ names: [String]) async throws -> [AttributeValue] {
            var answers: [AttributeValue] = []
            try await withAPI { api in
                api.declareCounts()
                let users = ["ana", "bo", "cleo", "dan"]
                for user in users {
                    for name in names {
                        let body = #"{"user":"\#(user)","name":"\#(name)","device":"\#(user)"}"#
                        #expect(await api.post("/v1/save/event", body).status == 200)
                    }
                }
                var rules = FoldRules()
                rules.blockedEvents = ["won"]
                _ = try api.log.setRules(rules)
                for user in users {
                    let change = #"{"user":"\#(user)","device":"\#(user)"}"#
                    #expect(await api.post("/v1/change-user", change).status == 200)
                    #expect(await api.post("/v1/launch", #"{"device":"\#(user)"}"#).status == 200)
                    for name in names {
                        let body = #"{"user":"\#(user)","name":"\#(name)"}"#
                        #expect(await api.post("/v1/log/event", body).status == 200)
                    }
                    answers.append(await api.get("/v1/traits", [("user", user)]).json.at("traits"))
                }
                for condition in ["traits.won >= 1", "traits.played = 2"] {
                    let query = [(name: "where", value: condition)]
                    answers.append(.int(Int64(await api.get("/v1/users", query).json.at("users").count)))
                }
                if names.contains("won") {
                    let series = await api.get("/events/data_series", [("event", "won"), ("length", "1")]).json
                    #expect(series.at("data.0.count") == 0, "\(series.json)")
                }
            }
            return answers
        }
        let with = try await answers(["won", "played"])
        #expect(with.suffix(2) == [0, 4])
        #expect(try await with == answers(["played"]))
    }

    @Test("Rules of an altered history block for traits too")
    func blockedByWhatIf() async throws {
        try await withAPI { api in
            api.declareCounts()
            for name in ["won", "played"] {
                let body = #"{"user":"ana","name":"\#(name)"}"#
                #expect(await api.post("/v1/log/event", body).status == 200)
            }
            let rules = (name: "rules", value: #"{"blocklist":{"events":["won"]}}"#)
            let lost = await api.get("/v1/whatif/profiles", [rules, ("where", "traits.won >= 1")]).json
            #expect(lost.at("left") == 1 && lost.at("entered") == 0, "\(lost.json)")
            let kept = await api.get("/v1/whatif/profiles", [rules, ("where", "traits.played >= 1")]).json
            #expect(kept.at("left") == 0, "\(kept.json)")
        }
    }

    @Test("A window looks at recent events of a user who did the same long ago, and a segment asks for it")
    func window() async throws {
        var options = LogOptions()
        options.now = { People.now }
        let workspace = try Workspace(
            yaml: """
                traits: [{name: recent, function: count, event: won, within: 3d}]
                segments: [{id: s, name: S, all: [{trait: recent, greater: 1}]}]
                """)
        try await withAPI(options) { plain in
            let api = API(log: plain.log, workspace: workspace)
            for (user, days) in [("ana", 50), ("ana", 2), ("ana", 1), ("bo", 50), ("bo", 4), ("bo", 1)] {
                let time = People.daysAgo(days).rfc3339()
                let body = #"{"user":"\#(user)","name":"won","time":"\#(time)"}"#
                #expect(await api.post("/v1/log/event", body).status == 200)
            }
            for (user, count) in [("ana", 2), ("bo", 1)] {
                let json = await api.get("/v1/traits", [("user", user)]).json
                #expect(json.at("traits.0.value") == .int(Int64(count)), "\(user)")
            }
            let series = await api.get("/segments/data_series", [("segment_id", "s"), ("length", "1")]).json
            #expect(series.at("data.0.size") == 1, "\(series.json)")
        }
    }

    @Test("Numbers add up exactly; what is no number is skipped, and said")
    func sums() async throws {
        try await withAPI { api in
            api.declare([ComputedTrait("points", .sum, of: .event("won"), property: "points")])
            for points in ["9007199254740993", "1", #""many""#, "null", "true"] {
                _ = await api.post(
                    "/v1/log/event", #"{"user":"ana","name":"won","properties":{"points":\#(points)}}"#)
            }
            let json = await api.get("/v1/traits", [("user", "ana")]).json
            #expect(json.at("traits.0.value") == 9_007_199_254_740_994)
            #expect(json.at("traits.0.skipped") == 2)
        }
    }

    @Test("Different values are told apart up to a limit; later ones are skipped, and said")
    func limit() {
        for function in [ComputedTrait.Function.unique, .mostFrequent] {
            var fold = TraitFold(function)
            for value in 0..<1_500 { fold.add(.int(Int64(value)), at: Timestamp(rawValue: 0)) }
            fold.add(7, at: Timestamp(rawValue: 0))
            #expect(fold.skipped == 500)
            #expect(fold.value == (function == .unique ? .array((0..<1_000).map { .int($0) }) : 7))
        }
    }

    @Test("A declaration comes back as it was read")
    func declarations() throws {
        var random = SeededGenerator(seed: 5)
        let traits = (0..<100).map { ComputedTrait.random(Name("t\($0)"), &random) }
        #expect(try ComputedTrait.list(.array(traits.map { $0.declaration })) == traits)
    }
}

extension ComputedTrait {
    fileprivate static func random(_ name: Name, _ random: inout SeededGenerator) -> ComputedTrait {
        let window = random.next(below: 3) == 0 ? nil : Int64(random.next(below: 40) + 1) * Condition.day
        let function = Function.allCases[random.next(below: Function.allCases.count)]
        let canBeWhole = [.count, .first, .last].contains(function)
        let isWhole = canBeWhole && random.next(below: 2) == 0
        switch random.next(below: 5) {
        case 0, 1:
            let event = Name(People.names[random.next(below: 2)])
            return ComputedTrait(name, function, of: .event(event), property: isWhole ? nil : "score", within: window)
        case 2:
            return ComputedTrait(
                name, function, of: .purchase("p"), property: isWhole ? nil : "quantity", within: window)
        case 3:
            let property: Name = [.mostFrequent, .unique].contains(function) ? "product" : "revenue"
            return ComputedTrait(name, function, of: .purchases, property: isWhole ? nil : property, within: window)
        default:
            return ComputedTrait(name, canBeWhole ? function : .count, of: .launches, within: window)
        }
    }

    private typealias Done = (at: Timestamp, value: AttributeValue, times: Int, order: Int)

    /// The value for `person`, by a walk over what they did.
    fileprivate func expected(of person: People.Person) -> AttributeValue? {
        var done: [Done] = []
        switch source {
        case .event(let name):
            for event in person.events where event.name == name.text {
                let value = property == nil ? .date(OccurredAt(event.at)) : event.score
                if let value { done.append((event.at, value, 1, event.order)) }
            }
        case .purchase, .purchases:
            for bought in person.bought {
                let value: AttributeValue =
                    switch property {
                    case "quantity": .int(Int64(bought.quantity))
                    case "revenue": .double(2 * Double(bought.quantity))
                    case "product": .string(bought.product)
                    default: .date(OccurredAt(bought.at))
                    }
                done.append((bought.at, value, bought.quantity, bought.order))
            }
        case .launches: done = person.launches.map { ($0, .date(OccurredAt($0)), 1, 0) }
        case .sessions: break
        }
        if let window {
            done.removeAll { $0.at.rawValue < People.now.rawValue - window || $0.at > People.now }
        }
        done.sort { $0.order < $1.order }
        switch function {
        case .count: return .int(Int64(done.reduce(0) { $0 + $1.times }))
        case .sum:
            let numbers = done.map(\.value).filter { $0.asNumber != nil }
            let sum = numbers.reduce(0.0) { $0 + ($1.asNumber ?? 0) }
            return numbers.contains { if case .double = $0 { true } else { false } } ? .double(sum) : .int(Int64(sum))
        case .first: return done.min { ($0.at, $0.order) < ($1.at, $1.order) }?.value
        case .last: return done.max { ($0.at, $0.order) < ($1.at, $1.order) }?.value
        case .unique:
            var seen: [AttributeValue] = []
            for value in done.map(\.value) where !seen.contains(value) { seen.append(value) }
            return seen.isEmpty ? nil : .array(seen)
        case .mostFrequent:
            return done.map(\.value).max { left, right in
                let counts = [left, right].map { value in done.count { $0.value == value } }
                let last = [left, right].map { value in done.last { $0.value == value }?.order ?? 0 }
                return (counts[0], last[0]) < (counts[1], last[1])
            }
        }
    }
}

extension API {
    /// Declares computed traits.
    fileprivate func declare(_ traits: [ComputedTrait]) { store.traits = traits }

    /// Declares how often `won` and `played` happened, as traits of these names.
    fileprivate func declareCounts() {
        declare(["won", "played"].map { ComputedTrait($0, .count, of: .event($0)) })
    }
}

extension AttributeValue {
    fileprivate enum Kind { case bool, int, double, string, other }

    fileprivate var kind: Kind {
        switch self {
        case .bool: .bool
        case .int: .int
        case .double: .double
        case .string: .string
        default: .other
        }
    }
}
