/// Users by the rules of the REST API, in plain arrays and dictionaries: the slow truth that the log is compared with.
struct NaiveProfiles {
    struct Profile {
        /// The last is the one that counts; the others were renamed.
        var externalIDs: [String] = []
        var aliases: [String: String] = [:]
        /// The addresses by which it was made.
        var madeBy: Set<String> = []
        /// `email` and `phone`, as far as they are set.
        var addresses: [String: String] = [:]
        var attributes: [String: Int] = [:]
        var events: [String: Int] = [:]
        var updated = 0
    }

    enum Who {
        case externalID(String)
        case alias(label: String, name: String)
        /// `email` or `phone`.
        case address(kind: String, String)
    }

    /// Is nil for users who were merged into another one.
    private(set) var profiles: [Profile?] = []
    private var clock = 0
    /// The clock when the request came, and the number of addresses released for it.
    private var request = (start: 0, releases: 0)

    // MARK: - Who is meant

    private func all(_ matches: (Profile) -> Bool) -> [Int] {
        profiles.indices.filter { profiles[$0].map(matches) ?? false }
    }

    /// Returns the users who share an address: first those with an external ID, then those with the latest events.
    func sharing(_ kind: String, _ address: String) -> [Int] {
        let sharing = all { $0.addresses[kind].map { $0 == address } ?? $0.madeBy.contains(address) }
        func rank(_ index: Int) -> Int {
            (profiles[index]?.externalIDs.isEmpty == false ? 1_000_000 : 0) + (profiles[index]?.updated ?? 0)
        }
        return sharing.sorted { rank($0) > rank($1) }
    }

    func find(_ who: Who) -> Int? {
        switch who {
        case .externalID(let id): all { $0.externalIDs.contains(id) }.first
        case .alias(let label, let name): all { $0.aliases[label] == name }.first
        case .address(let kind, let address):
            sharing(kind, address).first
        }
    }

    private func chosen(_ kind: String, _ address: String, _ filters: [String]) -> Int? {
        var left = sharing(kind, address)
        for filter in filters {
            switch filter {
            case "identified": left = left.filter { profiles[$0]?.externalIDs.isEmpty == false }
            case "unidentified": left = left.filter { profiles[$0]?.externalIDs.isEmpty == true }
            default:
                left.sort { (profiles[$0]?.updated ?? 0) < (profiles[$1]?.updated ?? 0) }
                left = Array(filter == "most_recently_updated" ? left.suffix(1) : left.prefix(1))
            }
        }
        return left.count == 1 ? left[0] : nil
    }

    /// The user where an address needs filters; nil if none is chosen.
    func meant(_ who: Who, _ filters: [String]) -> Int? {
        if case .address(let kind, let address) = who { return chosen(kind, address, filters) }
        return find(who)
    }

    // MARK: - What happens; false if it does not

    mutating func beginRequest() {
        request = (clock, 0)
        clock += 100
    }

    /// Releases a user who was made by an address that another one has; that happens before the request's own changes.
    private mutating func release(_ address: String) {
        for index in all({ $0.madeBy.contains(address) }) {
            request.releases += 1
            profiles[index]?.madeBy.remove(address)
            let before = profiles[index]?.updated ?? 0
            profiles[index]?.updated = max(before, request.start + request.releases)
        }
    }

    private mutating func change(_ index: Int, _ body: (inout Profile) -> Void) {
        clock += 1
        guard var profile = profiles[index] else { return }
        profile.updated = clock
        body(&profile)
        profiles[index] = profile
    }

    private mutating func create(_ who: Who) -> Int {
        var profile = Profile()
        switch who {
        case .externalID(let id): profile.externalIDs = [id]
        case .alias(let label, let name): profile.aliases = [label: name]
        case .address(let kind, let address):
            profile.madeBy = [address]
            profile.addresses = [kind: address]
        }
        clock += 1
        profile.updated = clock
        profiles.append(profile)
        return profiles.count - 1
    }

    mutating func track(_ who: Who, updatesOnly: Bool, _ body: (inout Profile) -> Void) -> Bool {
        let found = find(who)
        if found == nil, case .address(_, let address) = who { release(address) }
        guard let index = found ?? (updatesOnly ? nil : create(who)) else { return false }
        change(index, body)
        return true
    }

    mutating func addAlias(_ label: String, _ name: String, to externalID: String?) -> Bool {
        let owner = find(.alias(label: label, name: name))
        guard let externalID else {
            if owner == nil { _ = create(.alias(label: label, name: name)) }
            return true
        }
        guard let user = find(.externalID(externalID)) else { return false }
        if owner == user { return true }
        guard owner == nil, profiles[user]?.aliases[label] == nil else { return false }
        change(user) { $0.aliases[label] = name }
        return true
    }

    mutating func renameAlias(_ label: String, _ name: String, to newName: String) -> Bool {
        guard let user = find(.alias(label: label, name: name)) else { return false }
        if name == newName { return true }
        guard find(.alias(label: label, name: newName)) == nil else { return false }
        change(user) { $0.aliases[label] = newName }
        return true
    }

    mutating func identify(_ user: Int?, _ externalID: String) -> Bool {
        guard let user, let profile = profiles[user] else { return false }
        let target = find(.externalID(externalID))
        if target == user { return true }
        guard profile.externalIDs.isEmpty else { return false }
        guard let target else {
            change(user) { $0.externalIDs = [externalID] }
            return true
        }
        let shared = Set(profile.aliases.keys).intersection(profiles[target]?.aliases.keys.map { $0 } ?? [])
        return shared.isEmpty ? merge(user, into: target) : false
    }

    mutating func merge(_ source: Int?, into target: Int?) -> Bool {
        guard let source, let target, let lost = profiles[source] else { return false }
        if source == target { return false }
        change(target) { kept in
            if kept.externalIDs.isEmpty { kept.externalIDs = lost.externalIDs }
            kept.aliases.merge(lost.aliases) { kept, _ in kept }
            kept.addresses.merge(lost.addresses) { kept, _ in kept }
            kept.attributes.merge(lost.attributes) { kept, _ in kept }
            kept.events.merge(lost.events) { $0 + $1 }
        }
        profiles[source] = nil
        return true
    }

    mutating func rename(_ id: String, to newID: String) -> Bool {
        guard id != newID, let user = find(.externalID(id)), profiles[user]?.externalIDs.last == id,
            find(.externalID(newID)) == nil
        else { return false }
        change(user) { $0.externalIDs.append(newID) }
        return true
    }

    mutating func remove(_ id: String) -> Bool {
        guard let user = find(.externalID(id)), profiles[user]?.externalIDs.last != id else { return false }
        change(user) { $0.externalIDs.removeAll { $0 == id } }
        return true
    }
}
