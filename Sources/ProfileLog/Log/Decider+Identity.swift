/// Who is known by which ID.
extension Decider {
    mutating func decideIdentity(
        _ change: IdentityChange, _ context: EventContext, of append: PreparedAppend,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws -> AppendReceipt {
        let first = nextPosition
        var places: [AppendReceipt.Place] = []
        var key: AppendField?
        if !append.idempotencyKey.isEmpty {
            // By what IDs a user is named changes with every change: the note says whether the same was asked.
            let content = KeyCoding.hash(append.note)
            if let receipt = try earlierReceipt(append, content, transaction) { return receipt }
            key = AppendField(key: append.idempotencyKey, content: content, count: 1, note: append.note)
        }
        try check(append, transaction)
        let decision =
            switch change {
            case .addAlias(let alias, let user): try addingAlias(alias, user, transaction)
            case .renameAlias(let alias, let newAlias): try renamingAlias(alias, newAlias, transaction)
            case .identify(let user, let id): try identifying(user, id, transaction)
            case .merge(let source, let target): try merging(source, target, transaction)
            case .renameExternalID(let id, let newID): try renamingExternalID(id, newID, transaction)
            case .removeExternalID(let id): try removingExternalID(id, transaction)
            case .releaseAddress(let id): try releasingAddress(id, transaction)
            }
        switch decision {
        case .nothing: break
        case .create(let id): _ = try create(id, &key, &places, transaction)
        case .event(let event, let user): try self.event(event, context, user, &key, &places, transaction)
        }
        return AppendReceipt(
            first: Position(rawValue: first), places: places, isRepetition: false, note: append.note)
    }

    /// What a change comes to: one event at most, on which its key relies.
    private enum IdentityDecision {
        case nothing
        case create(UserID)
        case event(ProfileEvent, user: UInt64)
    }

    private func known(_ id: UserID, _ transaction: borrowing some Reading & ~Copyable) throws -> UInt64 {
        guard let user = try view.user(id, braze: braze, transaction) else { throw AppendError.unknownUser(id) }
        return user
    }

    private func ids(_ user: UInt64, _ transaction: borrowing some Reading & ~Copyable) throws -> [UserID] {
        try view.identities(of: user, transaction).identities
    }

    // MARK: - Aliases

    private func addingAlias(
        _ alias: UserID, _ id: UserID?, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> IdentityDecision {
        guard let label = alias.aliasLabel else { throw AppendError.invalid(place: "The alias", reason: "is none") }
        let owner = try view.user(alias, braze: braze, transaction)
        guard let id else { return owner == nil ? .create(alias) : .nothing }
        let user = try known(id, transaction)
        if owner == user { return .nothing }
        if owner != nil { throw AppendError.invalid(place: "The alias", reason: "is another user's") }
        guard try !ids(user, transaction).contains(where: { $0.aliasLabel == label }) else {
            throw AppendError.invalid(place: "The alias", reason: "has a label under which the user has one already")
        }
        return .event(.aliasAdded(alias), user: user)
    }

    private func renamingAlias(
        _ alias: UserID, _ newAlias: UserID, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> IdentityDecision {
        guard let label = alias.aliasLabel, label == newAlias.aliasLabel else {
            throw AppendError.invalid(place: "The new alias", reason: "must have the label of the old one")
        }
        let user = try known(alias, transaction)
        if alias == newAlias { return .nothing }
        if try view.user(newAlias, braze: braze, transaction) != nil {
            throw AppendError.invalid(place: "The new alias", reason: "leads to a user already")
        }
        return .event(.aliasRenamed(from: alias, to: newAlias), user: user)
    }

    // MARK: - External IDs

    private func identifying(
        _ id: UserID, _ externalID: UserID, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> IdentityDecision {
        guard externalID.isExternalID else { throw AppendError.invalid(place: "The external ID", reason: "is none") }
        let user = try known(id, transaction)
        let target = try view.user(externalID, braze: braze, transaction)
        if target == user { return .nothing }
        let ids = try ids(user, transaction)
        if ids.contains(where: \.isExternalID) {
            throw AppendError.invalid(place: "The user", reason: "has an external ID already")
        }
        guard let target else { return .event(.userIdentified([externalID]), user: user) }
        let labels = Set(ids.compactMap(\.aliasLabel))
        if try self.ids(target, transaction).contains(where: { $0.aliasLabel.map(labels.contains) ?? false }) {
            throw AppendError.invalid(
                place: "The user with this external ID", reason: "has an alias with the same label already")
        }
        return try merging(user, into: target, transaction)
    }

    private func renamingExternalID(
        _ id: UserID, _ newID: UserID, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> IdentityDecision {
        guard id.isExternalID, newID.isExternalID, id != newID else {
            throw AppendError.invalid(place: "The new external ID", reason: "must be another one")
        }
        let user = try known(id, transaction)
        guard try ids(user, transaction).last(where: \.isExternalID) == id else {
            throw AppendError.invalid(place: "The external ID", reason: "was renamed before, and cannot be once more")
        }
        if try view.user(newID, braze: braze, transaction) != nil {
            throw AppendError.invalid(place: "The new external ID", reason: "leads to a user already")
        }
        return .event(.externalIDRenamed(from: id, to: newID), user: user)
    }

    private func removingExternalID(
        _ id: UserID, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> IdentityDecision {
        let user = try known(id, transaction)
        guard id.isExternalID, try ids(user, transaction).last(where: \.isExternalID) != id else {
            throw AppendError.invalid(place: "The external ID", reason: "was not renamed, and cannot be removed")
        }
        return .event(.externalIDRemoved(id), user: user)
    }

    private func releasingAddress(
        _ id: UserID, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> IdentityDecision {
        switch id {
        case .email, .phone: break
        default: throw AppendError.invalid(place: "The address", reason: "is none")
        }
        guard let user = try view.user(id, braze: braze, transaction) else { return .nothing }
        return .event(.externalIDRemoved(id), user: user)
    }

    // MARK: - Merges

    private func merging(
        _ source: UserID, _ target: UserID, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> IdentityDecision {
        let (from, to) = (try known(source, transaction), try known(target, transaction))
        if from == to { return .nothing }
        return try merging(from, into: to, transaction)
    }

    private func merging(
        _ source: UInt64, into target: UInt64, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> IdentityDecision {
        let merge = Merge(
            source: UserNumber(rawValue: source),
            version: Version(rawValue: try view.version(of: source, transaction)),
            ids: try ids(source, transaction), into: try ids(target, transaction))
        return .event(.usersMerged(merge), user: target)
    }
}
