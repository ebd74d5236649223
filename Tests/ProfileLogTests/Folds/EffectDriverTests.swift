import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogLog
@testable import ProfileLogRecords

/// The minutes that a user played.
enum Minutes: UserProjection {
    static let name = "minutes"
    static let revision: UInt32 = 1
    static var initial: Int64 { 0 }

    static func apply(_ event: borrowing EventView, to minutes: inout Int64) {
        if case .customEvent? = event.content, case .int(let number)? = event.property("minutes") { minutes += number }
    }

    static func merge(_ source: Int64, into target: inout Int64, by event: borrowing EventView) { target += source }
    static func encode(_ minutes: Int64) -> [UInt8] { withUnsafeBytes(of: minutes) { Array($0) } }
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        bytes.count == 8 ? bytes.loadUnaligned(as: Int64.self) : nil
    }
}

/// The minutes that were played in the whole store.
enum AllMinutes: StoreProjection {
    static let name = "all-minutes"
    static let revision: UInt32 = 1
    static var initial: Int64 { 0 }
    static func apply(_ event: borrowing EventView, to minutes: inout Int64) { Minutes.apply(event, to: &minutes) }
    static func encode(_ minutes: Int64) -> [UInt8] { Minutes.encode(minutes) }
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Int64? { Minutes.decode(bytes) }
}

/// The minutes that were played on a device.
enum DeviceMinutes: DeviceProjection {
    static let name = "device-minutes"
    static let revision: UInt32 = 1
    static var initial: Int64 { 0 }
    static func apply(_ event: borrowing EventView, to minutes: inout Int64) { Minutes.apply(event, to: &minutes) }
    static func encode(_ minutes: Int64) -> [UInt8] { Minutes.encode(minutes) }
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Int64? { Minutes.decode(bytes) }
}

/// The number of items that waited, and of those that took effect.
private enum WaitingCount: UserProjection {
    struct State: Codable, Equatable, Sendable {
        var waited = 0
        var effective = 0
    }

    static let name = "waiting-count"
    static let revision: UInt32 = 1
    static let initial = State()

    static func apply(_ event: borrowing EventView, to state: inout State) {
        if event.content != nil { state.effective += 1 }
    }
    static func applyWaiting(_ item: borrowing EventView, to state: inout State) { state.waited += 1 }
}

