import ProfileLog
import Testing

@testable import ProfileLogRequests

/// Runs `body` with people who did `steps` random things in a store with small lags, and with who they were at some
/// positions before.
func withPeople(
    seed: UInt64, steps: Int,
    _ body: (API, People, _ past: [(position: UInt64, people: People)], inout SeededGenerator) async throws -> Void
) async throws {
    var random = SeededGenerator(seed: seed)
    var options = LogOptions()
    options.indexLag = 16
    options.snapshotInterval = 4
    options.now = { People.now }
    try await withAPI(options) { api in
        var people = People()
        var past: [(position: UInt64, people: People)] = []
        for step in 0..<steps {
            try await people.act(api, &random)
            if step.isMultiple(of: 40) { past.append((try api.log.lastPosition().rawValue, people)) }
        }
        try await body(api, people, past, &random)
    }
}

/// Users of a random store in plain arrays: what the log is compared with.
struct People {
    /// 2026-03-01 at noon.
    static let now = Timestamp(rawValue: 1_772_366_400_000_000)

    struct Person {
        var id: String
        var brazeID = ""
        var isMerged = false
        var country: String?
        var custom: [String: AttributeValue] = [:]
        var events: [(name: String, at: Timestamp, score: AttributeValue?, order: Int)] = []
        var bought: [(product: String, at: Timestamp, quantity: Int, order: Int)] = []
        /// Saved events that wait for a launch, by device.
        var waiting: [(device: String, name: String, at: Timestamp, score: AttributeValue?)] = []
        var launches: [Timestamp] = []
        /// The devices that are theirs.
        var devices: [String] = []
    }

    private(set) var all: [Person] = []
    /// The effects so far: what comes later in the log has a higher number.
    private var effects = 0

    static func daysAgo(_ days: Int) -> Timestamp { Timestamp(rawValue: now.rawValue - Int64(days) * 86_400_000_000) }

    static let countries = ["DE", "FR", "PE"]
    static let plans = ["gold", "grey", "blue"]
    static let names = ["seen", "done"]

    /// Something happens to one of them, by the API.
    mutating func act(_ api: API, _ random: inout SeededGenerator) async throws {
        let alive = all.indices.filter { !all[$0].isMerged }
        guard let index = alive.randomElement(using: &random), all.count >= 12 || random.next(below: 3) > 0 else {
            let id = "u\(all.count)"
            await api.track(#"{"external_id":"\#(id)","made":true}"#)
            // Without a user on it, a device's first launch would make one.
            #expect(await api.post("/v1/change-user", #"{"user":"\#(id)","device":"d-\#(id)"}"#).status == 200)
            var person = Person(id: id, brazeID: try #require(try api.log.find(.externalID(id))).brazeID)
            person.custom["made"] = true
            person.devices = ["d-\(id)"]
            all.append(person)
            return
        }
        let id = all[index].id
        let at = Self.daysAgo(random.next(below: 40))
        let time = at.rfc3339()
        let name = Self.names[random.next(below: 2)]
        switch random.next(below: 10) {
        case 0:
            let country = Self.countries[random.next(below: 3)]
            await api.track(#"{"external_id":"\#(id)","country":"\#(country)"}"#)
            all[index].country = country
        case 1, 2:
            let (key, json, value) = Self.attribute(&random)
            await api.track(#"{"external_id":"\#(id)","\#(key)":\#(json)}"#)
            all[index].custom[key] = value
        case 3, 4:
            let score = Self.score(&random)
            let event = #"{"external_id":"\#(id)","name":"\#(name)","time":"\#(time)"\#(Self.properties(score))}"#
            #expect(await api.post("/users/track", #"{"events":[\#(event)]}"#).status == 201)
            effects += 1
            all[index].events.append((name, at, score, effects))
        case 5:
            let quantity = random.next(below: 3) + 1
            let purchase = #"{"external_id":"\#(id)","product_id":"p","currency":"EUR","price":2,"#
            #expect(
                await api.post(
                    "/users/track", #"{"purchases":[\#(purchase)"quantity":\#(quantity),"time":"\#(time)"}]}"#
                ).status == 201)
            effects += 1
            all[index].bought.append(("p", at, quantity, effects))
        case 6, 7:
            guard let device = all[index].devices.randomElement(using: &random) else { return }
            let score = Self.score(&random)
            let item =
                #"{"user":"\#(id)","device":"\#(device)","name":"\#(name)","#
                + #""time":"\#(time)"\#(Self.properties(score))}"#
            let saved = await api.post("/v1/save/event", item)
            #expect(saved.status == 200, "\(saved.json.json)")
            all[index].waiting.append((device, name, at, score))
        case 8:
            guard let device = all[index].devices.randomElement(using: &random) else { return }
            let launch = await api.post("/v1/launch", #"{"device":"\#(device)","time":"\#(time)"}"#)
            guard launch.status == 200 else { return }
            all[index].launches.append(at)
            for item in all[index].waiting where item.device == device {
                effects += 1
                all[index].events.append((item.name, item.at, item.score, effects))
            }
            all[index].waiting.removeAll { $0.device == device }
        default:
            guard alive.count > 6, let target = alive.randomElement(using: &random), target != index else { return }
            let merge =
                #"{"identifier_to_merge":{"external_id":"\#(id)"},"#
                + #""identifier_to_keep":{"external_id":"\#(all[target].id)"}}"#
            #expect(await api.post("/users/merge", #"{"merge_updates":[\#(merge)]}"#).status == 202)
            self.merge(index, into: target)
        }
    }

    private mutating func merge(_ index: Int, into target: Int) {
        let source = all[index]
        all[index].isMerged = true
        all[target].country = all[target].country ?? source.country
        all[target].custom.merge(source.custom) { own, _ in own }
        all[target].events += source.events
        all[target].bought += source.bought
        all[target].waiting += source.waiting
        all[target].launches += source.launches
        all[target].devices += source.devices
    }

    /// A property of an event; most often a number.
    private static func score(_ random: inout SeededGenerator) -> AttributeValue? {
        switch random.next(below: 6) {
        case 0: nil
        case 1: "none"
        case 2: .double(Double(random.next(below: 8)) / 4)
        default: .int(Int64(random.next(below: 4)))
        }
    }

    /// The member `properties` of an event with this score, with a comma before it.
    private static func properties(_ score: AttributeValue?) -> String {
        score.map { #","properties":{"score":\#($0.json)}"# } ?? ""
    }

    private static func attribute(_ random: inout SeededGenerator) -> (String, String, AttributeValue) {
        let number = random.next(below: 5)
        switch random.next(below: 5) {
        case 0: return ("level", "\(number)", .int(Int64(number)))
        case 1: return ("plan", "\"\(plans[number % 3])\"", .string(plans[number % 3]))
        case 2:
            let tags = plans.prefix(number % 4)
            let json = tags.map { "\"\($0)\"" }.joined(separator: ",")
            return ("tags", "[\(json)]", .array(tags.map { .string($0) }))
        case 3:
            let city = countries[number % 3]
            return ("address", #"{"city":"\#(city)"}"#, .object([.init("city", .string(city))]))
        default:
            let since = daysAgo(number * 7)
            return ("since", "\"\(since.rfc3339())\"", .date(OccurredAt(since)))
        }
    }
}
