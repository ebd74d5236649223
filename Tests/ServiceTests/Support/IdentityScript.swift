import ProfileLog

/// Requests that change identities, from a seed, each played on `NaiveProfiles` as well.
struct IdentityScript {
    var random: SeededGenerator
    private(set) var profiles = NaiveProfiles()

    static let externalIDs = (0..<5).map { "e\($0)" }
    static let labels = ["l", "m"]
    static let aliasNames = ["0", "1", "2"]
    static let addresses = [
        "email": (0..<3).map { "u\($0)@x.example" }, "phone": (0..<2).map { "+4930123456\($0)" },
    ]

    /// A request, and the places of the items that are to be dropped, as in `user_aliases.0`.
    struct Step {
        var path: String
        var body: String
        var dropped: Set<String> = []
    }

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func pick<Element>(_ from: [Element]) -> Element { from[random.next(below: from.count)] }
    private mutating func chance(_ one: Int) -> Bool { random.next(below: one) == 0 }

    mutating func next() -> Step {
        profiles.beginRequest()
        return step()
    }

    private mutating func step() -> Step {
        switch random.next(below: 10) {
        case 0...3: track()
        case 4: list("/users/alias/new", ["user_aliases"]) { $0.newAlias() }
        case 5: list("/users/alias/update", ["alias_updates"]) { $0.aliasUpdate() }
        case 6, 7:
            list(
                "/users/identify",
                [pick(["aliases_to_identify", "emails_to_identify", "phone_numbers_to_identify"])]
            ) { $0.identification($1) }
        case 8: list("/users/merge", ["merge_updates"]) { $0.merge() }
        default:
            chance(2)
                ? list("/users/external_ids/rename", ["external_id_renames"]) { $0.rename() }
                : list("/users/external_ids/remove", ["external_ids"]) { $0.removal() }
        }
    }

    /// One to three items of a list: the kind of each, and whether it takes effect.
    private mutating func list(
        _ path: String, _ lists: [String], _ item: (inout IdentityScript, String) -> (String, Bool)
    ) -> Step {
        var step = Step(path: path, body: "")
        let members = lists.map { list in
            let items = (0...random.next(below: 3)).map { index in
                let (text, isDone) = item(&self, list)
                if !isDone { step.dropped.insert("\(list).\(index)") }
                return text
            }
            return "\"\(list)\":[\(items.joined(separator: ","))]"
        }
        step.body = "{\(members.joined(separator: ","))}"
        return step
    }

    private mutating func list(
        _ path: String, _ lists: [String], _ item: (inout IdentityScript) -> (String, Bool)
    ) -> Step {
        list(path, lists) { script, _ in item(&script) }
    }

    // MARK: - Tracking

    private mutating func track() -> Step {
        list("/users/track", chance(2) ? ["attributes"] : ["attributes", "events"]) { script, list in
            list == "attributes" ? script.attributes() : script.event()
        }
    }

    private mutating func who() -> NaiveProfiles.Who {
        switch random.next(below: 5) {
        case 0: return .externalID(pick(Self.externalIDs))
        case 1, 2: return .alias(label: pick(Self.labels), name: pick(Self.aliasNames))
        default:
            let kind = pick(["email", "email", "phone"])
            return .address(kind: kind, pick(Self.addresses[kind] ?? []))
        }
    }

    private static func members(_ who: NaiveProfiles.Who) -> String {
        switch who {
        case .externalID(let id): #""external_id":"\#(id)""#
        case .alias(let label, let name): #""user_alias":\#(Wire.alias(label, name))"#
        case .address(let kind, let address): #""\#(kind)":"\#(address)""#
        }
    }

