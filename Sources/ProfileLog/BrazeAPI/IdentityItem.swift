internal import ProfileLogRequests

/// One item of a request that changes IDs of users.
struct IdentityItem: Sendable {
    var change: Change
    /// The list of the request that it is in, and where.
    var array: String
    var index: Int

    enum Change: Sendable {
        case fixed(IdentityChange)
        /// - Parameter merges: whether the person is merged into the user who has the external ID, if there is one.
        case identify(Person, externalID: UserID, merges: Bool = true)
        case merge(source: Person, target: Person)
    }
}

extension IdentityItem.Change {
    /// The reason why the ID that a user gets is likely to be a mistake; nil if it is none, or none is given.
    var doubt: String? {
        switch self {
        case .fixed(.addAlias(let id, _)), .fixed(.renameAlias(_, let id)), .fixed(.renameExternalID(_, let id)),
            .identify(_, let id, _):
            id.doubt
        case .fixed, .merge: nil
        }
    }

    /// Tells whether it depends on who has an ID, and so on the items before it.
    var dependsOnUsers: Bool {
        switch self {
        case .fixed: false
        case .identify(let person, _, let merges): person.isAddress || !merges
        case .merge(let source, let target): source.isAddress || target.isAddress
        }
    }

    /// Resolves addresses to the users who have them. They must stay unchanged until it is stored.
    func resolved(_ view: DecisionView) throws -> IdentityChange {
        func id(_ person: Person, _ label: String = "") throws -> UserID {
            if case .id(let id) = person { return id }
            let id = UserID.assignedID(try person.user(view, label).brazeID)
            try view.requireUnchanged(id)
            return id
        }
        switch self {
        case .fixed(let change): return change
        case .identify(let person, let externalID, let merges):
            let id = try id(person)
            if !merges {
                let holder = try view.find(externalID)
                if let holder, try view.find(id).map({ $0.number != holder.number }) ?? false {
                    throw Person.NoSingleUser(
                        reason: "a user has this external ID, and 'merge_behavior' is 'none'", case: .several)
                }
                try view.requireUnchanged(externalID)
            }
            return .identify(user: id, externalID: externalID)
        case .merge(let source, let target):
            return .merge(
                source: try id(source, "'identifier_to_merge': "), target: try id(target, "'identifier_to_keep': "))
        }
    }
}
