/// A user to erase.
struct ErasureTarget {
    let id: UserID
    /// The user that the ID must resolve to; nil for any.
    var number: UserNumber?

    /// The user's number; nil if there is none. Throws `AppendError.versionConflict` if the ID must resolve to another
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

/// Users to erase, with the IDs, addresses, devices and names in their records.
struct ErasureScope {
    /// The users, with all users merged into them.
    private(set) var users: Set<UInt64> = []
    /// The positions of their records that have content.
    private(set) var positions: [UInt64] = []
    private(set) var identifiers: Set<[UInt8]> = []
    private(set) var contacts: Set<[UInt8]> = []
    private(set) var devices: Set<Name> = []
    private(set) var names: Set<UInt32> = []

    /// Adds a user and all users merged into them. A loop, as a chain of merges may be as long as the number of users.
    mutating func follow(_ user: UInt64, _ view: LogView) throws {
        var waiting = [user]
        while let user = waiting.popLast() {
            guard users.insert(user).inserted else { continue }
            let version = try view.version(of: user)
            for position in try view.positions(of: user, from: 1, to: version) {
                // A damaged record's IDs, names and devices cannot be followed, so it throws.
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

/// Uses of the names and devices of users to erase in the rest of the log. Other processes write during the survey.
/// What they add is read under the write lock.
struct ErasureSurvey {
    /// The users, names and devices of the survey.
    let scope: ErasureScope
    /// Names that no other user has used up to `position`.
    private(set) var unusedNames: Set<UInt32>
    /// Their devices, folded from other users' events.
    private(set) var devices: [Name: DeviceState] = [:]
    /// The end of the log when the survey began.
    let beginning: UInt64
    /// The position up to which the log was read.
    private(set) var position: UInt64 = 0

    init(_ scope: ErasureScope, beginning: UInt64) {
        self.scope = scope
        self.beginning = beginning
        unusedNames = scope.names
    }

    /// The log changed during the survey: another user was erased, or the users have new names or devices.
    struct Outdated: Error {}

    /// Reads the records after `position` up to `end`.
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

    /// Tells whether the survey covers all of `scope`, which was found later.
    func covers(_ scope: ErasureScope) -> Bool {
        scope.users == self.scope.users && scope.names.isSubset(of: self.scope.names)
            && scope.devices.isSubset(of: self.scope.devices)
    }
}
