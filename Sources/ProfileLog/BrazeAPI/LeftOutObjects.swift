internal import ProfileLogRequests

/// What a request skips, gathered by user for the log: `/v1/rejected` lists it.
struct LeftOutObjects {
    /// Of a request that leaves out more, the first are kept, and how many more there were.
    private static let most = 10_000
    private static let itemsPerEvent = 64
    private static let charactersPerField = 255

    private var users: [UserID?] = []
    private var items: [UserID?: [LeftOut]] = [:]
    private var count = 0

    /// Notes that `item` is skipped of what the request says about `user`; nil if it does not say which user.
    mutating func take(_ item: LeftOut, of user: UserID?) {
        count += 1
        guard count <= Self.most else { return }
        var item = item
        item.field = item.field.map { $0.prefix(characters: Self.charactersPerField) }
        if items[user] == nil { users.append(user) }
        items[user, default: []].append(item)
    }

    /// Moves the first user for whom `isKnown` to the front; nil if there is none.
    mutating func moveToFront(_ isKnown: (UserID) throws -> Bool) rethrows -> UserID? {
        guard let place = try users.firstIndex(where: { try $0.map(isKnown) ?? false }) else { return nil }
        users.swapAt(0, place)
        return users[0]
    }

    /// Adds all of it to the request's append.
    func add(to builder: inout AppendBuilder) throws {
        for user in users {
            let items = items[user] ?? []
            for begin in stride(from: 0, to: items.count, by: Self.itemsPerEvent) {
                try builder.leaveOut(Array(items[begin...].prefix(Self.itemsPerEvent)), of: user)
            }
        }
        guard count > Self.most, let last = users.last.flatMap({ items[$0]?.last }) else { return }
        let reason = "\(count - Self.most) more were left out of this request"
        try builder.leaveOut([LeftOut(list: last.list, index: last.index, reason: reason)], of: nil)
    }
}
