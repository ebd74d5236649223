/// Subscription groups in a profile: the standard attribute `subscription_groups`, one entry for each group.
package struct SubscriptionStates {
    private var states: [(id: Name, isSubscribed: Bool)] = []
    /// The index of each group in `states`: without a workspace file, a request may name thousands.
    private var places: [Name: Int] = [:]

    package static let groupID: Name = "subscription_group_id"
    package static let state: Name = "subscription_state"

    /// The states of an attribute's value; of a group that is there twice, the later one.
    package init(_ value: AttributeValue?) {
        for entry in value?.asArray ?? [] {
            guard let id = entry[Self.groupID]?.asText, let state = entry[Self.state]?.asText else { continue }
            set(id, isSubscribed: state == "subscribed")
        }
    }

    /// The number of groups that the profile has a state in.
    package var count: Int { states.count }

    /// The groups, in the order in which the profile first heard of them.
    package var ids: [String] { states.map(\.id.text) }

    /// The state in a group; nil if the profile has none.
    package subscript(id: String) -> Bool? { places[Name(id)].map { states[$0].isSubscribed } }

    package mutating func set(_ id: String, isSubscribed: Bool) { set(Name(id), isSubscribed) }

    private mutating func set(_ id: Name, _ isSubscribed: Bool) {
        if let place = places[id] {
            states[place].isSubscribed = isSubscribed
        } else {
            places[id] = states.count
            states.append((id, isSubscribed))
        }
    }

    /// Merges these states with the other groups as `old` has them.
    package func merged(into old: SubscriptionStates) -> SubscriptionStates {
        var merged = old
        for (id, isSubscribed) in states { merged.set(id, isSubscribed) }
        return merged
    }

    /// As the attribute keeps them.
    package var value: AttributeValue {
        .array(
            states.map { id, isSubscribed in
                .object([
                    .init(Self.groupID, .string(id.text)),
                    .init(Self.state, .string(isSubscribed ? "subscribed" : "unsubscribed")),
                ])
            })
    }
}
