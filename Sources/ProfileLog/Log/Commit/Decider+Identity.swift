/// Users by their IDs.
extension Decider {
    mutating func decideIdentity(_ change: IdentityChange, _ context: EventContext) throws {
        let decision =
            switch change {
            case .addAlias(let alias, let user): try addingAlias(alias, user)
            case .renameAlias(let alias, let newAlias): try renamingAlias(alias, newAlias)
            case .identify(let user, let id): try identifying(user, id)
            case .merge(let source, let target): try merging(source, target)
            case .renameExternalID(let id, let newID): try renamingExternalID(id, newID)
            case .removeExternalID(let id): try removingExternalID(id)
            case .releaseAddress(let id): try releasingAddress(id)
            }
        switch decision {
        case .nothing: break
        case .create(let id): _ = try create(id)
        case .event(let event, let user): try self.event(event, context, user)
        }
    }

    /// Makes the event of a change: one at most, so that one record has the key.
    private enum IdentityDecision {
        case nothing
        case create(UserID)
        case event(ProfileEvent, user: UInt64)
    }

    private func known(_ id: UserID) throws -> UInt64 {
        guard let user = try view.user(id, braze: braze) else { throw AppendError.unknownUser(id) }
        return user
    }

    private func ids(_ user: UInt64) throws -> [UserID] {
        try view.identities(of: user).identities
    }

    // MARK: - Aliases

    private func addingAlias(_ alias: UserID, _ id: UserID?) throws -> IdentityDecision {
        guard let label = alias.aliasLabel else { throw AppendError.invalid(place: "The alias", reason: "is none") }
        let owner = try view.user(alias, braze: braze)
        guard let id else { return owner == nil ? .create(alias) : .nothing }
        let user = try known(id)
        if owner == user { return .nothing }
        if owner != nil { throw AppendError.invalid(place: "The alias", reason: "is another user's") }
        guard try !ids(user).contains(where: { $0.aliasLabel == label }) else {
            throw AppendError.invalid(place: "The alias", reason: "has a label under which the user has one already")
        }
        return .event(.aliasAdded(alias), user: user)
    }

    private func renamingAlias(_ alias: UserID, _ newAlias: UserID) throws -> IdentityDecision {
        guard let label = alias.aliasLabel, label == newAlias.aliasLabel else {
            throw AppendError.invalid(place: "The new alias", reason: "must have the label of the old one")
        }
        let user = try known(alias)
        if alias == newAlias { return .nothing }
        if try view.user(newAlias, braze: braze) != nil {
            throw AppendError.invalid(place: "The new alias", reason: "leads to a user already")
        }
        return .event(.aliasRenamed(from: alias, to: newAlias), user: user)
    }

    // MARK: - External IDs

    private func identifying(_ id: UserID, _ externalID: UserID) throws -> IdentityDecision {
        guard externalID.isExternalID else { throw AppendError.invalid(place: "The external ID", reason: "is none") }
        let user = try known(id)
        let target = try view.user(externalID, braze: braze)
        if target == user { return .nothing }
        let ids = try ids(user)
        if ids.contains(where: \.isExternalID) {
            throw AppendError.invalid(place: "The user", reason: "has an external ID already")
        }
        guard let target else { return .event(.userIdentified([externalID]), user: user) }
        let labels = Set(ids.compactMap(\.aliasLabel))
        if try self.ids(target).contains(where: { $0.aliasLabel.map(labels.contains) ?? false }) {
            throw AppendError.invalid(
                place: "The user with this external ID", reason: "has an alias with the same label already")
        }
        return try merging(user, into: target)
    }

    private func renamingExternalID(_ id: UserID, _ newID: UserID) throws -> IdentityDecision {
        guard id.isExternalID, newID.isExternalID, id != newID else {
            throw AppendError.invalid(place: "The new external ID", reason: "must be another one")
        }
        let user = try known(id)
        guard try ids(user).last(where: \.isExternalID) == id else {
            throw AppendError.invalid(place: "The external ID", reason: "was renamed before, and cannot be once more")
        }
        if try view.user(newID, braze: braze) != nil {
            throw AppendError.invalid(place: "The new external ID", reason: "leads to a user already")
        }
        return .event(.externalIDRenamed(from: id, to: newID), user: user)
    }

    private func removingExternalID(_ id: UserID) throws -> IdentityDecision {
        let user = try known(id)
        guard id.isExternalID, try ids(user).last(where: \.isExternalID) != id else {
            throw AppendError.invalid(place: "The external ID", reason: "was not renamed, and cannot be removed")
        }
        return .event(.externalIDRemoved(id), user: user)
    }

    private func releasingAddress(_ id: UserID) throws -> IdentityDecision {
        switch id {
        case .email, .phone: break
        default: throw AppendError.invalid(place: "The address", reason: "is none")
        }
        guard let user = try view.user(id, braze: braze) else { return .nothing }
        return .event(.externalIDRemoved(id), user: user)
    }

    // MARK: - Merges

    private func merging(_ source: UserID, _ target: UserID) throws -> IdentityDecision {
        let (from, to) = (try known(source), try known(target))
        if from == to { return .nothing }
        return try merging(from, into: to)
    }

    private func merging(_ source: UInt64, into target: UInt64) throws -> IdentityDecision {
        let merge = Merge(
            source: UserNumber(rawValue: source),
            version: Version(rawValue: try view.version(of: source)),
            ids: try ids(source), into: try ids(target))
        return .event(.usersMerged(merge), user: target)
    }
}
