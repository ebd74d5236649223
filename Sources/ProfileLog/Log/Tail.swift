/// What the caches on disk have not reached: the index of the log's last events, in memory, built from the records alone.
///
/// Every entry keeps the position that made it, so that a reader whose transaction is older ignores what came later. It cannot be copied:
/// whoever looks at it borrows it, and no look-up pays for the retain of a dozen tables.
struct Tail: ~Copyable {
    /// The tail holds the positions behind this one, without a gap.
    let base: UInt64
    /// How many users there are, and were at `base`.
    private(set) var userCount: UInt64
    let usersAtBase: UInt64
    private var creations: [(user: UInt64, position: UInt64)] = []
    private(set) var lastRecordedAt: Int64
    /// While a commit is on its way to the disk: the first position that may yet be taken back.
    var uncommitted: UInt64?

    private(set) var entries: [Entry] = []
    private var heads = NumberTable()
    private(set) var identifiers = ByteStringTable()
    /// Who got an identifier first in the tail, by its number in `identifiers`; 0 for nobody.
    private var firstOwners: [(user: UInt64, position: UInt64)] = []
    /// Who got it after that.
    private var laterOwners: [Int: [(user: UInt64, position: UInt64)]] = [:]
    private(set) var keys = KeyTable()
    private(set) var devices: [Name: [(change: DeviceChange, position: UInt64)]] = [:]
    /// The devices in the order of their arrival.
    private(set) var deviceNames: [Name] = []
    private(set) var contacts = ContactTable()
    private(set) var identities: [UInt64: [IdentityNews]] = [:]
    /// Users who went into others.
    private(set) var merges: [UInt64: (target: UInt64, position: UInt64)] = [:]
    /// Whom `identities` and `merges` tell of, in the order of their arrival.
    private(set) var changedUsers: [UInt64] = []

    /// The records that fail their checksum. What they said is in none of the above.
    private(set) var damage: [Damage] = []

    /// How many items a device holds, for devices of which the writer wanted to know it.
    var loads: [Name: DeviceLoad] = [:]

    /// One event: whose, which version, and where in the tail the same user's event before it is (index + 1; 0 for none).
    struct Entry {
        let user: UInt64
        let version: UInt64
        let previous: UInt32
    }

    /// Where a user was erased: from there on, what the tail holds from before is not what the log says.
    private(set) var erasure: UInt64?

    /// What an event says about the IDs of a user.
    struct IdentityNews {
        let change: Change
        let position: UInt64

        enum Change {
            case created
            case given(UserID)
            case released(UserID)
            /// That user went into this one.
            case tookIn(UInt64)
            case erased
        }

        /// The ID that the user has from now on.
        var given: UserID? { if case .given(let id) = change { id } else { nil } }

        /// Who went into the user.
        var tookIn: UInt64? { if case .tookIn(let source) = change { source } else { nil } }
    }

    init(base: UInt64, userCount: UInt64, lastRecordedAt: Int64) {
        self.base = base
        self.userCount = userCount
        usersAtBase = userCount
        self.lastRecordedAt = lastRecordedAt
    }

    /// The last position that the tail holds, or `base`.
    var last: UInt64 { base + UInt64(entries.count) }

    /// Adds the record at `last + 1`.
    mutating func add(_ record: RecordHeader) {
        let position = last + 1
        addEntry(record)
        lastRecordedAt = max(lastRecordedAt, record.recordedAt)
        if let hash = AppendField.first(in: record.body)?.hash { keys.set(hash, position) }
        switch record.kind {
        case .customEventLogged, .customAttributesChanged, .purchaseLogged: break
        case .userAttributesChanged: addContacts(record, position)
        case .userAttributeSaved, .userAttributesQueued:
            addContacts(record, position)
            addIdentityAndDevice(record, position)
        default: addIdentityAndDevice(record, position)
        }
    }

    @inline(__always)
    private mutating func addEntry(_ record: RecordHeader) {
        let index = UInt32(entries.count)
        let previous = heads.set(record.user, index).map { $0 + 1 } ?? 0
        entries.append(Entry(user: record.user, version: record.version, previous: previous))
    }

    /// Adds a place for the record at `last + 1`, which fails its checksum: in the stream of its user if `header` is known to fit
    /// there, so that who reads that stream meets it.
    mutating func addDamaged(_ header: RecordHeader?) {
        let position = last + 1
        damage.append(Damage(position: position, user: header?.user))
        guard let header else { return entries.append(Entry(user: .max, version: 0, previous: 0)) }
        addEntry(header)
        if header.user > userCount {
            userCount = header.user
            creations.append((userCount, position))
        }
    }

