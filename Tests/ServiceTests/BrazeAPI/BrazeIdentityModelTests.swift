import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("Who is who, against a model")
struct BrazeIdentityModelTests {
    @Test(
        "Any requests in any order leave the profiles that plain dictionaries have",
        arguments: Thoroughness.seeds(short: 12, full: 200))
    func model(seed: UInt64) async throws {
        try await withAPI { api in
            var script = IdentityScript(seed: seed)
            var sent: [String] = []
            for number in 1...20 {
                let step = script.next()
                sent.append("\(step.path) \(step.body)")
                let (status, json) = await api.post(step.path, step.body)
                #expect(status == (step.path == "/users/merge" ? 202 : 201))
                let dropped = Self.dropped(json, step)
                #expect(dropped == step.dropped, "\(sent.joined(separator: "\n"))")
                guard dropped == step.dropped else { return }
                if number % 5 == 0 { await Self.compare(api, script.profiles, "\(sent.joined(separator: "\n"))") }
            }
            let replay = try api.log.replay(verify: true)
            #expect(replay.isEqual)
        }
    }

    /// The places of the items about which nothing was done.
    private static func dropped(_ json: AttributeValue, _ step: IdentityScript.Step) -> Set<String> {
        var places: Set<String> = []
        let (drops, list) = (json.at("dropped"), step.path.hasSuffix("rename") ? "external_id_renames" : "external_ids")
        for index in 0..<drops.count {
            let drop = drops.at("\(index)")
            places.insert("\(drop.at("input_array").text).\(integer(drop.at("index")))")
        }
        for errors in [json.at("rename_errors"), json.at("removal_errors")] {
            for index in 0..<errors.count { places.insert("\(list).\(integer(errors.at("\(index).1")))") }
        }
        return places
    }

    private static func integer(_ value: AttributeValue) -> Int64 {
        if case .int(let number) = value { number } else { -1 }
    }

    /// Checks that every possible identifier finds the same profiles, in the same order and with the same content.
    private static func compare(_ api: API, _ model: NaiveProfiles, _ story: String) async {
        func check(_ identifier: String, _ expected: [Int]) async {
            let users = await api.export(identifier)
            let found = (0..<users.count).map { text(users.at("\($0)")) }
            #expect(found == expected.map { text(model.profiles[$0]) }, "\(identifier)\n\(story)")
        }
        for id in IdentityScript.externalIDs {
            await check(#""external_ids":["\#(id)"]"#, model.find(.externalID(id)).map { [$0] } ?? [])
        }
        for label in IdentityScript.labels {
            for name in IdentityScript.aliasNames {
                await check(
                    #""user_aliases":[\#(Wire.alias(label, name))]"#,
                    model.find(.alias(label: label, name: name)).map { [$0] } ?? [])
            }
        }
        for (kind, addresses) in IdentityScript.addresses {
            for address in addresses {
                let key = kind == "email" ? "email_address" : "phone"
                await check(#""\#(key)":"\#(address)""#, model.sharing(kind, address))
                let first = await api.get("/v1/profile", [("user", "\(kind):\(address)")])
                #expect((first.status == 200) == (model.find(.address(kind: kind, address)) != nil))
            }
        }
    }

    private static func text(_ profile: NaiveProfiles.Profile?) -> String {
        guard let profile else { return "" }
        func made(_ kind: String) -> String {
            let isEmail = kind == "email"
            return profile.addresses[kind] ?? profile.madeBy.first { $0.contains("@") == isEmail } ?? ""
        }
        return [
            profile.externalIDs.last ?? "", profile.aliases.map { "\($0)=\($1)" }.sorted().joined(separator: ","),
            made("email"), made("phone"), profile.attributes.map { "\($0)=\($1)" }.sorted().joined(separator: ","),
            profile.events.map { "\($0)=\($1)" }.sorted().joined(separator: ","),
        ].joined(separator: "|")
    }

    private static func text(_ user: AttributeValue) -> String {
        func list(_ path: String, _ body: (AttributeValue) -> String) -> String {
            let values = user.at(path)
            return (0..<values.count).map { body(values.at("\($0)")) }.sorted().joined(separator: ",")
        }
        var attributes: [String] = []
        if case .object(let members) = user.at("custom_attributes") {
            attributes = members.map { "\($0.key.text)=\(integer($0.value))" }.sorted()
        }
        return [
            user.at("external_id").text,
            list("user_aliases") { "\($0.at("alias_label").text)=\($0.at("alias_name").text)" },
            user.at("email").text, user.at("phone").text, attributes.joined(separator: ","),
            list("custom_events") { "\($0.at("name").text)=\(integer($0.at("count")))" },
        ].joined(separator: "|")
    }
}
