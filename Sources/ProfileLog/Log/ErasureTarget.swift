/// Somebody who is to be erased.
struct ErasureTarget {
    let id: UserID
    /// To whom the ID must lead; nil if that may be anybody.
    var number: UserNumber?

    /// The user's number; nil if there is none. Throws `AppendError.versionConflict` if the ID must lead to somebody else.
    func user(_ view: LogView, braze: BrazeIDs, _ transaction: borrowing some Reading & ~Copyable) throws -> UInt64? {
        let user = try view.user(id, braze: braze, transaction)
        if let number, number.rawValue != user {
            let actual = try user.map { try view.version(of: $0, transaction) } ?? 0
            throw AppendError.versionConflict(user: id, expected: .any, actual: Version(rawValue: actual))
        }
        return user
    }
}
