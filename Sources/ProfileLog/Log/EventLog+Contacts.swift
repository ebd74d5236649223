extension EventLog {
    /// The users who have this e-mail address or phone number now, as an attribute or, without one, as the ID that they were made by.
    ///
    /// The first is the one whom an update by the address means (spec/rest-api 1.3): users with an external ID come before others, and then
    /// those who were updated last. Spelling with capital letters, or of a number with blanks, makes no difference. Other kinds of IDs
    /// have the user who is known by them. Costs a profile for each user who ever had the address, and if several have it now, what each
    /// was given by the system since their last update.
    package func users(sharing contact: UserID) throws -> [UserInfo] {
        try holders(of: contact)?.users ?? []
    }

    /// Who has an address.
    package struct AddressHolders: Sendable {
        /// As ``users(sharing:)``.
        package var users: [UserInfo]
        /// The numbers of all who were ever given it.
        package var everGiven: Set<UInt64>
    }

    /// As ``users(sharing:)``, with all who were ever given the address; nil if they are more than `most`, of whom none is looked at.
    package func holders(of contact: UserID, atMost most: Int = .max) throws -> AddressHolders? {
        guard let prefix = ContactKey.prefix(contact) else {
            return AddressHolders(users: try find(contact).map { [$0] } ?? [], everGiven: [])
        }
        return try withView { view, transaction in
            let holders = try view.users(contact: prefix, beyond: most, transaction)
            guard holders.count <= most else { return nil }
            var users: Set<UInt64> = []
            for user in holders { users.insert(try view.survivor(of: user, transaction)) }
            var identified: [UserInfo] = []
            var others: [UserInfo] = []
            for user in users {
                let info = try info(user, view, transaction)
                guard try has(contact, info, view, transaction) else { continue }
                if info.ids.contains(where: \.isExternalID) { identified.append(info) } else { others.append(info) }
            }
            return AddressHolders(
                users: try byLastUpdate(identified, view, transaction) + byLastUpdate(others, view, transaction),
                everGiven: Set(holders))
        }
    }

    /// Who was updated last comes first.
    private func byLastUpdate(
        _ users: [UserInfo], _ view: LogView, _ transaction: borrowing ReadTransaction
    ) throws -> [UserInfo] {
        if users.count < 2 { return users }
        var updated: [(user: UserInfo, last: UInt64)] = []
        for user in users {
            updated.append(
                (user, try view.lastUpdate(of: user.number.rawValue, user.version.rawValue, transaction)))
        }
        return updated.sorted { $0.last > $1.last }.map(\.user)
    }

    /// The position of the user's latest event that updates them: what a request left out does not, nor an attribute that the system gave them.
    package func lastUpdate(of user: UserInfo) throws -> Position {
        try withView { view, transaction in
            let position = try view.lastUpdate(of: user.number.rawValue, user.version.rawValue, transaction)
            return Position(rawValue: position)
        }
    }

    private func has(
        _ contact: UserID, _ user: UserInfo, _ view: LogView, _ transaction: borrowing ReadTransaction
    ) throws -> Bool {
        let state = try state(
            ProfileProjection.self, user.number.rawValue, version: user.version.rawValue, view, transaction)
        let attribute: StandardAttribute = if case .email = contact { .email } else { .phone }
        if case .string(let text)? = state.value(attribute) { return ContactKey.isSame(contact, text) }
        return user.ids.contains { $0.kindNumber == contact.kindNumber && ContactKey.isSame(contact, $0.parts[0]) }
    }
}

extension LogView {
    /// The position of the latest of the user's events up to `version` that updates them; 0 if there is none.
    func lastUpdate(
        of user: UInt64, _ version: UInt64, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt64 {
        // In slices: one who is set by address alone may have thousands of events behind their last update.
        for last in stride(from: version, to: 0, by: -128) {
            let positions = try positions(of: user, from: last > 128 ? last - 127 : 1, to: last, transaction)
            for position in positions.reversed() {
                let header = try transaction.get(tables.log, position).flatMap { RecordHeader($0) }
                if header?.isUpdate ?? true { return position }
            }
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
        // Who is hidden would lose the address to a second user.
        let isRow = { (row: Cursor.Row) in row.value.isEmpty && ContactKey.isKey(row.key) }
        try prefix.withUnsafeBytes { try refuseBrokenPage(.contacts, around: $0, transaction, rows: isRow) }
        try transaction.withCursor(tables.contacts) { cursor in
            var row = try cursor.seek(prefix)
            while users.count <= most, let found = row {
                guard isRow(found) else { throw StorageError.damaged(place: "a row of table contacts") }
                guard found.key.starts(with: prefix) else { break }
                users.append(found.key.bigEndian64(at: prefix.count))
                row = try cursor.next()
            }
        }
        return users
    }
}
