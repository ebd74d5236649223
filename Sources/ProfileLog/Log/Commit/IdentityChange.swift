/// A change of the IDs of users (spec/rest-api 2.3, 2.4, 2.6, 2.7). The commit decides it.
public enum IdentityChange: Hashable, Sendable {
    /// `alias` also resolves to `user`; if that is nil, to a new user with this ID only.
    case addAlias(alias: UserID, user: UserID?)
    /// `newAlias` replaces `alias`, under the same label.
    case renameAlias(alias: UserID, newAlias: UserID)
    /// The user without an external ID gets this one. If another user has it, the two are merged.
    case identify(user: UserID, externalID: UserID)
    /// `source` is merged into `target` with its history.
    case merge(source: UserID, target: UserID)
    /// The user's external ID is `newID`; the old one still resolves to them.
    case renameExternalID(current: UserID, newID: UserID)
    /// An external ID that was renamed resolves to no user from now on.
    case removeExternalID(UserID)
    /// An address no longer resolves to the user who was created by it and has another one now.
    case releaseAddress(UserID)
}

extension PreparedAppend {
    /// An append that makes `change`.
    ///
    /// The receipt is empty if there was nothing to change. Refused with `unknownUser` if there is no such user, and
    /// with `invalid` if the rules of the change forbid it.
    ///
    /// - Parameters:
    ///   - found: users that the decision read. Refused with `conflict` if one of them got an event since, or was
    ///     merged into another user.
    ///   - key: makes the change, sent again, change nothing. A change without effect is not remembered.
    ///   - note: identifies the request, and is returned with every answer under `key`. The same key with another note
    ///     is refused.
    package static func identity(
        _ change: IdentityChange, by found: [UserInfo] = [], context: EventContext, idempotencyKey key: String? = nil,
        note: [UInt8] = []
    ) throws(AppendError) -> PreparedAppend {
        for id in change.ids { try Validation.check(id) }
        try Validation.check(time: context.occurredAt)
        var append = PreparedAppend(.identity(change, context))
        append.idempotencyKey = try checked(key: key ?? "")
        // The IDs of a user change with every change. The note says whether the request is the same.
        (append.note, append.content) = (note, KeyCoding.hash(note))
        var preconditions = Preconditions()
        for user in found { preconditions.require(.user(.assignedID(user.brazeID), user.number, user.version)) }
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

    private var name: String {
        switch self {
        case .addAlias: "addAlias"
        case .renameAlias: "renameAlias"
        case .identify: "identify"
        case .merge: "merge"
        case .renameExternalID: "renameExternalID"
        case .removeExternalID: "removeExternalID"
        case .releaseAddress: "releaseAddress"
        }
    }

    /// A hash of the change: two changes under one key are the same if this is.
    var contentHash: [UInt8] {
        let texts = [name] + ids.map(\.description)
        return KeyCoding.hash(texts.flatMap { Array("\($0.utf8.count) \($0)".utf8) })
    }
}

extension Merge {
    /// Merges `source` with `ids` into a user with `targetIDs` (spec/rest-api 2.6).
    ///
    /// Aliases move, unless the target has one with the same label. Devices move. External IDs move only to a target
    /// without one. An address follows the attribute.
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
                case .email, .phone, .assignedID: false
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
