internal import ProfileLogGuide

extension EventLog {
    /// The user to whom `id` resolves; nil if there is none.
    ///
    /// An e-mail address or a phone number means one of the users who have it now: those with an external ID come
    /// before others, then who was updated last counts.
    package func user(meantBy id: UserID) throws -> UserInfo? { try users(sharing: id).first }

    /// The user to whom `id` must resolve.
    package func knownUser(meantBy id: UserID) throws -> UserInfo {
        guard let user = try user(meantBy: id) else { throw APIProblem.unknownUser(id) }
        return user
    }

    /// The ID under which to write for the user with `id`: `id` itself unless it is an address that a user has.
    package func writtenID(_ id: UserID) throws -> UserID {
        guard id.isAddress, let holder = try user(meantBy: id) else { return id }
        return .brazeID(holder.brazeID)
    }

    /// Whether `id` is an address that no user has, and that still leads to the user who was made by it. What is
    /// written for it would reach that user, although the address may have become another user's since.
    package func isOutdated(_ id: UserID) throws -> Bool {
        try id.isAddress && find(id) != nil && users(sharing: id).isEmpty
    }
}

extension PreparedAppend {
    /// Makes an outdated address free for a new user.
    package static func release(_ address: UserID) throws(AppendError) -> PreparedAppend {
        try .identity(.releaseAddress(address), context: EventContext(source: .system))
    }
}

extension UserID {
    /// Whether it is an e-mail address or a phone number, which several users may have.
    package var isAddress: Bool {
        switch self {
        case .email, .phone: true
        default: false
        }
    }
}
