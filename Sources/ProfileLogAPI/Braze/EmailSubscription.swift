internal import ProfileLog

/// The state `subscribed`, which a profile has with a new e-mail address (spec/rest-api 1.4).
///
/// Who keeps an address keeps the state too: an opt-out is not undone by an update that repeats the address, or names its user by it.
enum EmailSubscription {
    /// Has `object` set the state if it gives its user another address, and says nothing of the state itself.
    ///
    /// The user is not pinned: those who get an address are many, and of two requests at once either may be the one that gave it.
    static func fit(_ object: inout TrackObject, _ profiles: inout TrackProfiles) throws {
        for index in object.events.indices {
            guard case .userAttributesChanged(var changes) = object.events[index],
                let address = changes.first(where: { $0.attribute == .email })?.value.asText,
                !changes.contains(where: { $0.attribute == .emailSubscribe })
            else { continue }
            if try profiles.has(email: address, object.target.user) { continue }
            changes.append(.init(.emailSubscribe, .string("subscribed")))
            object.events[index] = .userAttributesChanged(changes)
        }
    }
}
