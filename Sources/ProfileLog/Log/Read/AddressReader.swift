/// Reads users by an e-mail address or a phone number, which several users may have.
package struct AddressReader: ReaderPart {
    let log: LogReader

    /// The users who have this e-mail address or phone number now, as an attribute or, without one, as the ID that
    /// created them.
    ///
    /// An update by the address goes to the first (spec/rest-api 1.3): users with an external ID come before others,
    /// then the last updated. Capital letters, and blanks in a number, make no difference. Other kinds of IDs have one
    /// user. Costs a profile for each user who ever had the address, and if several have it now, what the system gave
    /// each since their last update.
    package func users(sharing contact: UserID) throws -> [UserInfo] {
        try holders(of: contact)?.users ?? []
    }

    /// As ``users(sharing:)``, with the numbers of all users who were ever given the address. If they are more than
    /// `most`, nil, and none is looked at.
    package func holders(
        of contact: UserID, atMost most: Int = .max
    ) throws -> (users: [UserInfo], everGiven: Set<UInt64>)? {
        guard let prefix = ContactKey.prefix(contact) else {
            return (users: try log.users.find(contact).map { [$0] } ?? [], everGiven: [])
        }
        return try withView { view in
            let holders = try view.users(contact: prefix, beyond: most)
            guard holders.count <= most else { return nil }
            var users: Set<UInt64> = []
            for user in holders { users.insert(try view.canonicalUser(of: user)) }
            var identified: [UserInfo] = []
            var others: [UserInfo] = []
            for user in users {
                let info = try info(user, view)
                guard try form(of: contact, info, view) != nil else { continue }
                if info.ids.contains(where: \.isExternalID) { identified.append(info) } else { others.append(info) }
            }
            return (users: try byLastUpdate(identified, view) + byLastUpdate(others, view), everGiven: Set(holders))
        }
    }

    /// The last updated comes first.
    private func byLastUpdate(_ users: [UserInfo], _ view: LogView) throws -> [UserInfo] {
        if users.count < 2 { return users }
        var updated: [(user: UserInfo, last: UInt64)] = []
        for user in users {
            updated.append((user, try view.lastUpdate(of: user.number.rawValue, user.version.rawValue)))
        }
        return updated.sorted { $0.last > $1.last }.map(\.user)
    }

    /// The position of the user's latest update. Skipped parts of a request and attributes given by the system are
    /// none.
    package func lastUpdate(of user: UserInfo) throws -> Position {
        try withView { view in
            let position = try view.lastUpdate(of: user.number.rawValue, user.version.rawValue)
            return Position(rawValue: position)
        }
    }

    /// The address as the user has it now, in the form in which it was given; nil if they do not have it.
    func form(of contact: UserID, _ user: UserInfo, _ view: LogView) throws -> String? {
        let state = try states.state(ProfileProjection.self, user.number.rawValue, version: user.version.rawValue, view)
        let attribute: StandardAttribute = if case .email = contact { .email } else { .phone }
        if case .string(let text)? = state.value(attribute) { return ContactKey.isSame(contact, text) ? text : nil }
        return user.ids.first { $0.kindNumber == contact.kindNumber && ContactKey.isSame(contact, $0.parts[0]) }?.parts[
            0]
    }
}

extension LogView {
    /// The position of the latest of the user's events up to `version` that updates them; 0 if there is none.
    fileprivate func lastUpdate(of user: UInt64, _ version: UInt64) throws -> UInt64 {
        var update: UInt64 = 0
        // A user set by address alone may have thousands of events after their last update.
        try forEachPosition(of: user, after: 0, upTo: version) { position in
            let header = try get(tables.log, position).flatMap { RecordHeader($0) }
            if header?.isUpdate ?? true { update = position }
            return update == 0
        }
        return update
    }

    /// Users who were ever given the address with this key in table `contacts`: all of them, or more than `most`.
    func users(contact prefix: [UInt8], beyond most: Int) throws -> [UInt64] {
        try refuseDamage()
        var users = withTail { $0.contacts.users(prefix, visibleTo: last, beyond: most) }
        if checkpoint == 0 { return users }
        // If not refused, a hidden user would lose the address to a second one.
        let isRow = { (row: Cursor.Row) in row.value.isEmpty && ContactKey.isKey(row.key) }
        try prefix.withUnsafeBytes { try refuseBrokenPage(.contacts, around: $0, rows: isRow) }
        try forEachRow(of: tables.contacts.table, from: prefix) { row in
            guard users.count <= most else { return false }
            guard isRow(row) else { throw StorageError.damaged(place: "a row of table contacts") }
            guard row.key.starts(with: prefix) else { return false }
            users.append(row.key.bigEndian64(at: prefix.count))
            return true
        }
        return users
    }
}
