internal import ProfileLogMessaging
internal import ProfileLogRequests

extension SubscriptionStates {
    /// The reason why a profile does not get a state.
    static let full = "would give the profile states in more subscription groups than it may have"

    /// The reason why a profile with the same e-mail address does not get it.
    static let fullElsewhere =
        "would give another profile with the address states in more subscription groups than it may have"

    /// The reason why the rest of the profiles with the same e-mail address do not get it.
    static let tooManyElsewhere = "is for more profiles with the address than one request can change"

    /// Tells whether an append has room for the states of one more of those who share an address: they may take half of
    /// it, and what the request says itself has room in the other half.
    static func haveRoom(in builder: borrowing AppendBuilder) -> Bool {
        builder.byteCount < Limits.bytesPerAppend / 2 && builder.count < Limits.eventsPerAppend / 2
    }

    private func fits(_ limits: TrackLimits) -> Bool {
        count <= limits.arrayElements && value.jsonByteCount <= limits.bytesPerNestedValue
    }

    /// Tells whether `user` has room for these states: each change writes all of a profile's groups, so where
    /// `workspace` declares none, they are limited like an array. The user must stay unchanged, as in
    /// ``change(of:_:)``.
    func fits(_ user: UserID, in workspace: Workspace, _ profiles: inout TrackProfiles) throws -> Bool {
        guard workspace.subscriptionGroups.isEmpty else { return true }
        try profiles.view.requireUnchanged(user)
        let old = SubscriptionStates(try profiles.attribute(.subscriptionGroups, of: user))
        let merged = merged(into: old)
        return merged.count == old.count || merged.fits(workspace.limits)
    }

    /// The change that gives `user` these states and leaves their other groups as they are. It holds only for the user
    /// as they were read.
    func change(of user: UserID, _ profiles: inout TrackProfiles) throws -> UserAttributeChange {
        try profiles.view.requireUnchanged(user)
        let old = SubscriptionStates(try profiles.attribute(.subscriptionGroups, of: user))
        return .init(.subscriptionGroups, merged(into: old).value)
    }

    /// Adds the event of the ``change(of:_:)`` to `builder`.
    ///
    /// - Parameter isNamed: whether an ID names the user. Users that the states reach by an address are not updated by
    ///   them: to these they come from the system (`AddressReader.lastUpdate(of:)`).
    func add(
        to user: UserID, isNamed: Bool, _ builder: inout AppendBuilder, _ profiles: inout TrackProfiles
    ) throws {
        let event = ProfileEvent.userAttributesChanged([try change(of: user, &profiles)])
        try builder.add(event, EventContext(source: isNamed ? .rest : .system), to: user)
        profiles.add([event], to: user, isUpdate: isNamed)
    }

    /// Has `object` keep the groups that it does not name, and gives the states that it sets; nil if it sets none, and
    /// then says nothing of them.
    static func fit(
        _ object: inout TrackObject, in workspace: Workspace, _ profiles: inout TrackProfiles
    ) throws -> SubscriptionStates? {
        for index in object.events.indices {
            guard case .userAttributesChanged(var changes) = object.events[index],
                let place = changes.firstIndex(where: { $0.attribute == .subscriptionGroups && $0.value != .null })
            else { continue }
            let states = SubscriptionStates(changes[place].value)
            let fits = try states.fits(object.target.user, in: workspace, &profiles)
            if fits, states.count > 0 {
                changes[place] = try states.change(of: object.target.user, &profiles)
                object.events[index] = .userAttributesChanged(changes)
                return states
            }
            if !fits { object.dropped.append((StandardAttribute.subscriptionGroups.name, full)) }
            changes.remove(at: place)
            if changes.isEmpty {
                object.events.remove(at: index)
            } else {
                object.events[index] = .userAttributesChanged(changes)
            }
            return nil
        }
        return nil
    }
}
