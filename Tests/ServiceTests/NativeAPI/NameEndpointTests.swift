import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("GET /v1/names")
struct NameEndpointTests {
    private func names(_ api: API, _ query: (name: String, value: String)...) async -> [String] {
        let (status, json) = await api.get("/v1/names", query)
        #expect(status == 200, "\(json.json)")
        guard case .array(let names) = json.at("names") else { return [] }
        return names.map { "\($0.at("kind").text) \($0.at("name").text)" }
    }

    private func fill(_ api: API) async {
        for (path, body) in [
            ("/v1/log/event", #"{"user":"ana","name":"played song"}"#),
            ("/v1/log/event", #"{"user":"ana","name":"plan"}"#), ("/v1/log/event", #"{"user":"ana","name":"Plan"}"#),
            ("/v1/log/attributes", #"{"user":"ana","attributes":{"plan":"free","level":1}}"#),
            ("/v1/log/purchase", #"{"user":"ana","product":"plum","currency":"EUR","price":1}"#),
            ("/v1/save/event", #"{"user":"ana","device":"plastic phone","name":"pluck"}"#),
            ("/v1/messages", #"{"messages":[{"id":"please","trigger_conditions":[{"type":"open"}]}]}"#),
        ] {
            let answer = await api.post(path, body)
            #expect(answer.status == 200, "\(path): \(answer.json.json)")
        }
    }

    @Test("Names come by their bytes, of all kinds or of some, and a name of two kinds twice")
    func answer() async throws {
        try await withAPI { api in
            await fill(api)
            let all = [
                "event plan", "attribute plan", "device plastic phone", "event played song", "message please",
                "product plum",
            ]
            #expect(await names(api, ("prefix", "pl")) == all)
            #expect(await names(api, ("prefix", "pl"), ("kind", "attribute")) == ["attribute plan"])
            #expect(await names(api, ("prefix", "pl"), ("kind", "product,device")) == [all[2], all[5]])
            #expect(await names(api, ("prefix", "pl"), ("kind", "product"), ("kind", "device")) == [all[2], all[5]])
            #expect(await names(api, ("prefix", "coun")) == ["user_attribute country"])
            #expect(await names(api, ("kind", "event")) == ["event Plan", "event plan", "event played song"])
            let page = await api.get("/v1/names", [("prefix", "pl"), ("limit", "2")]).json
            #expect(page.at("more") == true && page.at("names").count == 2)
            #expect(page.at("names.1.kind") == "attribute")
            #expect(await api.get("/v1/names", [("prefix", "pl"), ("limit", "6")]).json.at("more") == false)
            #expect(await api.get("/v1/names", [("prefix", "zz")]).json.at("note") == "No names match `prefix`.")
        }
    }

    @Test("A saved event is a name when a launch flushes it, a void or erased one no more")
    func effect() async throws {
        try await withAPI { api in
            await fill(api)
            #expect(await names(api, ("prefix", "plu"), ("kind", "event")).isEmpty)
            #expect(await api.post("/v1/devices/plastic%20phone/launch", "{}").status == 200)
            #expect(await names(api, ("prefix", "plu"), ("kind", "event")) == ["event pluck"])
            #expect(await api.post("/v1/void", #"{"position":2,"reason":"test"}"#).status == 200)
            #expect(await names(api, ("prefix", "play")).isEmpty)
            #expect(await api.post("/v1/erase", #"{"user":"ana","reason":"test"}"#).status == 200)
            #expect(await names(api, ("prefix", "pl"), ("kind", "event,attribute,product")).isEmpty)
        }
    }

    @Test(
        "A parameter that does not fit is refused by name",
        arguments: [
            ("kind", "evnt", "Did you mean event?"), ("limit", "0", "Correct it"),
            ("after", "1", "The parameters are"),
        ])
    func refusals(name: String, value: String, says: String) async throws {
        try await withAPI { api in
            await fill(api)
            let (status, json) = await api.get("/v1/names", [(name, value)])
            #expect(status == 400 && json.at("place").text == name, "\(json.json)")
            #expect(json.at("remedy").text.contains(says), "\(json.json)")
        }
    }

    @Test(
        "Whatever was asked before and is stored between, the names are those of the log",
        arguments: Thoroughness.seeds(short: 4, full: 40))
    func kept(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var options = LogOptions()
        options.indexLag = 16
        try await withAPI(options) { api in
            for step in 0..<60 {
                let (user, name) = (random.next(below: 4), random.next(below: 12))
                switch random.next(below: 8) {
                case 0: _ = await api.post("/v1/erase", #"{"user":"u\#(user)","reason":"test"}"#)
                case 1:
                    let position = random.next(below: 40) + 1
                    _ = await api.post("/v1/void", #"{"position":\#(position),"reason":"test"}"#)
                case 2: try api.log.writeIndex()
                default: _ = await api.post("/v1/log/event", #"{"user":"u\#(user)","name":"e\#(name)"}"#)
                }
                guard random.next(below: 3) == 0 else { continue }
                let fresh = try api.log.reader.state(overStore: CatalogueProjection.self).state
                let expected = api.log.reader.catalogueView(fresh).events.map(\.name.text).filter { !$0.isEmpty }
                let found = await names(api, ("kind", "event"))
                #expect(found == expected.map { "event \($0)" }, "seed \(seed), step \(step)")
            }
        }
    }
}
