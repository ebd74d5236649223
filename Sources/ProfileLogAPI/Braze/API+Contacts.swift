internal import ProfileLog

extension API {
    /// The profiles that have the address or number `contact`, an `.email` or a `.phone`; the first is the one whom an update by it means.
    func usersSharing(_ contact: UserID) throws -> [UserInfo] { try log.users(sharing: contact) }
}
