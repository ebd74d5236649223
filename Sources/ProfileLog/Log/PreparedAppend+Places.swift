/// Which event of an append is refused, where the refusal does not say.
extension PreparedAppend {
    /// The place of the first event of the user with this ID.
    package func firstItem(of user: UserID) -> Int? { items.firstIndex { targets[$0.target].id == user } }

    /// The place of the first event that is saved on a device with `limit` items already; `waiting` tells how many a device has.
    package func firstItem(beyond limit: Int, _ waiting: (String) throws -> Int) throws -> Int? {
        var counts: [Name: Int] = [:]
        for (place, item) in items.enumerated() where item.kind.isSaved {
            guard let device = devices[place] else { continue }
            let count = try counts[device] ?? waiting(device.text)
            if count >= limit { return place }
            counts[device] = count + 1
        }
        return nil
    }
}