@Suite("The driver hands contents to folds when they take effect")
struct EffectDriverTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    let ana = UserID.externalID("ana")

    static let projections: [any Projection.Type] = [
        ProfileProjection.self, Minutes.self, AllMinutes.self, DeviceMinutes.self,
    ]

    static func song(_ minutes: Int64) -> CustomEvent {
        CustomEvent(name: "song", properties: [.init("minutes", .int(minutes))])
    }

    private func save(_ minutes: Int64, of user: UserID, _ log: EventLog) throws -> Position {
        try log.append([.customEventSaved(Self.song(minutes))], to: user, context: .saved(on: "phone")).last
    }

    private func fill(_ count: Int, of user: UserID, _ log: EventLog) throws {
        for _ in 0..<count { _ = try log.append([.customEventLogged(CustomEvent(name: "other"))], to: user) }
    }

    @Test("The kinds that concern saved and queued events are those of their roles", arguments: EventKind.allCases)
    func kinds(kind: EventKind) {
        let header = RecordHeader(kind: kind, body: UnsafeRawBufferPointer(start: nil, count: 0))
        switch kind.role {
        case .content(_, .saved), .content(_, .queued): #expect(header.isItem && !header.isOutcome)
        case .outcome(.flushed), .outcome(.sent): #expect(header.isOutcome && !header.isItem)
        default: #expect(!header.concernsItems && !header.isItem && !header.isOutcome)
        }
        #expect(header.concernsItems == (header.isItem || header.isOutcome))
    }

    @Test("What was saved and voided before a snapshot has no effect after it", arguments: [0, 1, 5, 30, 40])
    func snapshotWithVoid(events: Int) throws {
        var options = LogOptions.small(clock)
        options.snapshotInterval = max(1, events)
        let log = try folder.open(options: options, projections: Self.projections)
        let first = try save(1, of: ana, log)
        _ = try save(10, of: ana, log)
        _ = try log.void(first, actor: "a test", reason: "it was wrong")
        try fill(events, of: ana, log)
        try log.writeIndex()
        let user = try #require(try log.find(ana)).number
        if events > 0 {
            let snapshot = try log.withView { try log.states.snapshot(Minutes.self, user.rawValue, upTo: .max - 1, $0) }
            #expect(snapshot != nil)
        }
        _ = try log.launch(device: "phone")
        #expect(try log.state(Minutes.self, of: user) == 10)
        #expect(try log.state(overStore: AllMinutes.self).state == 10)
        #expect(try log.state(DeviceMinutes.self, onDevice: "phone") == 10)
        _ = try log.unvoid(first, actor: "a test", reason: "it was right")
        #expect(try log.state(Minutes.self, of: user) == 11)
        #expect(try log.state(overStore: AllMinutes.self).state == 11)
        #expect(try log.state(DeviceMinutes.self, onDevice: "phone") == 11)
        for threads in [1, 3] {
            #expect(try log.replay(Minutes.self, threads: threads, verify: true).isEqual)
            #expect(try log.replay(AllMinutes.self, threads: threads, verify: true).isEqual)
            #expect(try log.replay(DeviceMinutes.self, threads: threads, verify: true).isEqual)
        }
    }

    @Test("What was void at its flush and counts again has its effect", arguments: [0, 5, 40])
    func countsAgain(events: Int) throws {
        let log = try folder.open(options: .small(clock), projections: Self.projections)
        let bo = UserID.externalID("bo")
        let item = try save(7, of: ana, log)
        try fill(events, of: bo, log)
        try log.writeIndex()
        try fill(1, of: bo, log)
        _ = try log.commit(.identity(.merge(source: ana, target: bo), context: .test))
        _ = try log.void(item, actor: "a test", reason: "it was wrong")
        _ = try log.launch(device: "phone")
        let user = try #require(try log.find(bo)).number
        #expect(try log.state(Minutes.self, of: user) == 0)
        _ = try log.unvoid(item, actor: "a test", reason: "it was right")
        #expect(try log.state(Minutes.self, of: user) == 7)
        #expect(try log.state(overStore: AllMinutes.self).state == 7)
        for threads in [1, 3] {
            #expect(try log.replay(Minutes.self, threads: threads, verify: true).isEqual)
            #expect(try log.replay(AllMinutes.self, verify: true).isEqual)
        }
    }

    @Test("A user who was made since the last index flush gets a snapshot at the last version")
    func snapshotOfNewUser() throws {
        var options = LogOptions()
        options.snapshotInterval = 1
        let log = try folder.open(options: options, projections: Self.projections)
        for _ in 0..<300 { _ = try save(1, of: ana, log) }
        _ = try log.launch(device: "phone")
        let user = try #require(try log.find(ana))
        for _ in 0..<2 {
            try log.writeIndex()
            let version = try log.withView {
                try log.states.snapshot(Minutes.self, user.number.rawValue, upTo: user.version.rawValue, $0)?.version
            }
            #expect(version == user.version.rawValue)
            try log.rebuildCaches()
        }
        #expect(try log.state(Minutes.self, of: user.number) == 300)
    }

    @Test("A void makes one read of a state over the store fold the whole log, and not the next one")
    func keptAfterVoid() throws {
        var options = LogOptions()
        // More events than are folded after a commit, and fewer than a read keeps in any case.
        options.indexLag = 100
        let log = try folder.open(options: options, projections: Self.projections)
        let first = try log.append([.customEventLogged(Self.song(1))], to: ana).last
        try fill(100, of: ana, log)
        try log.writeIndex()
        _ = try log.state(overStore: AllMinutes.self)
        _ = try log.void(first, actor: "a test", reason: "it was wrong")
        #expect(try log.state(overStore: AllMinutes.self).state == 0)
        let stored = try log.withView { try log.states.storedState(AllMinutes.self, $0) }
        #expect(try stored?.state == 0 && stored?.position == log.lastPosition().rawValue)
    }

    @Test("A state over the store is read under the write lock too, and not stored then")
    func underLock() throws {
        var options = LogOptions()
        options.indexLag = 4
        let log = try folder.open(options: options, projections: [ProfileProjection.self])
        try fill(100, of: ana, log)
        let (minutes, _) = try log.commit(decidingUnderLock: { () -> (Int64, PreparedAppend?) in
            (try log.state(overStore: AllMinutes.self).state, nil)
        })
        #expect(try minutes == log.state(overStore: AllMinutes.self).state)
    }

    @Test("An item of a user who was merged counts once, in the other's state", arguments: [1, 3])
    func merged(threads: Int) throws {
        let log = try folder.open(options: .small(clock), projections: Self.projections)
        let bo = UserID.externalID("bo")
        _ = try save(3, of: ana, log)
        let source = try #require(try log.find(ana)).number
        _ = try log.append([.customEventLogged(Self.song(1))], to: bo)
        _ = try log.commit(.identity(.merge(source: ana, target: bo), context: .test))
        let target = try #require(try log.find(bo)).number
        #expect(try log.state(Minutes.self, of: target) == 1)
        _ = try log.launch(device: "phone")
        #expect(try log.state(Minutes.self, of: source) == 0)
        #expect(try log.state(Minutes.self, of: target) == 4)
        #expect(try log.state(overStore: AllMinutes.self).state == 4)
        #expect(try log.replay(Minutes.self, threads: threads, verify: true).isEqual)
    }

    @Test("What is rejected or discarded, or was only handed over, never reaches a fold")
    func ineffective() throws {
        try given(Minutes.self, .saved("song"), .saved("song"))
            .when(.launched, .flushed(rejecting: 1), .discarded(2)).then(0)
        try given(WaitingCount.self, .saved("song"), .saved("song"), .queued("song"))
            .when(.launched, .flushed(rejecting: 1), .discarded(2), .sent(3))
            .then(.init(waited: 3, effective: 1))
    }

    @Test("A void in the stream of a merged user holds at the flush in the other's", arguments: [1, 3])
    func voidBeforeMerge(threads: Int) throws {
        let log = try folder.open(options: .small(clock), projections: Self.projections)
        let bo = UserID.externalID("bo")
        let item = try save(7, of: ana, log)
        _ = try save(2, of: ana, log)
        try fill(3, of: bo, log)
        _ = try log.void(item, actor: "a test", reason: "it was wrong")
        _ = try log.commit(.identity(.merge(source: ana, target: bo), context: .test))
        _ = try log.launch(device: "phone")
        let user = try #require(try log.find(bo)).number
        #expect(try log.state(Minutes.self, of: user) == 2)
        for slice in [UInt64(1), 2, 100] {
            let users = Replayer<Minutes>(log, threads: threads)
            let store = Replayer<AllMinutes>(log, threads: threads)
            let devices = Replayer<DeviceMinutes>(log, threads: threads)
            let last = try log.lastPosition().rawValue
            for end in stride(from: slice, through: last + slice, by: Int(slice)) {
                try users.run(to: Position(rawValue: end))
                try store.run(to: Position(rawValue: end))
                try devices.run(to: Position(rawValue: end))
            }
            var states: [UserNumber: Int64] = [:]
            users.forEachUser { states[$0] = $2 }
            #expect(states[user] == 2)
            #expect(store.state == 2)
            #expect(devices.devices["phone"] == 2)
        }
    }
}

