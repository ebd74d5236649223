/// Folds the whole log into the states of all users (or devices, or of the whole store: `Projection.scope`), without
/// using any cache.
///
/// Users are folded in parallel, each on one thread; memory grows with users and not with events. A replayer can be
/// stopped after any slice and goes on where it stopped; it is not shared between threads.
public final class Replayer<P: Projection> {
    /// The last position that is folded.
    package private(set) var position: Position = .start
    private let log: EventLog
    private let lanes: [Guarded<Lane>]

    /// One thread's share: the users whose number leaves its index as the remainder, the devices by their hash.
    private struct Lane {
        /// The users of a fold by user. The voided ones are folded at the end of a slice.
        var users = UserLane<ProjectionFold<P>>()
        /// The devices of a fold by device.
        var devices: [Name: P.State] = [:]
        /// The state of a fold over the whole store.
        var store = P.initial
    }

    /// A replay of `log` on `threads` threads.
    public init(_ log: EventLog, threads: Int = 1) {
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
    public func run(to target: Position? = nil, progress: (LogProgress) -> Bool = { _ in true }) throws -> Bool {
        // A view also brings the names up to date.
        let (last, driver) = try log.withView { ($0.last, try log.states.driver($0)) }
        let end = min(last, target?.rawValue ?? .max)
        while position.rawValue < end {
            let from = position.rawValue + 1
            let to = min(end, position.rawValue + Self.sliceLength)
            try foldSlice(from, to, driver)
            position = Position(rawValue: to)
            if !progress(LogProgress(stage: "replay", done: to, total: end)) { return to == end }
        }
        return true
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
        try log.environment.withReadTransaction { transaction in
            try transaction.withCursor(log.environment.tables.log) { cursor in
                var row = try cursor.seek(from)
                var expected = from
                while let found = row, expected <= to {
                    guard found.key.number == expected else {
                        throw StorageError.damaged(place: "position \(expected) of the log is missing")
                    }
                    switch P.scope {
                    case .user:
                        if count == 1 || RecordHeader.user(of: found.value) % count == index {
                            try foldUser(RecordHeader(found.value, at: expected), expected, &lane, count, log, driver)
                        }
                    case .device:
                        let header = try RecordHeader(found.value, at: expected)
                        foldDevices(header, expected, &lane, index, count, driver)
                    case .store:
                        if index > 0 { break }
                        let header = try RecordHeader(found.value, at: expected)
                        driver.withEvent(header, at: expected) {
                            ProjectionFold<P>().apply($0, to: &lane.store, under: $1)
                        }
                    }
                    expected += 1
                    row = try cursor.next()
                }
                if expected <= to { throw StorageError.damaged(place: "position \(expected) of the log is missing") }
            }
        }
        for slot in lane.users.voided.sorted() {
            let user = UInt64(slot) * count + index
            lane.users.states[slot] = try log.withView { view in
                try log.states.freshState(P.self, user, version: lane.users.versions[slot], view)
            }
        }
        lane.users.voided = []
    }

    @inline(__always)
    private static func foldUser(
        _ header: RecordHeader, _ position: UInt64, _ lane: inout Lane, _ count: UInt64, _ log: EventLog,
        _ driver: FoldDriver
    ) throws {
        // Each user's first event has its own position. A greater number is damage, and would take memory for all users
        // below it.
        guard header.user <= position else {
            throw StorageError.damaged(place: "the record at position \(position) is of a user who cannot be there yet")
        }
        var fold = ProjectionFold<P>()
        try lane.users.fold(header, at: position, slot: Int(header.user / count), &fold, driver) { fold, state in
            try log.withView { try driver.merge(header, at: position, into: &state, &fold, from: $0) }
        }
    }

    private static func foldDevices(
        _ header: RecordHeader, _ position: UInt64, _ lane: inout Lane, _ index: UInt64, _ count: UInt64,
        _ driver: FoldDriver
    ) {
        driver.forEachDevice(of: header, at: position) { device, event, rules in
            guard device.text.utf8.reduce(0, { $0 &* 31 &+ UInt64($1) }) % count == index else { return }
            ProjectionFold<P>().apply(event, to: &lane.devices[device, default: P.initial], under: rules)
        }
    }

    // MARK: - What came out

    /// Calls `body` with each user who has events, their version and state, ascending by number; with none if the fold
    /// is not by user.
    public func forEachUser(_ body: (UserNumber, Version, P.State) throws -> Void) rethrows {
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
    public var devices: [Name: P.State] {
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
