/// A change of who is known by which ID (spec/rest-api 2.3, 2.4, 2.6, 2.7): decided by the commit, on what the log
/// holds by then.
package enum IdentityChange: Hashable, Sendable {
    /// `alias` leads to `user` too; to a new user who is known by it alone, if `user` is nil.
    case addAlias(alias: UserID, user: UserID?)
    /// What `alias` led to is led to by `newAlias`, under the same label.
    case renameAlias(alias: UserID, newAlias: UserID)
    /// The user without an external ID gets this one; if it is another user's, the two are merged.
    case identify(user: UserID, externalID: UserID)
    /// `source` goes into `target` with all history.
    case merge(source: UserID, target: UserID)
    /// The user's external ID is `newID`; the old one still leads to them.
    case renameExternalID(current: UserID, newID: UserID)
    /// An external ID that was renamed leads to no user.
    case removeExternalID(UserID)
    /// An address leads no more to the user who was made by it: they have another one by now.
    case releaseAddress(UserID)
}

extension PreparedAppend {
    /// `change` of who is known by which ID.
    ///
    /// The receipt is empty if there was nothing to change. Refused with `unknownUser` if there is no such user, and
    /// with `invalid` if the rules of the change forbid it.
    ///
    /// - Parameters:
    ///   - found: users by whom the change was decided. Refused with `conflict` if one of them got an event since, or
    ///     was merged into another user.
    ///   - key: makes the change, sent again, change nothing; one that changed nothing is not remembered.
    ///   - note: identifies what was asked, and is given back with every answer under `key`: the same key with another
    ///     note is refused.
    package static func identity(
        _ change: IdentityChange, by found: [UserInfo] = [], context: EventContext, idempotencyKey key: String? = nil,
        note: [UInt8] = []
    ) throws(AppendError) -> PreparedAppend {
        for id in change.ids { try Validation.check(id) }
        try Validation.check(time: context.occurredAt)
        var append = PreparedAppend(.identity(change, context))
        append.idempotencyKey = try checked(key: key ?? "")
        append.note = note
        var preconditions = Preconditions()
        for user in found { preconditions.require(.brazeID(user.brazeID), unchanged: user) }
        append.require(preconditions)
        return append
    }
}

extension IdentityChange {
    fileprivate var ids: [UserID] {
        switch self {
        case .addAlias(let alias, let user): [alias] + (user.map { [$0] } ?? [])
        case .renameAlias(let old, let new), .identify(let old, let new), .merge(let old, let new),
            .renameExternalID(let old, let new):
            [old, new]
        case .removeExternalID(let id), .releaseAddress(let id): [id]
        }
    }
}

extension Merge {
    /// `source`, known by `ids`, goes into a user who is known by `targetIDs` (spec/rest-api 2.6).
    ///
    /// Aliases move, unless the target has one with the same label, and so do devices; external IDs only to a target
    /// without one. An address leads to the user that the attribute says.
    init(source: UserNumber, version: Version, ids: [UserID], into targetIDs: [UserID]) {
        let labels = Set(targetIDs.compactMap(\.aliasLabel))
        let isIdentified = targetIDs.contains(where: \.isExternalID)
        var moved: [UserID] = []
        var released: [UserID] = []
        for id in ids {
            let moves =
                switch id {
                case .alias(let label, _): !labels.contains(Name(label))
                case .device: true
                case .externalID: !isIdentified
                case .email, .phone, .brazeID: false
                }
            if moves { moved.append(id) } else { released.append(id) }
        }
        self.init(source: source, version: version, identities: moved, released: released)
    }
}

extension UserID {
    var isExternalID: Bool { if case .externalID = self { true } else { false } }

    var aliasLabel: Name? { if case .alias(let label, _) = self { Name(label) } else { nil } }
}