    private mutating func addIdentityAndDevice(_ record: RecordHeader, _ position: UInt64) {
        if record.kind == .userCreated {
            userCount = max(userCount, record.user)
            creations.append((userCount, position))
        }
        guard let body = RecordBody(record.body), !body.erased else {
            if record.kind == .userCreated { note(.created, of: record.user, position) }
            if record.kind == .usersMerged, let source = RecordBody(record.body)?.otherUser {
                noteMerge(of: source, into: record.user, position)
            }
            return
        }
        switch record.kind {
        case .userCreated where body.identities.isEmpty:
            note(.created, of: record.user, position)
        case .userErased:
            note(.erased, of: record.user, position)
            erasure = erasure ?? position
        case .userCreated, .userIdentified, .aliasAdded, .aliasRenamed, .externalIDRenamed, .externalIDRemoved:
            for identity in body.released { release(identity, of: record.user, position) }
            for identity in body.identities { add(identity, user: record.user, position) }
        case .usersMerged:
            guard let source = body.otherUser else { break }
            noteMerge(of: source, into: record.user, position)
            for identity in body.released + body.identities { release(identity, of: source, position) }
            for identity in body.identities { add(identity, user: record.user, position) }
            note(.tookIn(source), of: record.user, position)
        default: break
        }
        DeviceChange.forEach(record, body, position) { device, change in
            note(change, on: device, position)
            switch change {
            case .saved(let item) where item.queued == nil: loads[device]?.waiting += 1
            case .saved: loads[device]?.queued += 1
            case .handed, .sent, .gone: loads[device] = nil
            default: break
            }
        }
    }

    private mutating func addContacts(_ record: RecordHeader, _ position: UInt64) {
        ContactKey.forEach(in: record.body) { contacts.add($0, user: record.user, position) }
    }

    private mutating func add(_ identity: UserID, user: UInt64, _ position: UInt64) {
        if let contact = ContactKey.prefix(identity) { contacts.add(contact, user: user, position) }
        note(.given(identity), of: user, position)
        setOwner(of: identity, user, position)
    }

    private mutating func release(_ identity: UserID, of user: UInt64, _ position: UInt64) {
        note(.released(identity), of: user, position)
        setOwner(of: identity, 0, position)
    }

    private mutating func note(_ change: IdentityNews.Change, of user: UInt64, _ position: UInt64) {
        identities[user, default: []].append(IdentityNews(change: change, position: position))
        if identities[user]?.count == 1, merges[user] == nil { changedUsers.append(user) }
    }

    private mutating func noteMerge(of source: UInt64, into target: UInt64, _ position: UInt64) {
        if merges.updateValue((target, position), forKey: source) == nil, identities[source] == nil {
            changedUsers.append(source)
        }
    }

    private mutating func note(_ change: DeviceChange, on device: Name, _ position: UInt64) {
        devices[device, default: []].append((change, position))
        if devices[device]?.count == 1 { deviceNames.append(device) }
    }

    /// The tail was built from a log in which what was erased is gone.
    mutating func acceptErasures() { erasure = nil }

    private mutating func setOwner(of identity: UserID, _ user: UInt64, _ position: UInt64) {
        guard let key = KeyCoding.identifier(identity) else { return }
        key.withUnsafeBytes { key in
            if let index = identifiers.find(key) {
                laterOwners[index, default: []].append((user, position))
            } else {
                identifiers.add(key)
                firstOwners.append((user, position))
            }
        }
    }

    // MARK: - Look-ups, as of a last visible position

    /// The user's last event in the tail that is visible, as its index.
    @inline(__always)
    func head(_ user: UInt64, visibleTo last: UInt64) -> Int? {
        guard let head = heads[user] else { return nil }
        var index = Int(head)
        while base + UInt64(index) + 1 > last {
            let previous = entries[index].previous
            if previous == 0 { return nil }
            index = Int(previous) - 1
        }
        return index
    }

    /// The user's version after their last event in the tail; nil if none of theirs is there.
    func lastVersion(of user: UInt64) -> UInt64? { heads[user].map { entries[Int($0)].version } }

    /// How many users there are, as far as `last` is visible.
    func userCount(visibleTo last: UInt64) -> UInt64 {
        var (low, high) = (0, creations.count)
        while low < high {
            let middle = (low + high) / 2
            if creations[middle].position <= last { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? usersAtBase : creations[low - 1].user
    }

    func position(at index: Int) -> UInt64 { base + UInt64(index) + 1 }

    /// The user's visible positions behind `checkpoint`, descending, for as long as `body` answers true.
    func forEachPosition(
        of user: UInt64, from last: UInt64, downTo checkpoint: UInt64, _ body: (UInt64, UInt64) -> Bool
    ) {
        guard var index = head(user, visibleTo: last) else { return }
        while position(at: index) > checkpoint {
            if !body(position(at: index), entries[index].version) { return }
            let previous = entries[index].previous
            if previous == 0 { return }
            index = Int(previous) - 1
        }
    }

    /// Whom the identifier with this key leads to by the tail: 0 for nobody, nil if the tail does not say.
    func owner(_ key: UnsafeRawBufferPointer, visibleTo last: UInt64) -> UInt64? {
        identifiers.find(key).flatMap { owner(ofIdentifier: $0, visibleTo: last)?.user }
    }

    /// Whom identifier number `index` leads to, and since when; user 0 is nobody. Nil if the tail has nothing visible about it.
    func owner(ofIdentifier index: Int, visibleTo last: UInt64) -> (user: UInt64, position: UInt64)? {
        if let later = laterOwners[index]?.last(where: { $0.position <= last }) { return later }
        return firstOwners[index].position <= last ? firstOwners[index] : nil
    }

    /// The version of the event that made the first of these changes; nil if there are none.
    func version(ofFirst changes: [IdentityNews]) -> UInt64? {
        changes.first.map { entries[Int($0.position - base) - 1].version }
    }
}
