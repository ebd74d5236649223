import ProfileLog

/// A model of a log's answers, computed in the most obvious way from plain dictionaries; it shares no fold code with
/// the library.
struct NaiveModel {
    struct Profile: Equatable {
        var version = 0
        var attributes: [Name: AttributeValue] = [:]
        var standard: [Name: AttributeValue] = [:]
        var events: [Name: Int] = [:]
        /// The time at which each event happened first and last.
        var times: [Name: ClosedRange<Int64>] = [:]
        var bought: [Name: Int] = [:]
        var revenue: [Name: Double] = [:]
        var launches = 0
        /// Positions of the events that set the attributes, of both sorts.
        var setAt: [Name: Int] = [:]
        /// The saved and logged items, in order.
        var history: [ProfileEvent] = []
    }

    struct Item: Equatable {
        let user: Name
        let kind: PendingKind
        let event: ProfileEvent
        let order: Int
        let time: Int64
        let isVisible: Bool
    }

    var profiles: [Name: Profile] = [:]
    /// Users in the order of their numbers.
    var users: [Name] = []
    var deviceUser: [String: Name] = [:]
    var anonymous: Set<Name> = []
    /// Devices on which a session is open.
    var sessions: Set<String> = []
    /// The users that anonymous users were merged into.
    var merged: [Name: Name] = [:]
    var pending: [String: [Item]] = [:]
    var events = 0
    /// The time of what is done now.
    var now: Int64 = 0

    mutating func user(_ id: Name) {
        guard profiles[id] == nil else { return }
        users.append(id)
        profiles[id] = Profile(version: 1)
        events += 1
    }

    mutating func log(_ event: ProfileEvent, _ id: Name) {
        user(id)
        bump(id)
        profiles[id]?.history.append(event)
        take(event, id, position: events, time: now)
    }

    private mutating func bump(_ id: Name) {
        profiles[id]?.version += 1
        events += 1
    }

    private mutating func take(_ event: ProfileEvent, _ id: Name, position: Int, time: Int64) {
        var profile = profiles[id] ?? Profile()
        func set(_ name: Name, _ value: AttributeValue) {
            profile.standard[name] = value == .null ? nil : value
            profile.setAt[name] = value == .null ? nil : position
        }
        switch event {
        case .customEventLogged(let event), .customEventSaved(let event):
            profile.events[event.name, default: 0] += 1
            let known = profile.times[event.name] ?? time...time
            profile.times[event.name] = min(known.lowerBound, time)...max(known.upperBound, time)
        case .purchaseLogged(let purchase):
            profile.bought[purchase.product, default: 0] += Int(purchase.quantity)
            profile.revenue[purchase.product, default: 0] += purchase.price * Double(purchase.quantity)
        case .userAttributesChanged(let changes):
            for change in changes { set(Name(change.attribute.name), change.value) }
        case .userAttributeSaved(let change): set(Name(change.attribute.name), change.value)
        case .customAttributesChanged(let changes), .customAttributesSaved(let changes):
            for change in changes {
                let isTaken = Self.change(&profile.attributes[change.name], change.operation)
                let isThere = profile.attributes[change.name] != nil
                if !isThere {
                    profile.setAt[change.name] = nil
                } else if isTaken {
                    profile.setAt[change.name] = position
                }
            }
        default: break
        }
        profiles[id] = profile
    }

    /// Answers whether the operation has a meaning for a value of this type.
    private static func change(_ value: inout AttributeValue?, _ operation: AttributeOperation) -> Bool {
        switch (operation, value) {
        case (.set(.null), _), (.unset, _): value = nil
        case (.set(let new), _): value = new
        case (.increment(let number), nil): value = .int(number)
        case (.increment(let number), .int(let old)?): value = .int(old &+ number)
        case (.arrayAdd(let new), nil): value = .array(new)
        case (.arrayAdd(let new), .array(let old)?): value = .array(old.filter { !new.contains($0) } + new)
        case (.arrayRemove(let gone), .array(let old)?): value = .array(old.filter { !gone.contains($0) })
        default: return false
        }
        return true
    }

