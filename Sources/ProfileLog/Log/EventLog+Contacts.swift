extension EventLog {
    /// The users who have this e-mail address or phone number now, as an attribute or, without one, as the ID that they were made by.
    ///
    /// The first is the one whom an update by the address means (spec/rest-api 1.3): users with an external ID come before others, and then
    /// those with the latest events. Spelling with capital letters, or of a number with blanks, makes no difference. Other kinds of IDs
    /// have the user who is known by them. Costs a profile for each user who ever had the address.
    public func users(sharing contact: UserID) throws -> [UserInfo] {
        var most = Int.max
        return try users(sharing: contact, outOf: &most) ?? []
    }

    /// As ``users(sharing:)``, and takes from `most` how many users ever had the address; nil if they are more, of whom none is looked at.
    package func users(sharing contact: UserID, outOf most: inout Int) throws -> [UserInfo]? {
        guard let prefix = ContactKey.prefix(contact) else { return try find(contact).map { [$0] } ?? [] }
        return try withView { view, transaction in
            let holders = try view.users(contact: prefix, beyond: most, transaction)
            guard holders.count <= most else { return nil }
            most -= holders.count
            var users: Set<UInt64> = []
            for user in holders { users.insert(try view.survivor(of: user, transaction)) }
            var found: [(user: UserInfo, last: UInt64)] = []
            for user in users {
                let version = try view.version(of: user, transaction)
                let info = try info(user, view, transaction)
                guard try has(contact, info, version, view, transaction) else { continue }
                found.append((info, try view.lastUpdate(of: user, version, transaction)))
            }
            return found.sorted {
                let (left, right) = (
                    $0.user.ids.contains(where: \.isExternalID), $1.user.ids.contains(where: \.isExternalID)
                )
                return left == right ? $0.last > $1.last : left
            }.map(\.user)
        }
    }

    /// The position of the user's latest event that says something of them: what a request left out does not.
    public func lastUpdate(of user: UserInfo) throws -> Position {
        try withView { view, transaction in
            let position = try view.lastUpdate(of: user.number.rawValue, user.version.rawValue, transaction)
            return Position(rawValue: position)
        }
    }

    private func has(
        _ contact: UserID, _ user: UserInfo, _ version: UInt64, _ view: LogView,
        _ transaction: borrowing ReadTransaction
    ) throws -> Bool {
        let state = try state(ProfileProjection.self, user.number.rawValue, version: version, view, transaction)
        let attribute: StandardAttribute = if case .email = contact { .email } else { .phone }
        if case .string(let text)? = state.fields.value(FieldKey(standard: UInt32(attribute.rawValue))) {
            return ContactKey.isSame(contact, text)
        }
        return user.ids.contains { $0.kindNumber == contact.kindNumber && ContactKey.isSame(contact, $0.parts[0]) }
    }
}

extension LogView {
    /// The position of the latest of the user's events up to `version` that says something of them; 0 if there is none.
    func lastUpdate(
        of user: UInt64, _ version: UInt64, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt64 {
        for version in stride(from: version, to: 0, by: -1) {
            let position = try positions(of: user, from: version, to: version, transaction).last ?? 0
            let header = try transaction.get(tables.log, position).flatMap { RecordHeader($0) }
            if header?.kind != .objectsLeftOut { return position }
        }
        return 0
    }

    /// Who was ever given the address with this key in table `contacts`; if they are more than `most`, some of them, but more than that.
    func users(
        contact prefix: [UInt8], beyond most: Int, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt64] {
        try refuseDamage()
        var users = withTail { $0.contacts.users(prefix, visibleTo: last, beyond: most) }
        if checkpoint == 0 { return users }
        try transaction.withCursor(tables.contacts) { cursor in
            var row = try cursor.seek(prefix)
            while users.count <= most, let found = row, found.key.starts(with: prefix) {
                guard found.key.count == prefix.count + 8 else {
                    throw StorageError.damaged(place: "a row of table contacts")
                }
                users.append(found.key.bigEndian64(at: prefix.count))
                row = try cursor.next()
            }
        }
        return users
    }
}
