/// Folds the whole log into the states of all users (or devices, or of the whole store: `Projection.scope`), without
/// using any cache.
///
/// Users are folded in parallel, each on one thread, devices and stores on one; memory grows with users and not with
/// events. A
/// replayer can be stopped after any slice and goes on where it stopped; it is not shared between threads.
package final class Replayer<P: Projection> {
    /// The last position that is folded.
    package private(set) var position: Position = .start
    private let log: EventLog
    private let lanes: [Guarded<Lane>]

    /// One thread's share: the users whose number leaves its index as the remainder; the first has all else.
    private struct Lane {
        /// The users of a fold by user. The voided ones are folded at the end of a slice.
        var users = UserLane<ProjectionFold<P>>()
        /// The devices of a fold by device.
        var devices: [Name: P.State] = [:]
        /// The state of a fold over the whole store.
        var store = P.initial
    }

    /// A replay of `log` on `threads` threads.
    package init(_ log: EventLog, threads: Int = 1) {
        self.log = log
        lanes = (0..<max(1, threads)).map { _ in Guarded(Lane()) }
    }

    /// The most records that one read transaction sees: long ones keep LMDB from reusing pages, and Ctrl-C is noticed
    /// after each. Some tenths of a second's work, as all threads wait for the slowest at the end of each slice.
    static var sliceLength: UInt64 { 1 << 18 }

    /// Folds up to `target` (or the end of the log). `progress` is asked after each slice, and stops the replay with
    /// false.
    ///
    /// Returns whether `target` was reached.
    @discardableResult
    package func run(to target: Position? = nil, progress: (LogProgress) -> Bool = { _ in true }) throws -> Bool {
        // A view also brings the names up to date.
        let (end, driver) = try log.withView { view in
            let end = min(view.last, target?.rawValue ?? .max)
            return (end, try log.states.driver(view, skipping: voidedEvents(upTo: end, view)))
        }
        while position.rawValue < end {
            let from = position.rawValue + 1
            let to = min(end, position.rawValue + Self.sliceLength)
            try foldSlice(from, to, driver)
            position = Position(rawValue: to)
            if !progress(LogProgress(stage: "replay", done: to, total: end)) { return to == end }
        }
        return true
    }

    /// The events that a fold over the store skips, which must be known before it; nil for a fold by user, which finds
    /// out itself. Begins the fold again if what it has is void now, or counts again.
    private func voidedEvents(upTo end: UInt64, _ view: LogView) throws -> VoidedEvents? {
        if P.scope == .user || position.rawValue >= end { return nil }
        let later = try view.voidedEvents(after: position.rawValue, upTo: end)
        if let first = later.first, first <= position.rawValue {
            position = .start
            lanes[0].withWriting { $0 = Lane() }
        }
        return position == .start ? try view.voidedEvents(upTo: end) : later
    }

    private func foldSlice(_ from: UInt64, _ to: UInt64, _ driver: FoldDriver) throws {
        let (log, lanes) = (log, lanes)
        try onThreads(lanes.count) { index in
            try lanes[index].withWriting {
                try Self.fold(&$0, UInt64(index), UInt64(lanes.count), from, to, log, driver)
            }
        }
    }

    @_specialize(where P == ProfileProjection)
    private static func fold(
        _ lane: inout Lane, _ index: UInt64, _ count: UInt64, _ from: UInt64, _ to: UInt64, _ log: EventLog,
        _ driver: FoldDriver
    ) throws {
        let driver = from > 1 ? driver.goingOn(at: from) : driver
        try log.withView { view in
            switch P.scope {
            case .user:
                try view.withCursor(view.tables.log) { cursor in
                    var row = try cursor.seek(from)
                    var expected = from
                    while let found = row, expected <= to {
                        guard found.key.number == expected else {
                            throw StorageError.damaged(place: "position \(expected) of the log is missing")
                        }
                        if count == 1 || RecordHeader.user(of: found.value) % count == index {
                            try foldUser(RecordHeader(found.value, at: expected), expected, &lane, count, driver, view)
                        }
                        expected += 1
                        row = try cursor.next()
                    }
                    if expected <= to {
                        throw StorageError.damaged(place: "position \(expected) of the log is missing")
                    }
                }
            case .device where index == 0:
                var fold = ProjectionFold<ByDevice<P>>()
                try view.scan(from: from, to: to) { position, header in
                    if driver.voided?.contains(position) == true { return true }
                    try driver.apply(header, at: position, to: &lane.devices, &fold, from: view)
                    return true
                }
            case .store where index == 0:
                var fold = ProjectionFold<P>()
                try view.scan(from: from, to: to) { position, header in
                    if driver.voided?.contains(position) == true { return true }
                    try driver.apply(header, at: position, to: &lane.store, &fold, from: view)
                    return true
                }
            case .device, .store: break
            }
            for slot in lane.users.voided.sorted() {
                let user = UInt64(slot) * count + index
                lane.users.states[slot] = try log.states.freshState(
                    P.self, user, version: lane.users.versions[slot], view)
            }
        }
        lane.users.voided = []
    }

    @inline(__always)
    private static func foldUser(
        _ header: RecordHeader, _ position: UInt64, _ lane: inout Lane, _ count: UInt64, _ driver: FoldDriver,
        _ view: LogView
    ) throws {
        // Each user's first event has its own position. A greater number is damage, and would take memory for all users
        // below it.
        guard header.user <= position else {
            throw StorageError.damaged(place: "the record at position \(position) is of a user who cannot be there yet")
        }
        var fold = ProjectionFold<P>()
        try lane.users.fold(header, at: position, slot: Int(header.user / count), &fold, driver, from: view)
    }

    // MARK: - What came out

    /// Calls `body` with each user who has events, their version and state, ascending by number; with none if the fold
    /// is not by user.
    package func forEachUser(_ body: (UserNumber, Version, P.State) throws -> Void) rethrows {
        let count = lanes.count
        let slots = lanes.map { $0.withReading { $0.users.versions.count } }.max() ?? 0
        for slot in 0..<slots {
            for (index, lane) in lanes.enumerated() {
                let found = lane.withReading { lane -> (version: UInt64, state: P.State)? in
                    guard slot < lane.users.versions.count, lane.users.versions[slot] > 0 else { return nil }
                    return (lane.users.versions[slot], lane.users.states[slot])
                }
                guard let found else { continue }
                let user = UserNumber(rawValue: UInt64(slot * count + index))
                try body(user, Version(rawValue: found.version), found.state)
            }
        }
    }

    /// The states of a fold by device, by the devices' IDs.
    package var devices: [Name: P.State] {
        var devices: [Name: P.State] = [:]
        for lane in lanes { lane.withReading { devices.merge($0.devices) { $1 } } }
        return devices
    }

    /// The state of a fold over the whole store.
    package var state: P.State { lanes[0].withReading { $0.store } }

    /// SHA-256 over all states, in hexadecimal: equal folds, equal digests. With each user's state are their number and
    /// version, with a device's its ID.
    package func digest() -> String {
        var hash = SHA256()
        switch P.scope {
        case .user:
            forEachUser { user, version, state in
                var bytes: [UInt8] = []
                bytes.appendBigEndian(user.rawValue)
                bytes.appendBigEndian(version.rawValue)
                hash.update(bytes)
                hash.update(P.encode(state))
            }
        case .device:
            for (device, state) in devices.sorted(by: { $0.key < $1.key }) {
                var bytes: [UInt8] = []
                bytes.appendBigEndian(UInt64(device.text.utf8.count))
                hash.update(bytes + device.text.utf8)
                hash.update(P.encode(state))
            }
        case .store: hash.update(P.encode(state))
        }
        return Hexadecimal.text(hash.finalize())
    }
}