    mutating func save(_ event: ProfileEvent, _ id: Name?, device: String, isVisible: Bool) {
        let owner: Name
        if let id {
            user(id)
            if deviceUser[device] == nil {
                deviceUser[device] = id
                bump(id)
            }
            owner = id
        } else {
            owner = currentUser(device)
        }
        bump(owner)
        profiles[owner]?.history.append(event)
        pending[device, default: []].append(
            Item(
                user: owner, kind: PendingKind(event.kind) ?? .customEvents, event: event, order: events,
                time: now, isVisible: isVisible))
    }

    private mutating func currentUser(_ device: String) -> Name {
        if let user = deviceUser[device] { return user }
        let id = Name("device:\(device)")
        user(id)
        anonymous.insert(id)
        deviceUser[device] = id
        return id
    }

    mutating func launch(_ device: String, chunk: Int) {
        let current = currentUser(device)
        // The app was never seen to leave, so each launch ends a session and starts another.
        if !sessions.insert(device).inserted { bump(current) }
        bump(current)
        bump(current)
        profiles[current]?.launches += 1
        let due = pending[device, default: []].filter(\.isVisible)
        pending[device] = pending[device, default: []].filter { !$0.isVisible }
        for user in users {
            let items = due.filter { canonical($0.user) == user }.sorted { ($0.kind, $0.order) < ($1.kind, $1.order) }
            for item in items { take(item.event, user, position: item.order, time: item.time) }
            for _ in 0..<(items.count + chunk - 1) / chunk { bump(user) }
        }
    }

    mutating func discard(_ device: String) {
        let owners = Set(pending[device, default: []].map { canonical($0.user) })
        pending[device] = []
        for user in users where owners.contains(user) { bump(user) }
    }

    mutating func change(_ device: String, to id: Name) {
        let current = deviceUser[device]
        if current == id { return }
        if profiles[id] == nil, let current, anonymous.contains(current) {
            rename(current, to: id)
            bump(id)
            return
        }
        if let current, sessions.contains(device) { bump(current) }
        let isKnown = profiles[id] != nil
        user(id)
        deviceUser[device] = id
        bump(id)
        if isKnown, let current, anonymous.contains(current) { merge(current, into: id) }
        if current != nil, sessions.contains(device) { bump(id) }
    }

    private func canonical(_ user: Name) -> Name { merged[user].map(canonical) ?? user }

    /// The target's attributes win, the source's fill the gaps; of dates the earlier first and the later last one
    /// stand; what is counted adds up.
    private mutating func merge(_ source: Name, into target: Name) {
        merged[source] = target
        guard let old = profiles[source], var new = profiles[target] else { return }
        new.attributes.merge(old.attributes) { target, _ in target }
        new.standard.merge(old.standard) { target, _ in target }
        new.setAt.merge(old.setAt) { target, _ in target }
        for name in ["date_of_first_session", "date_of_last_session", "marked_email_as_spam_at"] as [Name] {
            guard case .date(let theirs)? = old.standard[name], case .date(let own)? = profiles[target]?.standard[name]
            else { continue }
            let isEarlier = theirs.timestamp < own.timestamp
            if theirs.timestamp == own.timestamp || isEarlier != (name == "date_of_first_session") { continue }
            new.standard[name] = .date(theirs)
            new.setAt[name] = old.setAt[name]
        }
        new.events.merge(old.events, uniquingKeysWith: +)
        new.times.merge(old.times) { min($0.lowerBound, $1.lowerBound)...max($0.upperBound, $1.upperBound) }
        new.revenue.merge(old.revenue, uniquingKeysWith: +)
        new.bought.merge(old.bought, uniquingKeysWith: +)
        new.launches += old.launches
        profiles[target] = new
    }

    /// An anonymous user becomes known: the same profile under another name.
    private mutating func rename(_ old: Name, to id: Name) {
        profiles[id] = profiles.removeValue(forKey: old)
        users = users.map { $0 == old ? id : $0 }
        anonymous.remove(old)
        for (device, user) in deviceUser where user == old { deviceUser[device] = id }
        for (device, items) in pending {
            pending[device] = items.map {
                $0.user == old
                    ? Item(
                        user: id, kind: $0.kind, event: $0.event, order: $0.order, time: $0.time,
                        isVisible: $0.isVisible) : $0
            }
        }
    }
}
