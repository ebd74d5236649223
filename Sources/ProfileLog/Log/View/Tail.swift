/// The in-memory index of the log's last events, which the caches on disk lack. Built from the records only.
///
/// Every entry has its position, so that an older view ignores later entries. It cannot be copied: readers borrow it,
/// and no look-up retains a dozen tables.
struct Tail: ~Copyable {
    /// The tail holds the positions after this one, without a gap.
    let base: UInt64
    /// The number of users, now and at `base`.
    private(set) var userCount: UInt64
    let usersAtBase: UInt64
    private var creations: [(user: UInt64, position: UInt64)] = []
    private(set) var lastRecordedAt: Int64
    /// During a commit: its first position, which may still be taken back.
    var uncommitted: UInt64?

    private(set) var entries: [Entry] = []
    private var heads = NumberTable()
    private(set) var identifiers = ByteStringTable()
    /// The first user of an identifier in the tail, by its number in `identifiers`; 0 for no user.
    private var firstOwners: [(user: UInt64, position: UInt64)] = []
    /// Its later users.
    private var laterOwners: [Int: [(user: UInt64, position: UInt64)]] = [:]
    private(set) var keys = KeyTable()
    private(set) var devices: [Name: [(change: DeviceChange, position: UInt64)]] = [:]
    /// The devices in the order of their arrival.
    private(set) var deviceNames: [Name] = []
    private(set) var contacts = ContactTable()
    private(set) var identities: [UInt64: [IdentityNews]] = [:]
    /// Users who were merged into others.
    private(set) var merges: [UInt64: (target: UInt64, position: UInt64)] = [:]
    /// The users of `identities` and `merges`, in the order of their arrival.
    private(set) var changedUsers: [UInt64] = []

    /// The records that fail their checksum. The tables above have nothing of them.
    private(set) var damage: [Damage] = []

    /// The number of items that a device holds, if the writer has asked for it.
    var loads: [Name: DeviceLoad] = [:]

    /// One event: its user and version, and the same user's event before it in the tail (index + 1; 0 for none).
    struct Entry {
        let user: UInt64
        let version: UInt64
        let previous: UInt32
    }

    /// The position of an erasure. The tail's earlier entries may then differ from the log.
    private(set) var erasure: UInt64?

    /// The statement of an event about the IDs of a user.
    struct IdentityNews {
        let change: Change
        let position: UInt64

        enum Change {
            case created
            case given(UserID)
            case released(UserID)
            /// Another user was merged into this one.
            case tookIn(UInt64)
            case erased
        }

        /// The ID that the user gets.
        var given: UserID? { if case .given(let id) = change { id } else { nil } }

        /// The user who was merged into this one.
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
        switch record.kind?.role {
        case .content(let content, let timing):
            if content == .userAttributes { addContacts(record, position) }
            if timing != .logged { addIdentityAndDevice(record, position) }
        case .identity, .device, .outcome, .message: addIdentityAndDevice(record, position)
        case .note, nil: break
        }
    }

    @inline(__always)
    private mutating func addEntry(_ record: RecordHeader) {
        let index = UInt32(entries.count)
        let previous = heads.set(record.user, index).map { $0 + 1 } ?? 0
        entries.append(Entry(user: record.user, version: record.version, previous: previous))
    }

    /// Adds an entry for the record at `last + 1`, which fails its checksum. If `header` fits, the entry is in the
    /// stream of its user, so that readers of that stream meet it.
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
        switch record.kind?.role {
        case .identity(.created) where body.identities.isEmpty:
            note(.created, of: record.user, position)
        case .identity(.erased):
            note(.erased, of: record.user, position)
            erasure = erasure ?? position
        case .identity(.created), .identity(.identified), .identity(.renamed):
            for identity in body.released { release(identity, of: record.user, position) }
            for identity in body.identities { add(identity, user: record.user, position) }
        case .identity(.merged):
            guard let source = body.otherUser else { break }
            noteMerge(of: source, into: record.user, position)
            for identity in body.released + body.identities { release(identity, of: source, position) }
            for identity in body.identities { add(identity, user: record.user, position) }
            note(.tookIn(source), of: record.user, position)
        case .content, .device, .outcome, .message, .note, nil: break
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

    /// Call it if the tail was built after the erasures: it has no erased content.
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

    /// Returns the number of users, as far as `last` is visible.
    func userCount(visibleTo last: UInt64) -> UInt64 {
        let visible = creations.lowerBound { $0.position <= last }
        return visible == 0 ? usersAtBase : creations[visible - 1].user
    }

    func position(at index: Int) -> UInt64 { base + UInt64(index) + 1 }

    /// The user's visible positions after `checkpoint`, descending, for as long as `body` answers true.
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

    /// The user that the identifier with this key resolves to by the tail: 0 for none, nil if the tail does not say.
    func owner(_ key: UnsafeRawBufferPointer, visibleTo last: UInt64) -> UInt64? {
        identifiers.find(key).flatMap { owner(ofIdentifier: $0, visibleTo: last)?.user }
    }

    /// The user that identifier number `index` resolves to, and since when; 0 for none. Nil if the tail has nothing
    /// visible about it.
    func owner(ofIdentifier index: Int, visibleTo last: UInt64) -> (user: UInt64, position: UInt64)? {
        if let later = laterOwners[index]?.last(where: { $0.position <= last }) { return later }
        return firstOwners[index].position <= last ? firstOwners[index] : nil
    }

    /// The version of the event that made the first of these changes; nil if there are none.
    func version(ofFirst changes: [IdentityNews]) -> UInt64? {
        changes.first.map { entries[Int($0.position - base) - 1].version }
    }
}

/// The rows of a tail for the stages of a flush. A row is a number: the user's own, or that of the identifier, contact,
/// key or device in the tail.
extension Tail {
    /// The first `limit` rows of the stage of `progress` after the last written one, in the order of their keys.
    /// `snapshotInterval` (`Options`) decides about snapshots.
    ///
    /// Scans the whole tail, and takes memory for twice the limit.
    func rows(of progress: FlushProgress, snapshotInterval: Int, limit: Int) -> [Int] {
        let stage = progress.stage
        switch stage {
        case .streams, .users: return rows(of: progress, limit, at: { row(at: $0, of: progress) }, precedes: <)
        case .snapshots:
            guard snapshotInterval > 0 else { return [] }
            let interval = UInt64(snapshotInterval)
            return rows(of: progress, limit, at: { snapshotRow(at: $0, of: progress, interval) }, precedes: <)
        case .identifiers, .contacts, .keys, .devices:
            return rows(
                of: progress, limit, at: { row(at: $0, of: progress) }, precedes: { precedes($0, $1, in: stage) })
        }
    }

