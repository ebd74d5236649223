import Foundation
import ProfileLog
import ProfileLogRequests
import Testing

@Suite("POST /v1/batch")
struct BatchTests {
    private let mixed = #"""
        {"items":[{"kind":"log/event","user":"a","name":"e"},{"kind":"log/event","user":"a","name":""},
        {"kind":"log/attributes","user":"b","attributes":{"n":{"add":[1],"remove":[2]}}},{"kind":"dance"},
        {"kind":"save/user-attribute","user":"c","device":"d","attribute":"gender","value":"F"},7,
        {"kind":"log/purchase","user":"a","product":"p","currency":"EUR","price":1,"quantity":"two"}]}
        """#

    private func send(_ api: API, _ body: String, key: String? = nil) async -> (status: Int, json: AttributeValue) {
        let answer = await api.answer(APIRequest(.post, "/v1/batch", idempotencyKey: key, body: Array(body.utf8)))
        return (answer.status, (try? JSON.parse(answer.body)) ?? .null)
    }

    @Test("What an import brings is stored as by the endpoint of its own, whatever the rules of the SDK say")
    func imported() async throws {
        try await withAPI { api in
            let item = #"{"kind":"save/user-attribute","user":"m","attribute":"email","value":"bad","imported":true}"#
            let (status, json) = await api.post("/v1/batch", #"{"items":[\#(item)]}"#)
            #expect(status == 200 && json.at("items.0.status") != "refused", "\(json)")
            #expect(await api.get("/v1/pending").json.at("total") == 1)
        }
    }

    @Test("What is in order is stored in one append, and every item has its result")
    func results() async throws {
        try await withAPI { (api) async throws in
            let (status, json) = await send(api, mixed)
            #expect(status == 200)
            #expect(json.at("stored") == 3 && json.at("refused") == 4)
            #expect(json.at("results").count == 7)
            #expect(json.at("results.0.user.id") == "a" && json.at("results.0.version") == 2)
            #expect(json.at("results.1.code") == "invalid" && json.at("results.1.index") == 1)
            #expect(json.at("results.2.user.id") == "b")
            #expect(json.at("results.3.place") == "kind")
            #expect(json.at("results.4.user.id") == "c")
            #expect(json.at("results.6.place") == "quantity")
            let last = try api.log.lastPosition().rawValue
            #expect(json.at("position") == .int(Int64(last)))
            #expect(json.at("results.4.position") == .int(Int64(last)))
            #expect(await api.get("/v1/profile", [("user", "b")]).json.at("custom_attributes.n.0") == 1)
            #expect(await api.get("/v1/pending").json.at("total") == 1)
        }
    }

    @Test("With `atomic` one item at fault keeps all from being stored, and so does a batch of nothing else")
    func atomic() async throws {
        try await withAPI { (api) async throws in
            let (status, json) = await send(api, String(mixed.dropLast()) + #","atomic":true}"#)
            #expect(status == 400)
            #expect(json.at("results").count == 7)
            #expect(json.at("results.0.code") == "not_stored")
            #expect(json.at("results.1.code") == "invalid")
            #expect(await send(api, #"{"items":[{"kind":"log/event"}]}"#).status == 400)
            #expect(try api.log.lastPosition() == .start)
        }
    }

    @Test("A repetition under the key stores nothing and answers as at first, refused items included")
    func retry() async throws {
        try await withAPI { (api) async throws in
            let first = await send(api, mixed, key: "k")
            let last = try api.log.lastPosition()
            let second = await send(api, mixed, key: "k")
            #expect(try api.log.lastPosition() == last)
            #expect(second.json.at("repeated") == true)
            #expect(second.json.at("results") == first.json.at("results"))
            #expect(await send(api, #"{"items":[{"kind":"log/event","user":"a","name":"x"}]}"#, key: "k").status == 409)
            #expect(
                await send(api, #"{"key":"k2","items":[{"kind":"log/event","user":"a","name":"x"}]}"#).status == 200)
        }
    }

    @Test(
        "A repetition after the erasure of its first person does not say that nothing was stored",
        arguments: ["a", "b"])
    func erased(user: String) async throws {
        try await withAPI { (api) async throws in
            let first = await send(api, mixed, key: "k")
            #expect(await api.post("/v1/erase", #"{"user":"\#(user)","reason":"asked to"}"#).status == 200)
            let last = try api.log.lastPosition()
            let (status, json) = await send(api, mixed, key: "k")
            #expect(try api.log.lastPosition() == last)
            #expect(status == 200 && json.at("repeated") == true)
            #expect(json.at("position") == first.json.at("position") && json.at("events") == first.json.at("events"))
            if user == "a" {
                #expect(json.at("erased") == true)
                for member in ["stored", "refused", "results"] { #expect(json.at(member) == .null) }
            } else {
                #expect(json.at("erased") == .null)
                #expect(json.at("stored") == 3 && json.at("refused") == 4)
            }
        }
    }

    @Test("Other items under the key are refused; after the erasure of the batch's first person only the key decides")
    func erasedAndOther() async throws {
        try await withAPI { (api) async throws in
            _ = await send(api, mixed, key: "k")
            for isErased in [false, true] {
                if isErased {
                    #expect(await api.post("/v1/erase", #"{"user":"a","reason":"asked to"}"#).status == 200)
                }
                let last = try api.log.lastPosition()
                for (text, other) in [(#""n":{"add":[1]"#, #""n":{"add":[3]"#), (#""user":"b""#, #""user":"x""#)] {
                    let (status, json) = await send(api, mixed.replacingOccurrences(of: text, with: other), key: "k")
                    #expect(isErased ? status == 200 && json.at("repeated") == true : status == 409)
                    #expect(isErased ? json.at("erased") == true : json.at("code") == "key_reused")
                }
                #expect(await send(api, mixed, key: "k").json.at("repeated") == true)
                #expect(try api.log.lastPosition() == last)
            }
        }
    }

    @Test("An address that an item gives a user is theirs for the items after it, as in requests one by one")
    func address() async throws {
        try await withAPI { (api) async throws in
            for (user, address, attribute) in [("u", "a@example.com", "email"), ("v", "+4930123", "phone")] {
                let kind = attribute == "email" ? "email" : "phone"
                let items = [
                    #"{"kind":"log/event","user":"\#(kind):\#(address)","name":"before"}"#,
                    #"{"kind":"log/user-attribute","user":"\#(user)","attribute":"\#(attribute)","value":"\#(address)"}"#,
                    #"{"kind":"log/event","user":"\#(kind):\#(address)","name":"after"}"#,
                ]
                for part in [items[1...], items[0...]] {
                    let (status, json) = await send(api, #"{"items":[\#(part.joined(separator: ","))]}"#)
                    #expect(status == 200, "\(json.json)")
                    for result in json.at("results").asArray ?? [] {
                        #expect(result.at("user.id").text == user, "\(json.json)")
                    }
                }
            }
            #expect(try api.log.userCount() == 2)
        }
    }

    @Test("An address that waits on a device, or that somebody has, is not that of an item's user")
    func otherAddress() async throws {
        try await withAPI { (api) async throws in
            let saved =
                #"{"kind":"save/user-attribute","user":"u","device":"d","attribute":"email","value":"a@example.com"}"#
            let event = #"{"kind":"log/event","user":"email:a@example.com","name":"e"}"#
            let (_, first) = await send(api, #"{"items":[\#(saved),\#(event)]}"#)
            #expect(first.at("results.1.user.id").text == "email:a@example.com", "\(first.json)")
            let logged = #"{"kind":"log/user-attribute","user":"v","attribute":"email","value":"a@example.com"}"#
            let (_, second) = await send(api, #"{"items":[\#(logged),\#(event)]}"#)
            #expect(second.at("results.1.user.id").text == "email:a@example.com", "\(second.json)")
        }
    }

    @Test("An expected version that is not the user's keeps the batch from being stored")
    func expected() async throws {
        try await withAPI { (api) async throws in
            let item = #"{"kind":"log/event","user":"a","name":"e","expect":"none"}"#
            #expect(await send(api, #"{"items":[\#(item),{"kind":"log/event","user":"a","name":"f"}]}"#).status == 200)
            let last = try api.log.lastPosition()
            let again = await send(api, #"{"items":[{"kind":"log/event","user":"b","name":"e"},\#(item)]}"#)
            #expect(again.status == 412 && again.json.at("actual") == 3)
            #expect(try api.log.lastPosition() == last)
        }
    }

    @Test("More than 1,000 items, none, or none at all are refused")
    func limits() async throws {
        try await withAPI { (api) async throws in
            let item = #"{"kind":"log/event","user":"a","name":"e"}"#
            func items(_ count: Int) -> String {
                #"{"items":[\#(Array(repeating: item, count: count).joined(separator: ","))]}"#
            }
            #expect(await send(api, items(1_001)).json.at("place") == "items")
            #expect(await send(api, items(0)).json.at("place") == "items")
            #expect(await send(api, "{}").json.at("place") == "items")
            #expect(await send(api, items(1_000)).json.at("stored") == 1_000)
        }
    }
}
