internal import ProfileLog

extension EventLog {
    /// The user whom a request means by `id`; nil if there is none.
    ///
    /// An e-mail address or a phone number means one of the users who have it now: those with an external ID come before
    /// others, then who was updated last counts.
    func user(meantBy id: UserID) throws -> UserInfo? { try users(sharing: id).first }

    /// Who has the address `id`, and is meant by it; nil of other IDs.
    func holder(of id: UserID) throws -> UserInfo? { id.isAddress ? try user(meantBy: id) : nil }

    /// An ID under which to write for the user whom `id` means: `id` itself unless it is an address that somebody has.
    func writtenID(_ id: UserID) throws -> UserID { try holder(of: id).map { .brazeID($0.brazeID) } ?? id }

    /// Whether `id` is an address that nobody has, and that still leads to the user who was made by it. What is written
    /// for it would reach that user, although somebody else may have come by the address since.
    func isOutdated(_ id: UserID) throws -> Bool {
        try id.isAddress && find(id) != nil && users(sharing: id).isEmpty
    }
}

extension PreparedAppend {
    /// Makes an outdated address free for a new user.
    static func release(_ address: UserID) throws(AppendError) -> PreparedAppend {
        try .identity(.releaseAddress(address), context: EventContext(source: .system))
    }
}

extension UserID {
    /// Whether it is an e-mail address or a phone number, which several users may have.
    var isAddress: Bool {
        switch self {
        case .email, .phone: true
        default: false
        }
    }
}
