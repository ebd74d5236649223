/// One consistent view of log and index: the tables as a transaction sees them, and the tail for what they lack.
///
/// It reads in the transaction of the closure that lends it, and must not be kept beyond that.
package struct LogView: Reading {
    /// The transaction.
    package let handle: OpaquePointer
    let tail: Guarded<Tail>
    package let tables: Tables
    let nameTable: NameTable
    /// The checkpoint of the caches, as this transaction sees it.
    var checkpoint: UInt64
    /// The last visible position.
    package var last: UInt64
    /// The flush that is under way, by which some rows are ahead of the checkpoint.
    var flush: FlushProgress?
    /// The names under which the states to read are stored, by projection, where they are not the projection's own
    /// (`Generations`).
    var storedNames: [Name: String] = [:]
    /// The addresses of records in memory; nil for a view of a write transaction, which may move them.
    var addresses: AddressCache?
    /// Lets a long read end early; nil outside of the reads of a service.
    package var budget: ReadBudget?
    /// Tells whether the view is the writer's, which includes its uncommitted events. Until it ends, only the writer
    /// changes the tail.
    var isWriter: Bool { last == .max }

    @inline(__always)
    func withTail<Result>(_ body: (borrowing Tail) -> Result) -> Result {
        isWriter ? tail.withoutLock { body($0) } : tail.withReading { body($0) }
    }

    // MARK: - Records

    /// The header of the record at `position`.
    package func header(at position: UInt64) throws -> RecordHeader {
        if let budget { try budget.check(at: position) }
        if let header = knownHeader(at: position) { return header }
        return try RecordHeader(get(tables.log, position), at: position)
    }

    /// As `header(at:)`, with a cursor over `log`: cheaper if the next record is often close.
    @inline(__always)
    package func header(at position: UInt64, _ log: inout Cursor) throws -> RecordHeader {
        if let budget { try budget.check(at: position) }
        if let header = knownHeader(at: position) { return header }
        return try RecordHeader(log.find(position), at: position)
    }

    /// The header of the record at `position`, if its address is known and its checksum is right.
    @inline(__always)
    private func knownHeader(at position: UInt64) -> RecordHeader? {
        guard let addresses else { return nil }
        if let record = addresses.value(of: position), RecordHeader.hasRightChecksum(record) {
            return RecordHeader(record)
        }
        addresses.noteLookUp(of: position, last: last, in: handle)
        return nil
    }

    /// The number of records that are loaded at once.
    private static let prefetchedRecords = 32

    /// Begins to load the records at `positions` from `index` on: to be called at each index, in order. The reader then
    /// waits for some records at once, and not for each in turn.
    @inline(__always)
    package func prefetch(_ positions: [UInt64], _ index: Int) {
        guard index % Self.prefetchedRecords == 0, let addresses else { return }
        let end = min(index + Self.prefetchedRecords, positions.count)
        for index in index..<end { addresses.prefetch(positions[index]) }
    }

    /// Calls `body` with the records from `from` to `to` in order, for as long as it answers true.
    package func scan(from: UInt64, to: UInt64, _ body: (UInt64, RecordHeader) throws -> Bool) throws {
        guard let budget else { return try OpenStore.scan(tables, from: from, to: to, self, body) }
        try OpenStore.scan(tables, from: from, to: to, self) { position, header in
            try budget.check(at: position)
            return try body(position, header)
        }
    }

    /// As `scan`. `skipping` gets the place of each damaged record, which is then skipped; nil to throw at the first.
    func scan(
        from: UInt64, to: UInt64, skipping: ((UInt64, StorageError) -> Void)?,
        _ body: (UInt64, RecordHeader) throws -> Bool
    ) throws {
        var next = from
        while true {
            do {
                return try scan(from: next, to: to) { position, header in
                    let goesOn = try body(position, header)
                    next = position + 1
                    return goesOn
                }
            } catch let error as StorageError {
                guard case .damaged = error, let skipping else { throw error }
                skipping(next, error)
                next += 1
            }
        }
    }

    // MARK: - Damage

    /// Throws if a record of the tail is damaged. It may contain what a look-up did not find, or a later change of what
    /// it found.
    func refuseDamage() throws(StorageError) {
        if let damage = withTail({ $0.damage.first }), damage.position <= last { throw damage.error }
    }

    /// Throws if a record of the tail is damaged and its user is unknown.
    private func refuseDamageOfAnybody() throws(StorageError) {
        if let damage = withTail({ $0.damage.first { $0.user == nil } }), damage.position <= last { throw damage.error }
    }

    /// Throws if a broken page may hide `key` in `table`: the rows around its place must be rows of the table, and in
    /// order.
    func refuseBrokenPage(
        _ table: Table.Name, around key: UnsafeRawBufferPointer,
        rows isRow: (Cursor.Row) -> Bool
    ) throws {
        let table = (handle: tables[table], name: table.rawValue)
        let isSound = try withCursor(table.handle) { cursor in
            let next = try cursor.seek(key)
            if let next, !isRow(next) || next.key.order(to: key) < 0 { return false }
            let previous = next == nil ? try cursor.last() : try cursor.previous()
            if let previous { return isRow(previous) && previous.key.order(to: key) < 0 }
            return next != nil ? true : try count(table.handle) == 0
        }
        guard isSound else { throw StorageError.damaged(place: "a row of table \(table.name)") }
    }

    // MARK: - Users and versions

    /// Returns the number of events of `user`.
    package func version(of user: UInt64) throws -> UInt64 {
        try refuseDamageOfAnybody()
        var streams = try Cursor(handle, tables.streams)
        return try version(of: user, &streams)
    }

    /// As `version(of:)`, with a cursor over `streams`.
    @inline(__always)
    func version(of user: UInt64, _ streams: inout Cursor) throws -> UInt64 {
        let (inTail, users) = withTail { tail -> (UInt64?, UInt64) in
            guard let index = tail.head(user, visibleTo: last), tail.position(at: index) > checkpoint else {
                return (nil, tail.userCount(visibleTo: checkpoint))
            }
            return (tail.entries[index].version, 0)
        }
        if let inTail { return inTail }
        return checkpoint == 0 ? 0 : try storedVersion(of: user, among: users, &streams)
    }

    /// The user's version in table `streams`, which has rows of every user up to number `users`. Throws if a broken
    /// page hides those of this one: a version that is too low would be given to a second event.
    func storedVersion(of user: UInt64, among users: UInt64, _ streams: inout Cursor) throws -> UInt64 {
        if user == .max { return 0 }  // no user's, and there is no key after its rows
        var nextUser = ((user + 1).bigEndian, UInt64(0))
        let next = try withUnsafeBytes(of: &nextUser) { try streams.seek($0) }
        if user < users { try StreamRow.expect(next, of: user + 1, version: 1) }
        var row = next == nil ? try streams.last() : try streams.previous()
        while let found = row, found.key.count == 16, found.key.bigEndian64() == user {
            // A running flush may have written beyond the checkpoint.
            let count = StreamRow.count(try StreamRow.positions(found), upTo: checkpoint)
            if count > 0 { return found.key.bigEndian64(at: 8) + UInt64(count) - 1 }
            row = try streams.previous()
        }
        if user > 0, user <= users { throw StreamRow.missing(user) }
        return 0
    }

    /// The user with this ID, or nil. `braze:` and `device:` IDs are resolved too.
    func user(_ id: UserID, braze: BrazeIDs) throws -> UInt64? {
        switch id {
        case .assignedID(let text):
            guard let user = braze.user(text), user > 0, user <= (try userCount()) else { return nil }
            let canonical = try canonicalUser(of: user)
            return try identities(of: canonical).isErased ? nil : canonical
        case .device(let device):
            return try self.device(Name(device)).user.map { try canonicalUser(of: $0) }
        default:
            guard let key = KeyCoding.identifier(id) else { return nil }
            return try key.withUnsafeBytes { try user(identifier: $0, id) }
        }
    }

    /// As `user(_:braze:)`, for a key of table `identifiers`; `id` is compared if the key is a hash.
    func user(identifier key: UnsafeRawBufferPointer, _ id: @autoclosure () -> UserID) throws -> UInt64? {
        if let user = withTail({ $0.owner(key, visibleTo: last) }) { return user == 0 ? nil : user }
        if checkpoint == 0 {
            try refuseDamage()
            return nil
        }
        guard let row = try get(tables.identifiers, key) else {
            try refuseDamage()
            // If not refused, a second user would get the ID.
            try refuseBrokenPage(.identifiers, around: key) { isIdentifier($0.value) }
            return nil
        }
        guard isIdentifier(row) else { throw StorageError.damaged(place: "a row of table identifiers") }
        if row.count > 12, !row.slice(8..<(row.count - 4)).elementsEqual(KeyCoding.identifierRemainder(id())) {
            return nil
        }
        // A row that a flush has written ahead of the checkpoint is not read: the tail has the ID.
        return row.bigEndian64()
    }

    /// Tells whether `row` is one of table `identifiers`. Records of the log have checksums too, but no user number at
    /// the start.
    private func isIdentifier(_ row: UnsafeRawBufferPointer) -> Bool {
        row.count >= 12 && RecordHeader.hasRightChecksum(row) && row.bigEndian64() <= withTail { $0.userCount }
    }

    /// Returns the number of users.
    func userCount() throws -> UInt64 {
        if checkpoint == 0 { return tailUserCount }
        return Swift.max(try IndexCheckpoint.read(tables, self, last: .max)?.users ?? 0, tailUserCount)
    }

    private var tailUserCount: UInt64 { withTail { $0.userCount(visibleTo: last) } }

    /// A user's IDs in the order in which they were given, whether they are identified, and the position of their
    /// creation.
    func identities(of user: UInt64) throws -> UserRow {
        var (row, takenIn) = try ownRow(of: user)
        var seen: Set<UInt64> = []
        while !row.isIdentified, let source = takenIn.popLast() {
            guard seen.insert(source).inserted else { continue }
            let (other, others) = try ownRow(of: source)
            row.isIdentified = other.isIdentified
            takenIn += others
        }
        return row
    }

    /// Tells whether `user` has a profile: not one who was merged into another or erased.
    package func hasProfile(_ user: UInt64) throws -> Bool {
        let row = try identities(of: user)
        return row.mergedInto == nil && !row.isErased
    }

    /// Tells whether `user`, or the user they were merged into, was erased.
    package func isErased(_ user: UInt64) throws -> Bool {
        try identities(of: user).isErased || identities(of: canonicalUser(of: user)).isErased
    }

    /// The row of a user, and the users that the tail merged into them, whose part it lacks.
    ///
    /// Only `isIdentified` may be used of a merged user's row: during a flush it may already have some events of the
    /// tail, which are then applied twice.
    private func ownRow(of user: UInt64) throws -> (row: UserRow, takenIn: [UInt64]) {
        var row = try storedRow(of: user) ?? UserRow()
        let reached = reach(of: user)
        var takenIn: [UInt64] = []
        withTail { tail in
            let news = (tail.identities[user] ?? []).filter { reached < $0.position && $0.position <= last }
            row.apply(all: news)
            takenIn = news.compactMap(\.tookIn)
            if let merge = tail.merges[user], merge.position <= last { row.mergedInto = merge.target }
        }
        return (row, takenIn)
    }

    private func storedRow(of user: UInt64) throws -> UserRow? {
        guard let stored = try storedBytes(of: user) else { return nil }
        guard let row = UserRow(stored) else { throw UserRow.damage }
        return row
    }

    /// The user's row of table `users`; nil if they came after the checkpoint. Throws if a broken page hides it:
    /// without it they would be a user without IDs and not merged.
    private func storedBytes(of user: UInt64) throws -> UnsafeRawBufferPointer? {
        if checkpoint == 0 { return nil }
        if let row = try get(tables.users, user) { return row }
        if user > 0, user <= withTail({ $0.userCount(visibleTo: checkpoint) }) { throw UserRow.damage }
        return nil
    }

    /// The last position that the user's row in table `users` includes. Events up to it must not be applied again: the
    /// order of the IDs would change.
    private func reach(of user: UInt64) -> UInt64 {
        if let flush, flush.hasWritten(user: user) { flush.target } else { checkpoint }
    }

    /// The user that this one was merged into, through all merges; the user itself if there was none. The search ends
    /// at a user that `known` has.
    package func canonicalUser(of user: UInt64, known: [UInt64: UInt64] = [:]) throws -> UInt64 {
        var canonical = user
        // A merged user gets no more events, so a chain is at most as long as the number of users.
        for _ in 0...(try userCount()) {
            if let known = known[canonical] { return known }
            guard let target = try mergedInto(canonical) else { return canonical }
            canonical = target
        }
        throw StorageError.damaged(place: "the merges of user \(user) have no end")
    }

    func mergedInto(_ user: UInt64) throws -> UInt64? {
        if let merge = withTail({ $0.merges[user] }), merge.position <= last { return merge.target }
        // The tail has all of a user who is in it from the first event on. Table `users` may not have the row yet.
        if user > withTail({ $0.usersAtBase }) { return nil }
        return try storedBytes(of: user).flatMap { row throws(StorageError) in try UserRow.mergedInto(row) }
    }

    // MARK: - Streams

    /// Calls `body` with the user's positions for the versions after `first` up to `last`, the last one first, for as
    /// long as it answers true. Reads them in slices: most searches from the end find their goal near it.
    package func forEachPosition(
        of user: UInt64, after first: UInt64, upTo last: UInt64, _ body: (UInt64) throws -> Bool
    ) throws {
        var (end, slice) = (last, UInt64(128))
        while end > first {
            let begin = end - Swift.min(end - first, slice)
            // The tail finds a slice from its first entry on: longer ones keep a long search linear.
            slice *= 2
            for position in try positions(of: user, from: begin + 1, to: end).reversed() {
                guard try body(position) else { return }
            }
            end = begin
        }
    }

    /// The user's positions for versions `from` … `to`, ascending. Throws if one of them is not there: a broken page
    /// may hide it.
    package func positions(of user: UInt64, from: UInt64, to: UInt64) throws -> [UInt64] {
        let from = Swift.max(from, 1)
        guard from <= to else { return [] }
        let positions = try knownPositions(of: user, from: from, to: to)
        guard UInt64(positions.count) == to - from + 1 else { throw StreamRow.missing(user) }
        return positions
    }

    /// The positions of the system's events after its version `version`, ascending.
    ///
    /// Unlike `positions(of:from:to:)` it asks for no version first: that look-up meets the rows of other users, and
    /// their damage would refuse every fold.
    func systemPositions(after version: UInt64) throws -> [UInt64] {
        try knownPositions(of: 0, from: version + 1, to: .max)
    }

    /// Returns the positions of the user's versions `from` … `to` that are there.
    private func knownPositions(of user: UInt64, from: UInt64, to: UInt64) throws -> [UInt64] {
        var positions: [UInt64] = []
        positions.reserveCapacity(Int(Swift.min(to - from, 1_023)) + 1)
        if checkpoint > 0 {
            try withCursor(tables.streams) { cursor in
                var version = StreamRow.firstVersion(holding: from)
                var row = try cursor.seek(KeyCoding.stream(user: user, version: version))
                while version <= to, let found = row, found.key.count == 16, found.key.bigEndian64() == user {
                    // Each row begins where the last one ended.
                    try StreamRow.expect(found, of: user, version: version)
                    StreamRow.forEach(try StreamRow.positions(found)) { _, position in
                        if version >= from, version <= to, position <= checkpoint { positions.append(position) }
                        version += 1
                    }
                    row = try cursor.next()
                }
            }
        }
        var recent: [UInt64] = []
        withTail { tail in
            tail.forEachPosition(of: user, from: last, downTo: checkpoint) { position, version in
                if version >= from, version <= to { recent.append(position) }
                return version > from
            }
        }
        positions.append(contentsOf: recent.reversed())
        return positions
    }

    // MARK: - Keys

    /// The field of the append under the idempotency key with this hash, and its positions, which end before `end`; nil
    /// if there is none.
    func append(
        keyHash: [UInt8], before end: UInt64, _ header: (UInt64) throws -> RecordHeader
    ) throws -> (field: AppendField, positions: Range<UInt64>)? {
        guard let position = try append(keyHash: keyHash) else { return nil }
        let field = AppendField.first(in: try header(position).body)
        guard let field, position < end, field.count <= end - position else {
            throw StorageError.damaged(place: "the record at position \(position)")
        }
        return (field, position..<position + field.count)
    }

    /// The first position of the append under the idempotency key with this hash, or nil.
    func append(keyHash: [UInt8]) throws -> UInt64? {
        let recent = withTail { tail in keyHash.withUnsafeBytes { tail.keys.position($0) } }
        if let recent, recent <= last { return recent }
        if checkpoint == 0 { return nil }
        guard let row = try get(tables.keys, keyHash) else {
            // If not refused, a retry would store everything again.
            try keyHash.withUnsafeBytes { key in
                try refuseBrokenPage(.keys, around: key) {
                    $0.key.count == key.count && $0.value.count == 8
                }
            }
            return nil
        }
        guard row.count == 8 else { throw StorageError.damaged(place: "a row of table keys") }
        return row.bigEndian64()
    }
}
