import Foundation
import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("The lists of names")
struct BrazeCatalogueTests {
    private func send(
        _ api: API, _ path: String, _ query: [(name: String, value: String)] = []
    ) async throws -> (body: String, json: AttributeValue, link: String?) {
        var request = APIRequest(.get, path, query: query)
        request.baseURL = "http://h:1"
        let answer = await api.answer(request)
        #expect(answer.status == 200)
        return (String(decoding: answer.body, as: UTF8.self), try JSON.parse(answer.body), answer.link)
    }

    private static let filled = #"""
        {"attributes":[{"external_id":"a","b":"x","a":[1,2],"d":true,"c":{"k":1}},{"external_id":"b","a":[1,2,3]}],
        "events":[{"external_id":"a","name":"seen","time":"2026-01-01"},{"external_id":"b","name":"Seen",\#
        "time":"2026-01-01"}],
        "purchases":[{"external_id":"a","product_id":"p","currency":"EUR","price":1,"time":"2026-01-01"}]}
        """#

    /// A path, and the answer after `filled`.
    static let lists: [(String, String)] = [
        ("/events/list", #"{"events":["Seen","seen"],"message":"success"}"#),
        (
            "/events",
            #"{"events":[{"name":"Seen","description":null,"included_in_analytics_report":false,"status":"Active","#
                + #""tag_names":[]},"#
                + #"{"name":"seen","description":null,"included_in_analytics_report":false,"status":"Active","#
                + #""tag_names":[]}],"#
                + #""message":"success"}"#
        ),
        (
            "/custom_attributes",
            #"{"attributes":["#
                + #"{"array_length":3,"data_type":"Array","description":null,"name":"a","status":"Active","#
                + #""tag_names":[]},"#
                + #"{"array_length":null,"data_type":"String","description":null,"name":"b","status":"Active","#
                + #""tag_names":[]},"#
                + #"{"array_length":null,"data_type":"Object","description":null,"name":"c","status":"Active","#
                + #""tag_names":[]},"#
                + #"{"array_length":null,"data_type":"Boolean","description":null,"name":"d","status":"Active","#
                + #""tag_names":[]}],"#
                + #""message":"success"}"#
        ),
        ("/purchases/product_list", #"{"products":["p"],"message":"success"}"#),
    ]

    @Test("Each list has the documented shape, byte by byte, as soon as the request is answered", arguments: lists)
    func shape(path: String, answer: String) async throws {
        try await withAPI { api in
            let empty = try await send(api, path)
            #expect(empty.json.at("message") == "success")
            #expect(empty.link == nil)
            #expect(await api.post("/users/track", Self.filled).status == 201)
            let got = try await send(api, path, [("page", "0"), ("unheard", "of")])
            #expect(got.body == answer)
            #expect(got.link == nil)
        }
    }

    private func fill(_ api: API, _ count: Int) async {
        for begin in stride(from: 0, to: count, by: 50) {
            let events = (begin..<min(begin + 50, count)).map {
                #"{"external_id":"a","name":"e\#(1000 + $0)","time":"2026-01-01"}"#
            }
            let purchases = (begin..<min(begin + 50, count)).map {
                #"{"external_id":"a","product_id":"p\#(1000 + $0)","currency":"EUR","price":1,"time":"2026-01-01"}"#
            }
            let attributes = (begin..<min(begin + 50, count)).map { #""a\#(1000 + $0)":1"# }
            let status = await api.post(
                "/users/track",
                #"{"events":[\#(events.joined(separator: ","))],"purchases":[\#(purchases.joined(separator: ","))],"#
                    + #""attributes":[{"external_id":"a",\#(attributes.joined(separator: ","))}]}"#
            ).status
            #expect(status == 201)
        }
    }

    @Test("Pages have 250 names, and what is after the last one is empty")
    func pages() async throws {
        try await withAPI { api in
            await fill(api, 260)
            for (path, key, letter) in [("/events/list", "events", "e"), ("/purchases/product_list", "products", "p")] {
                let first = try await send(api, path)
                #expect(first.json.at(key).count == 250)
                #expect(first.json.at("\(key).249").text == "\(letter)1249")
                let second = try await send(api, path, [("page", "1")])
                #expect(second.json.at(key).count == 10)
                #expect(second.json.at("\(key).0").text == "\(letter)1250")
                #expect(try await send(api, path, [("page", "2")]).json.at(key).count == 0)
                for page in ["-1", "x", "9223372036854775807"] {
                    let (status, json) = await api.get(path, [("page", page)])
                    #expect(status == 400)
                    #expect(json.at("message").text.contains("page"))
                }
            }
        }
    }

    @Test("Links lead through all pages of 50 and back, and a name that comes in between moves no entry")
    func links() async throws {
        try await withAPI { api in
            await fill(api, 120)
            for (path, key, letter) in [("/events", "events", "e"), ("/custom_attributes", "attributes", "a")] {
                var names: [String] = []
                var cursor: String?
                var links: [String?] = []
                repeat {
                    let page = try await send(api, path, cursor.map { [("cursor", $0)] } ?? [])
                    names += (0..<page.json.at(key).count).map { page.json.at("\(key).\($0).name").text }
                    links.append(page.link)
                    cursor = Self.cursor(page.link, "next")
                } while cursor != nil
                #expect(names == (0..<120).map { "\(letter)\(1000 + $0)" })
                #expect(links.count == 3)
                #expect(links[0]?.hasPrefix("<http://h:1\(path)?cursor=") ?? false)
                #expect(links[0]?.hasSuffix(#">; rel="next""#) ?? false)
                #expect(links[1]?.hasPrefix(#"<http://h:1\#(path)>; rel="prev", <"#) ?? false)
                let back = try await send(api, path, [("cursor", try #require(Self.cursor(links[2], "prev")))])
                #expect(back.json.at("\(key).0.name").text == "\(letter)1050")
            }
            _ = await api.post("/users/track", #"{"events":[{"external_id":"a","name":"d","time":"2026-01-01"}]}"#)
            let first = try await send(api, "/events")
            #expect(first.json.at("events.0.name") == "d")
            let second = try await send(api, "/events", [("cursor", "6531303439")])  // e1049
            #expect(second.json.at("events.0.name") == "e1050")
        }
    }

    private static func cursor(_ link: String?, _ relation: String) -> String? {
        link?.components(separatedBy: ", ").first { $0.hasSuffix("rel=\"\(relation)\"") }?
            .components(separatedBy: "cursor=").last?.components(separatedBy: ">").first
    }

    @Test("A cursor that is none is 400", arguments: ["x", "6", "ff", "zz", "c2tpcDow"])
    func wrongCursor(cursor: String) async throws {
        try await withAPI { api in
            for path in ["/events", "/custom_attributes"] {
                let (status, json) = await api.get(path, [("cursor", cursor)])
                #expect(status == 400)
                #expect(json.at("message").text.contains("cursor"))
            }
        }
    }

    @Test("What waits on a device is listed once it is flushed; what the workspace blocks or forces is listed so")
    func waitingAndForced() async throws {
        let workspace = try Workspace(
            yaml: "{blocklist: {attributes: [b], events: [seen]}, attribute_types: {d: string}}")
        try await withAPI { plain in
            _ = await plain.post("/users/track", Self.filled)
            let api = API(log: plain.log, workspace: workspace)
            let attributes = try await send(api, "/custom_attributes").json
            #expect(attributes.at("attributes.1.status") == "Blocklisted")
            #expect(attributes.at("attributes.3.data_type") == "String")
            #expect(try await send(api, "/events").json.at("events.1.status") == "Blocklisted")
            _ = await api.post("/v1/save/event", #"{"device":"d","user":"a","name":"later"}"#)
            #expect(try await send(api, "/events/list").json.at("events").count == 2)
            _ = await api.post("/v1/launch", #"{"device":"d"}"#)
            #expect(try await send(api, "/events/list").json.at("events.1") == "later")
        }
    }
}
