internal import ProfileLog

extension EventLog {
    /// The user whom a request means by `id`; nil if there is none.
    ///
    /// An e-mail address or a phone number means one of the users who have it now: those with an external ID come before
    /// others, then the latest events count. If nobody has it, it means the user who was made by it.
    func user(meantBy id: UserID) throws -> UserInfo? {
        guard id.isAddress else { return try find(id) }
        return try users(sharing: id).first ?? find(id)
    }

    /// An ID under which to write for the user whom `id` means: `id` itself unless it is an address that somebody has.
    func writtenID(_ id: UserID) throws -> UserID {
        guard id.isAddress, let user = try users(sharing: id).first else { return id }
        return .brazeID(user.brazeID)
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