    /// The members that say whether an object only updates, and whether it does.
    private mutating func updatesOnly(_ who: NaiveProfiles.Who) -> (String, Bool) {
        if case .alias = who, chance(3) { return ("", true) }
        return chance(4) ? (#","_update_existing_only":true"#, true) : (#","_update_existing_only":false"#, false)
    }

    private mutating func attributes() -> (String, Bool) {
        let who = who()
        let (flag, updatesOnly) = updatesOnly(who)
        var said: [String: String?] = [:]
        var text = Self.members(who) + flag
        if case .address(let kind, let address) = who {
            said[kind] = address
        } else if chance(2) {
            let kind = pick(["email", "phone"])
            let address = chance(5) ? nil : pick(Self.addresses[kind] ?? [])
            said[kind] = .some(address)
            text += #","\#(kind)":\#(address.map { "\"\($0)\"" } ?? "null")"#
        }
        let (name, value) = (pick(["x", "y"]), random.next(below: 100))
        text += #","\#(name)":\#(value)"#
        let isDone = profiles.track(who, updatesOnly: updatesOnly) { profile in
            for (kind, address) in said { profile.addresses[kind] = address }
            profile.attributes[name] = value
        }
        return ("{\(text)}", isDone)
    }

    private mutating func event() -> (String, Bool) {
        let who = who()
        let (flag, updatesOnly) = updatesOnly(who)
        let name = pick(["played", "paid"])
        let isDone = profiles.track(who, updatesOnly: updatesOnly) { $0.events[name, default: 0] += 1 }
        return (#"{\#(Self.members(who))\#(flag),"name":"\#(name)","time":"2026-01-01"}"#, isDone)
    }

    // MARK: - Who is who

    private mutating func newAlias() -> (String, Bool) {
        let (label, name) = (pick(Self.labels), pick(Self.aliasNames))
        let id = chance(4) ? nil : pick(Self.externalIDs)
        let member = id.map { #""external_id":"\#($0)","# } ?? ""
        return (
            #"{\#(member)"alias_name":"\#(name)","alias_label":"\#(label)"}"#, profiles.addAlias(label, name, to: id)
        )
    }

    private mutating func aliasUpdate() -> (String, Bool) {
        let (label, old, new) = (pick(Self.labels), pick(Self.aliasNames), pick(Self.aliasNames))
        return (
            #"{"alias_label":"\#(label)","old_alias_name":"\#(old)","new_alias_name":"\#(new)"}"#,
            profiles.renameAlias(label, old, to: new)
        )
    }

    private mutating func filters() -> [String] {
        let recent = pick(["most_recently_updated", "least_recently_updated"])
        return pick([[recent], ["identified", recent], ["unidentified", recent], ["identified"], ["unidentified"]])
    }

    private static func text(_ filters: [String]) -> String {
        #""prioritization":[\#(filters.map { "\"\($0)\"" }.joined(separator: ","))]"#
    }

    private mutating func identification(_ list: String) -> (String, Bool) {
        let id = pick(Self.externalIDs)
        let filters = filters()
        let who: NaiveProfiles.Who
        switch list {
        case "aliases_to_identify": who = .alias(label: pick(Self.labels), name: pick(Self.aliasNames))
        case "emails_to_identify": who = .address(kind: "email", pick(Self.addresses["email"] ?? []))
        default: who = .address(kind: "phone", pick(Self.addresses["phone"] ?? []))
        }
        return (
            #"{"external_id":"\#(id)",\#(Self.members(who)),\#(Self.text(filters))}"#,
            profiles.identify(profiles.meant(who, filters), id)
        )
    }

    private mutating func merge() -> (String, Bool) {
        let (source, target) = ((who(), filters()), (who(), filters()))
        func text(_ person: (NaiveProfiles.Who, [String])) -> String {
            "{\(Self.members(person.0)),\(Self.text(person.1))}"
        }
        return (
            #"{"identifier_to_merge":\#(text(source)),"identifier_to_keep":\#(text(target))}"#,
            profiles.merge(profiles.meant(source.0, source.1), into: profiles.meant(target.0, target.1))
        )
    }

    private mutating func rename() -> (String, Bool) {
        let (current, new) = (pick(Self.externalIDs), pick(Self.externalIDs))
        return (
            #"{"current_external_id":"\#(current)","new_external_id":"\#(new)"}"#, profiles.rename(current, to: new)
        )
    }

    private mutating func removal() -> (String, Bool) {
        let id = pick(Self.externalIDs)
        return ("\"\(id)\"", profiles.remove(id))
    }
}
