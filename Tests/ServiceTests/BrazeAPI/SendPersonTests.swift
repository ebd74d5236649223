import ProfileLog
import ProfileLogNativeAPI
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

/// The users that recipients of a send mean: one of those with an address, each user and each address once.
@Suite("Recipients of a send")
struct SendPersonTests {
    private static let yaml = """
        segments:
          - {id: all, name: All, users: all}
        apps:
          - {id: ios, name: Shop, platform: ios}
        campaigns:
          - id: hook
            name: Hook
            segment: all
            messages:
              [{webhook: {url: "{{api_trigger_properties.${what}}}{{custom_attribute.${level} | default: ''}}"}}]
          - id: mail
            name: Mail
            segment: all
            messages: [{email: {from: a@b.c, subject: S, body: B}}]
        canvases:
          - {id: tour, name: Tour, steps: [{name: one, messages: [{webhook: {url: "tour"}}]}]}
        """

    private static let time = #""schedule":{"time":"2027-01-15T09:00:00Z"}"#

    /// Three profiles with one address, `old` and `new` with an external ID and one with an alias; another one with one
    /// of its own.
    private func withThree(_ body: (API, StoreClock) async throws -> Void) async throws {
        let clock = StoreClock()
        clock.set(to: Timestamp(rawValue: 1_800_000_000_000_000))
        var options = LogOptions()
        options.now = { clock.now() }
        try await withAPI(options) { (plain) async throws in
            let api = try plain.under(Self.yaml)
            let shared = #""email":"s@x.example""#
            await api.track(
                Wire.user("old", shared), Wire.aliasOnly("web", "w", shared), Wire.user("new", shared),
                Wire.user("one", #""email":"one@x.example""#))
            try await body(api, clock)
        }
    }

    /// Returns the users who got something: `old`, `new`, `one`, `alias`, each as often as they got it.
    private func reached(_ api: API) throws -> [String] {
        var reached: [String] = []
        for (name, id) in [
            ("old", UserID.externalID("old")), ("alias", .alias(label: "web", name: "w")), ("new", .externalID("new")),
            ("one", .externalID("one")),
        ] {
            guard let info = try api.log.find(id) else { continue }
            for event in try api.log.history(of: info.number) {
                if case .message(let step) = event.event, step.stage == .sent { reached.append(name) }
            }
        }
        return reached
    }

    static let roads = ["campaign", "canvas", "transactional", "schedule"]

    private func send(_ road: String, _ recipient: String, _ api: API, _ clock: StoreClock) async throws -> (
        status: Int, json: AttributeValue
    ) {
        switch road {
        case "campaign":
            return await api.post(
                "/campaigns/trigger/send", #"{"campaign_id":"hook","recipients":[\#(recipient)],\#(Self.what)}"#)
        case "canvas":
            return await api.post("/canvas/trigger/send", #"{"canvas_id":"tour","recipients":[\#(recipient)]}"#)
        case "transactional":
            return await api.post(
                "/transactional/v1/campaigns/hook/send", #"{"recipient":\#(recipient),\#(Self.what)}"#)
        default:
            let answer = await api.post(
                "/campaigns/trigger/schedule/create",
                #"{"campaign_id":"hook","recipients":[\#(recipient)],\#(Self.what),\#(Self.time)}"#)
            _ = clock.advance(byMicroseconds: 7_200_000_000)
            _ = try await api.braze.sendDue()
            return answer
        }
    }

    private static let what = #""trigger_properties":{"what":"x"}"#

    @Test("The prioritization says which of those with an address is meant, whatever sends", arguments: roads)
    func prioritization(road: String) async throws {
        for (words, expected) in [
            (#""identified","least_recently_updated""#, "old"), (#""identified","most_recently_updated""#, "new"),
            (#""unidentified""#, "alias"), (#""most_recently_updated""#, "new"), (#""least_recently_updated""#, "old"),
            (#""identified""#, nil), (#""unidentified","identified""#, "400"),
        ] {
            try await withThree { (api, clock) async throws in
                let recipient = #"{"email":"S@x.example","prioritization":[\#(words)]}"#
                let (status, json) = try await send(road, recipient, api, clock)
                #expect(status == (expected == "400" ? 400 : 201), "\(words) \(json)")
                #expect(try reached(api) == (expected.map { $0 == "400" ? [] : [$0] } ?? []), "\(words)")
                if expected == nil {
                    #expect(json.at("dropped.0.reason") == "'prioritization' leaves several users with the address")
                }
            }
        }
    }

    @Test(
        "Where prioritization leaves no recipient, no user is made; without users with the address one may be",
        arguments: roads)
    func none(road: String) async throws {
        try await withThree { (api, clock) async throws in
            let made = #""send_to_existing_only":false,"attributes":{"level":1}"#
            let none = #"{"email":"one@x.example","prioritization":["unidentified"],\#(made)}"#
            let json = try await send(road, none, api, clock).json
            #expect(json.at("dropped.0.reason") == "'prioritization' leaves no user with the address")
            #expect(try reached(api).isEmpty)
            let new = #"{"email":"fresh@x.example","prioritization":["unidentified"],\#(made)}"#
            #expect(try await send(road, new, api, clock).status == 201)
            let fresh = try #require(try api.log.reader.addresses.users(sharing: .email("fresh@x.example")).first)
            let steps = try api.log.history(of: fresh.number)
            #expect(steps.contains { if case .message(let step) = $0.event { step.stage == .sent } else { false } })
            let count = try api.log.userCount()
            #expect(count == 5)
        }
    }

    @Test("An address needs a prioritization", arguments: roads)
    func needed(road: String) async throws {
        try await withThree { (api, clock) async throws in
            for words in ["", #","prioritization":[]"#, #","prioritization":null"#] {
                let (status, json) = try await send(road, #"{"email":"one@x.example"\#(words)}"#, api, clock)
                #expect(status == 400)
                #expect(json.at("place").text.hasSuffix(".prioritization"), "\(json)")
            }
            #expect(try reached(api).isEmpty)
        }
    }

    @Test("A user who is named several times gets one message, with the properties of the last entry")
    func once() async throws {
        try await withThree { (api, _) async throws in
            let braze = try #require(try api.log.find(.externalID("one"))).brazeID
            let own = [
                #""external_user_id":"one""#, #""email":"one@x.example","prioritization":["identified"]"#,
                #""braze_id":"\#(braze)""#,
            ].enumerated().map { #"{\#($1),"trigger_properties":{"what":"\#($0)"},"attributes":{"level":\#($0)}}"# }
            let (status, json) = await api.post(
                "/campaigns/trigger/send", #"{"campaign_id":"hook","recipients":[\#(own.joined(separator: ","))]}"#)
            #expect(status == 201)
            #expect(json.at("dropped").count == 2)
            #expect(json.at("dropped.1.reason") == "is named again later in the request")
            #expect(json.at("dropped.1.index") == 1)
            let steps = try api.messageSteps(of: "one")
            #expect(steps.count == 1)
            #expect(steps.first.map { AttributeValue.object($0.step.content).at("url") } == "22")
            let twice = await api.post(
                "/messages/send",
                #"{"external_user_ids":["one","one"],"messages":{"webhook":{"url":"u"}}}"#)
            #expect(twice.json.at("dropped.0.index") == 0)
            #expect(try reached(api).count == 2)
            let alias = Wire.alias("web", "w")
            let aliases = await api.post(
                "/messages/send",
                #"{"external_user_ids":["no"],"user_aliases":[\#(alias),\#(alias)],"messages":{"webhook":{"url":"u"}}}"#
            )
            let places = (0..<2).map { aliases.json.at("dropped.\($0).input_array").text }
            #expect(places == ["external_user_ids", "user_aliases"])
            #expect(aliases.json.at("dropped.1.index") == 0)
            // Who is made by the request is made once.
            let made = #"{"external_user_id":"fresh","send_to_existing_only":false,"attributes":{"level":3}}"#
            let fresh = await api.post(
                "/campaigns/trigger/send", #"{"campaign_id":"hook","recipients":[\#(made),\#(made)],\#(Self.what)}"#)
            #expect(fresh.json.at("dropped.0.index") == 0)
            #expect(try api.messageSteps(of: "fresh").count == 1)
        }
    }

    @Test("An address and a device get a message once, whichever users have them; a broadcast too")
    func addresses() async throws {
        try await withThree { (api, clock) async throws in
            for body in [
                #""recipients":[{"external_user_id":"new"},{"external_user_id":"old"},{"external_user_id":"one"}]"#,
                #""broadcast":true"#,
            ] {
                let before = try reached(api).count
                let (status, _) = await api.post("/campaigns/trigger/send", #"{"campaign_id":"mail",\#(body)}"#)
                #expect(status == 201)
                #expect(try reached(api).count == before + 2, "\(body)")
            }
            #expect(try api.sends(to: "old").first == "notSent email another user of the send has the same address")
            _ = await api.post(
                "/campaigns/trigger/schedule/create", #"{"campaign_id":"mail","broadcast":true,\#(Self.time)}"#)
            _ = clock.advance(byMicroseconds: 7_200_000_000)
            let before = try reached(api).count
            _ = try await api.braze.sendDue()
            #expect(try reached(api).count == before + 2)
            let token = #""push_tokens":[{"app_id":"ios","token":"t","device_id":"d"}]"#
            await api.track(Wire.user("old", token), Wire.user("new", token))
            _ = await api.post(
                "/messages/send", #"{"external_user_ids":["old","new"],"messages":{"apple_push":{"alert":"a"}}}"#)
            #expect(try api.sends(to: "old").last == "sent apple_push d")
            #expect(try api.sends(to: "new").last == "notSent apple_push another user of the send has the same address")
        }
    }

    @Test("IDs and properties that a client sends empty count as absent; what decides who gets a message does not")
    func emptyMembers() async throws {
        try await withThree { (api, _) async throws in
            let one =
                #""external_user_id":"one","email":"","braze_id":"","user_alias":{"alias_name":"","alias_label":""}"#
            for (path, body) in [
                ("campaigns/trigger/send", #""campaign_id":"mail","send_id":"","trigger_properties":"""#),
                ("campaigns/trigger/send", #""campaign_id":"mail","trigger_properties":[]"#),
                ("canvas/trigger/send", #""canvas_id":"tour","canvas_entry_properties":[],"context":"""#),
            ] {
                let before = try reached(api).count
                let (status, json) = await api.post(
                    "/\(path)",
                    #"{\#(body),"recipients":[{\#(one),"trigger_properties":"","context":[],"attributes":[]}]}"#)
                #expect(status == 201 && json.at("dropped") == .null, "\(json)")
                #expect(try reached(api).count == before + 1, "\(body)")
            }
            let message = #""messages":{"apple_push":{"alert":"a","extra":[]}}"#
            let plain = await api.post(
                "/messages/send", #"{"external_user_ids":["one"],"campaign_id":"","send_id":"",\#(message)}"#)
            #expect(plain.status == 201, "\(plain.json)")
            for member in [#""audience":"""#, #""segment_id":"""#, #""broadcast":"""#] {
                let refused = await api.post("/messages/send", #"{\#(member),"external_user_ids":["one"],\#(message)}"#)
                #expect(refused.status == 400, "\(member)")
            }
        }
    }

    @Test("Identifiers among the attributes of a recipient are ignored and noted")
    func attributes() async throws {
        try await withThree { (api, _) async throws in
            let attributes =
                #"{"user_alias":{"alias_name":"w","alias_label":"web"},"email":"mine@x.example","braze_id":"b","#
                + #""external_id":"old","_update_existing_only":false,"level":4}"#
            let (status, json) = await api.post(
                "/campaigns/trigger/send",
                #"{"campaign_id":"hook","recipients":[{"external_user_id":"one","attributes":\#(attributes)}],"#
                    + "\(Self.what)}"
            )
            #expect(status == 201)
            #expect(json.at("errors") == .null, "clients take errors for a failure")
            #expect(json.at("dropped").count == 4 && json.at("dropped.3.index") == 0)
            #expect(
                json.at("dropped.3.reason").text
                    == "attributes.user_alias: is ignored, as the recipient has an identifier")
            #expect(try reached(api) == ["one"])
            let profile = await api.export(#""external_ids":["one"]"#)
            #expect(profile.at("0.email") == "mine@x.example")
            #expect(profile.at("0.custom_attributes.level") == 4)
            // It would choose among users with an address.
            let chosen = await api.post(
                "/campaigns/trigger/send",
                #"{"campaign_id":"hook","recipients":[{"external_user_id":"one","prioritization":["identified"]}],"#
                    + "\(Self.what)}")
            #expect(chosen.status == 201)
            #expect(
                (chosen.json.at("dropped").asArray ?? []).contains {
                    $0.at("reason") == "prioritization: is ignored, as it chooses among users with an address"
                }, "\(chosen.json)")
            // By an address the attributes are those of the user who is chosen.
            _ = await api.post(
                "/campaigns/trigger/send",
                #"{"campaign_id":"hook","recipients":[{"email":"s@x.example","prioritization":["unidentified"],"#
                    + #""attributes":{"email":"other@x.example","level":9}}],\#(Self.what)}"#)
            let alias = try #require(try api.log.find(.alias(label: "web", name: "w")))
            let view = try api.log.named(api.log.profile(of: alias.number))
            #expect(view.customAttributes.contains { $0.name == "level" && $0.value == 9 })
            #expect(await api.export(#""email_address":"other@x.example""#).count == 0)
        }
    }
}