    @inline(__always)
    private func rows(
        of progress: FlushProgress, _ limit: Int, at row: (Int) -> Int?, precedes: (Int, Int) -> Bool
    ) -> [Int] {
        let stage = progress.stage
        var rows: [Int] = []
        // The rows from here on are not among the first.
        var end: Int?
        for index in 0..<candidates(for: stage) {
            guard let row = row(index) else { continue }
            if let last = progress.last, !isRow(row, after: last, in: stage) { continue }
            if let end, !precedes(row, end) { continue }
            rows.append(row)
            if rows.count / 2 >= limit {
                rows.sort(by: precedes)
                rows.removeLast(rows.count - limit)
                end = rows.last
            }
        }
        rows.sort(by: precedes)
        return Array(rows.prefix(limit))
    }

    /// Returns the number of candidates in a search for rows of a stage.
    func candidates(for stage: FlushProgress.Stage) -> Int {
        switch stage {
        case .streams, .snapshots: entries.count
        case .identifiers: identifiers.count
        case .contacts: contacts.count
        case .keys: keys.count
        case .users: changedUsers.count
        case .devices: deviceNames.count
        }
    }

    /// The number of the row of candidate `index`; nil if this flush writes no such row.
    @inline(__always)
    private func row(at index: Int, of progress: FlushProgress) -> Int? {
        func isNew(_ position: UInt64) -> Bool { position > progress.checkpoint && position <= progress.target }
        switch progress.stage {
        case .streams, .snapshots:
            // A user's first event here represents the user.
            let entry = entries[index]
            return entry.previous == 0 && position(at: index) <= progress.target ? Int(exactly: entry.user) : nil
        case .identifiers:
            let owner = owner(ofIdentifier: index, visibleTo: progress.target)
            return owner.map { isNew($0.position) } == true ? index : nil
        case .contacts: return isNew(contacts.positions[index]) ? index : nil
        case .keys: return isNew(keys.positions[index]) ? index : nil
        case .users:
            let user = changedUsers[index]
            let isChanged = identities[user]?.contains { isNew($0.position) } == true
            return isChanged || merges[user].map { isNew($0.position) } == true ? Int(exactly: user) : nil
        case .devices:
            return devices[deviceNames[index]]?.contains { isNew($0.position) } == true ? index : nil
        }
    }

    /// As `row(at:of:)`, for users whose number of events crosses a multiple of `interval` here.
    @inline(__always)
    private func snapshotRow(at index: Int, of progress: FlushProgress, _ interval: UInt64) -> Int? {
        guard let user = row(at: index, of: progress), user > 0,
            let head = head(UInt64(user), visibleTo: progress.target)
        else { return nil }
        // The tail may begin before the checkpoint.
        let checkpointHead = self.head(UInt64(user), visibleTo: progress.checkpoint)
        let before = checkpointHead.map { entries[$0].version } ?? entries[index].version - 1
        return before / interval == entries[head].version / interval ? nil : user
    }

    /// The key of a row, as `FlushProgress.last` has it.
    func key(of row: Int, in stage: FlushProgress.Stage) -> [UInt8] {
        withKey(of: row, in: stage) { Array($0) }
    }

    /// Tells whether the key of `row` is greater than `key`.
    func isRow(_ row: Int, after key: [UInt8], in stage: FlushProgress.Stage) -> Bool {
        withKey(of: row, in: stage) { row in key.withUnsafeBytes { row.order(to: $0) > 0 } }
    }

    private func precedes(_ left: Int, _ right: Int, in stage: FlushProgress.Stage) -> Bool {
        switch stage {
        case .streams, .snapshots, .users: left < right
        case .devices: deviceNames[left] < deviceNames[right]
        case .identifiers, .contacts, .keys:
            withKey(of: left, in: stage) { left in
                withKey(of: right, in: stage) { right in left.order(to: right) < 0 }
            }
        }
    }

    @inline(__always)
    private func withKey<Result>(
        of row: Int, in stage: FlushProgress.Stage, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        switch stage {
        case .streams, .snapshots, .users:
            var number = UInt64(row).bigEndian
            return withUnsafeBytes(of: &number) { body($0) }
        case .identifiers: return identifiers.withBytes(of: row, body)
        case .contacts: return contacts.keys.withBytes(of: row, body)
        case .keys: return keys.hashes.withBytes(of: row, body)
        case .devices: return deviceNames[row].text.withRawUTF8 { body($0) }
        }
    }
}
