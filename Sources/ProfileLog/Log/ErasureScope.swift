/// A user to erase.
struct ErasureTarget {
    let id: UserID
    /// The user that the ID must lead to; nil for any.
    var number: UserNumber?

    /// The user's number; nil if there is none. Throws `AppendError.versionConflict` if the ID must lead to another
    /// user.
    func user(_ view: LogView, braze: BrazeIDs) throws -> UInt64? {
        let user = try view.user(id, braze: braze)
        if let number, number.rawValue != user {
            let actual = try user.map { try view.version(of: $0) } ?? 0
            throw AppendError.versionConflict(user: id, expected: .any, actual: Version(rawValue: actual))
        }
        return user
    }
}

/// Persons who are to be erased, and what their records lead to.
struct ErasureScope {
    /// The numbers of these users and of everybody who was merged into them.
    private(set) var users: Set<UInt64> = []
    /// The positions of their records that have a content.
    private(set) var positions: [UInt64] = []
    private(set) var identifiers: Set<[UInt8]> = []
    private(set) var contacts: Set<[UInt8]> = []
    private(set) var devices: Set<Name> = []
    private(set) var names: Set<UInt32> = []

    /// Takes in a user, and everybody who was merged into them: one after the other, since a chain of merges may have
    /// as many links as there are users.
    mutating func follow(_ user: UInt64, _ view: LogView) throws {
        var waiting = [user]
        while let user = waiting.popLast() {
            guard users.insert(user).inserted else { continue }
            let version = try view.version(of: user)
            for position in try view.positions(of: user, from: 1, to: version) {
                // What a damaged record says of IDs, names and devices does not lead to the person's values.
                let header = try view.header(at: position)
                guard let body = RecordBody(header.body) else {
                    throw StorageError.damaged(place: "the record at position \(position) is unreadable")
                }
                if !body.erased { take(header, body, position) }
                if header.kind == .usersMerged, let source = body.otherUser { waiting.append(source) }
            }
        }
    }

    private mutating func take(_ header: RecordHeader, _ body: RecordBody, _ position: UInt64) {
        positions.append(position)
        for id in body.identities + body.released {
            if let key = KeyCoding.identifier(id) { identifiers.insert(key) }
            if let contact = ContactKey.prefix(id) { contacts.insert(contact) }
            if case .device(let device) = id { devices.insert(Name(device)) }
        }
        ContactKey.forEach(in: header.body) { contacts.insert($0) }
        if let device = body.device { devices.insert(Name(String(decoding: device, as: UTF8.self))) }
        body.forEachName(header.kind) { names.insert($0) }
    }
}

/// What the rest of the log says about the names and devices of persons who are to be erased. It is looked at while
/// others write, up to where the log ended at the beginning; what they add is looked at under the write lock.
struct ErasureSurvey {
    /// Whose names and devices are looked for.
    let scope: ErasureScope
    /// Names that no other user used so far.
    private(set) var unusedNames: Set<UInt32>
    /// Their devices, as others made them.
    private(set) var devices: [Name: DeviceState] = [:]
    /// Where the log ended at the beginning.
    let beginning: UInt64
    /// How far the log was looked at.
    private(set) var position: UInt64 = 0

    init(_ scope: ErasureScope, beginning: UInt64) {
        self.scope = scope
        self.beginning = beginning
        unusedNames = scope.names
    }

    /// The log changed under the survey: another user was erased, or the persons have more names or devices than it
    /// looked for.
    struct Outdated: Error {}

    /// Looks at the records after `position` up to `end`.
    mutating func read(to end: UInt64, _ tables: Tables, _ transaction: borrowing some Reading & ~Copyable) throws {
        defer { position = end }
        if scope.names.isEmpty, scope.devices.isEmpty { return }
        try OpenStore.scan(tables, from: position + 1, to: end, transaction) { position, header in
            if header.kind == .userErased, position > beginning { throw Outdated() }
            if scope.users.contains(header.user) { return true }
            guard let body = RecordBody(header.body), !body.erased else { return true }
            if !unusedNames.isEmpty { body.forEachName(header.kind) { unusedNames.remove($0) } }
            DeviceChange.forEach(header, body, position) { device, change in
                if scope.devices.contains(device) { devices[device, default: DeviceState()].apply(change) }
            }
            return position >= beginning || !(unusedNames.isEmpty && scope.devices.isEmpty)
        }
    }

    /// Whether it looks for all that `scope`, found later, lead to.
    func covers(_ scope: ErasureScope) -> Bool {
        scope.users == self.scope.users && scope.names.isSubset(of: self.scope.names)
            && scope.devices.isSubset(of: self.scope.devices)
    }
}
