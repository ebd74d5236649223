internal import ProfileLog

extension API {
    /// The profiles that have the address or number `contact`, an `.email` or a `.phone`.
    func usersSharing(_ contact: UserID) throws -> [UserInfo] {
        // Today those that were made by it; a profile that has it as an attribute only is not found.
        try log.find(contact).map { [$0] } ?? []
    }
}
