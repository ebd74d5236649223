/// What a tail has for the stages of a flush. A row has a number: the user's own, or that of the identifier, contact, key or device in the
/// tail.
extension Tail {
    /// The first `limit` rows of the stage of `progress` behind the one that was written last, in the order of their keys. Who gets a
    /// snapshot is told by `snapshotInterval` (`Options`).
    ///
    /// One look at all that the tail has, and memory for twice the limit.
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
            if let last = progress.last, !stands(row, behind: last, in: stage) { continue }
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

    /// Among how many the rows of a stage are to be looked for.
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

    /// The number of the row that candidate `index` stands for; nil if it is none that this flush writes.
    @inline(__always)
    private func row(at index: Int, of progress: FlushProgress) -> Int? {
        func isNew(_ position: UInt64) -> Bool { position > progress.checkpoint && position <= progress.target }
        switch progress.stage {
        case .streams, .snapshots:
            // A user's first event here stands for the user.
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

    /// As `row(at:of:)`, for those alone whose number of events crosses a multiple of `interval` here.
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

    /// Whether the key of `row` is greater than `key`.
    func stands(_ row: Int, behind key: [UInt8], in stage: FlushProgress.Stage) -> Bool {
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
