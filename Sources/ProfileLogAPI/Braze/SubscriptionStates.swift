internal import ProfileLog

/// What a profile says about subscription groups: the standard attribute `subscription_groups`, one entry for each group.
struct SubscriptionStates {
    private var states: [(id: String, isSubscribed: Bool)] = []

    static let groupID: Name = "subscription_group_id"
    static let state: Name = "subscription_state"

    /// The states of an attribute's value; of a group that stands there twice, the later one.
    init(_ value: AttributeValue?) {
        for entry in value?.asArray ?? [] {
            guard let id = entry[Self.groupID]?.asText, let state = entry[Self.state]?.asText else { continue }
            set(id, isSubscribed: state == "subscribed")
        }
    }

    /// The groups, in the order in which the profile first heard of them.
    var ids: [String] { states.map(\.id) }

    /// The state in a group; nil if the profile has none.
    subscript(id: String) -> Bool? { states.first { $0.id.utf8.elementsEqual(id.utf8) }?.isSubscribed }

    mutating func set(_ id: String, isSubscribed: Bool) {
        if let index = states.firstIndex(where: { $0.id.utf8.elementsEqual(id.utf8) }) {
            states[index].isSubscribed = isSubscribed
        } else {
            states.append((id, isSubscribed))
        }
    }

    /// As the attribute keeps them.
    var value: AttributeValue {
        .array(
            states.map { id, isSubscribed in
                .object([
                    .init(Self.groupID, .string(id)),
                    .init(Self.state, .string(isSubscribed ? "subscribed" : "unsubscribed")),
                ])
            })
    }
}

// MARK: - Changing

extension SubscriptionStates {
    /// The event that gives `user` these states and leaves their other groups as they are. Whoever else changes the user meanwhile comes
    /// before or behind it, not between.
    func event(for user: UserID, _ profiles: inout TrackProfiles) throws -> ProfileEvent {
        var merged = SubscriptionStates(try profiles.attribute(.subscriptionGroups, of: user))
        for (id, isSubscribed) in states { merged.set(id, isSubscribed: isSubscribed) }
        try profiles.pin(user)
        return .userAttributesChanged([.init(.subscriptionGroups, merged.value)])
    }

    /// Has `object` keep the groups that it does not name, and gives the states that it sets; nil if it sets none.
    static func fit(_ object: inout TrackObject, _ profiles: inout TrackProfiles) throws -> SubscriptionStates? {
        for index in object.events.indices {
            guard case .userAttributesChanged(var changes) = object.events[index],
                let place = changes.firstIndex(where: { $0.attribute == .subscriptionGroups && $0.value != .null })
            else { continue }
            let states = SubscriptionStates(changes[place].value)
            if case .userAttributesChanged(let merged) = try states.event(for: object.target.user, &profiles) {
                changes[place] = merged[0]
            }
            object.events[index] = .userAttributesChanged(changes)
            return states
        }
        return nil
    }
}
