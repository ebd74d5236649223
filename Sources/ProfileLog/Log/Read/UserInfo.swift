/// A user as the log knows them.
public struct UserInfo: Hashable, Sendable {
    /// The log's own number.
    public var number: UserNumber
    /// The number of their events.
    public var version: Version
    /// Their IDs in the order in which they were given.
    package var ids: [UserID]
    /// The ID that the store assigned.
    package var brazeID: String
    /// Position of their first event.
    package var created: Position
    /// Tells whether the person was erased, alone or with the user they were merged into.
    package var isErased: Bool

    /// The ID by which they are best known: external ID, alias, e-mail, phone, device, or else the `braze_id`.
    public var id: UserID {
        var row = UserRow()
        row.identities = ids
        return row.primary ?? .assignedID(brazeID)
    }
}