@Suite("Folds of one's own equal a naive list, in every scope")
struct FoldModelTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    /// The number of custom events with each name that took effect.
    private enum Counts: UserProjection, Counting {
        static let name = "counts"
        static func merge(_ source: State, into target: inout State, by event: borrowing EventView) {
            target.merge(source, uniquingKeysWith: +)
        }
    }
    private enum StoreCounts: StoreProjection, Counting { static let name = "store-counts" }
    private enum DeviceCounts: DeviceProjection, Counting { static let name = "device-counts" }

    private struct Model {
        var byUser: [UserNumber: [Name: UInt64]] = [:]
        var all: [Name: UInt64] = [:]
        var byDevice: [Name: [Name: UInt64]] = [:]

        /// Counts by the list of events, one after the other.
        init(_ log: EventLog) throws {
            let last = try log.lastPosition()
            let events = try log.events(from: Position(rawValue: 1), limit: .max, scanLimit: .max).events
            let voided = try log.reader.past.voided(asOf: last)
            var saved: [Position: RecordedEvent] = [:]
            for event in events {
                if event.event.kind.isSaved || event.event.kind.isQueued { saved[event.position] = event }
                let effective: [RecordedEvent] =
                    event.event.kind.isLogged ? [event] : try log.effective(by: event).compactMap { saved[$0.position] }
                for item in effective where !voided.contains(item.position.rawValue) && !item.isErased {
                    guard case .customEvent(let custom)? = item.event.content else { continue }
                    let user = try log.reader.users.canonicalUser(of: item.user)
                    byUser[user, default: [:]][custom.name, default: 0] += 1
                    all[custom.name, default: 0] += 1
                    if let device = item.context.device {
                        byDevice[Name(device), default: [:]][custom.name, default: 0] += 1
                    }
                }
            }
        }
    }

    private func expectModel(_ log: EventLog, _ seed: UInt64) throws {
        let model = try Model(log)
        for user in try log.users(limit: .max) where try log.reader.users.canonicalUser(of: user.number) == user.number
        {
            #expect(try log.state(Counts.self, of: user.number) == model.byUser[user.number] ?? [:], "seed \(seed)")
        }
        #expect(try log.state(overStore: StoreCounts.self).state == model.all, "seed \(seed)")
        for device in VoidStory.devices {
            #expect(
                try log.state(DeviceCounts.self, onDevice: device) == model.byDevice[Name(device)] ?? [:],
                "seed \(seed)")
        }
    }

    @Test("Live, replayed and after every reopening", arguments: Thoroughness.seeds(short: 12, full: 300))
    func model(seed: UInt64) throws {
        let projections: [any Projection.Type] = [
            ProfileProjection.self, Counts.self, StoreCounts.self, DeviceCounts.self,
        ]
        func open() throws -> EventLog { try folder.open(options: .small(clock), projections: projections) }
        var story = VoidStory(try open(), clock, seed: seed, mayErase: seed % 2 == 0)
        for step in 0..<120 {
            try story.step()
            if step % 30 == 29 { try expectModel(story.log, seed) }
        }
        let log = try open()
        try expectModel(log, seed)
        for threads in [1, 3] {
            #expect(try log.replay(Counts.self, threads: threads, verify: true).isEqual, "seed \(seed)")
            #expect(try log.replay(StoreCounts.self, threads: threads, verify: true).isEqual, "seed \(seed)")
            #expect(try log.replay(DeviceCounts.self, threads: threads, verify: true).isEqual, "seed \(seed)")
        }
    }
}

/// Counts custom events by name.
private protocol Counting: Projection where State == [Name: UInt64] {}

extension Counting {
    static var revision: UInt32 { 1 }
    static var initial: [Name: UInt64] { [:] }

    static func apply(_ event: borrowing EventView, to counts: inout [Name: UInt64]) {
        if case .customEvent(let custom)? = event.content { counts[custom.name, default: 0] += 1 }
    }

    static func encode(_ counts: [Name: UInt64]) -> [UInt8] {
        Array(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n").utf8)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer) -> [Name: UInt64]? {
        var counts: [Name: UInt64] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let count = UInt64(words[1]) else { return nil }
            counts[Name(String(words[0]))] = count
        }
        return counts
    }
}
