import ProfileLog
import TestSupport
import Testing

/// The minutes that a user played.
enum MinutesPlayed: UserProjection {
    static let name = "minutes"
    static let revision: UInt32 = 1
    static let initial: Int64 = 0

    static func apply(_ event: borrowing EventView, to minutes: inout Int64) {
        if case .customEvent? = event.content, case .int(let number)? = event.property("minutes") { minutes += number }
    }

    static func merge(_ source: Int64, into target: inout Int64, by event: borrowing EventView) { target += source }
}

/// The minutes that were played in the whole store.
enum MinutesOfAll: StoreProjection {
    static let name = "all-minutes"
    static let revision: UInt32 = 1
    static let initial: Int64 = 0
    static func apply(_ event: borrowing EventView, to minutes: inout Int64) {
        MinutesPlayed.apply(event, to: &minutes)
    }
}

/// The minutes that were played on a device.
enum MinutesOnDevice: DeviceProjection {
    static let name = "device-minutes"
    static let revision: UInt32 = 1
    static let initial: Int64 = 0
    static func apply(_ event: borrowing EventView, to minutes: inout Int64) {
        MinutesPlayed.apply(event, to: &minutes)
    }
}

/// The facts that an event tells of itself when a fold gets it, and how much waited.
enum EventsSeen: UserProjection {
    struct Seen: Codable, Equatable, Sendable {
        var position: Position
        var effect: Position
        var occurredAt: Timestamp
        var recordedAt: Timestamp
        var isSaved: Bool
        var isFromExtension: Bool
        var name: Name?
    }
    struct State: Codable, Equatable, Sendable {
        var seen: [Seen] = []
        var waited = 0
    }

    static let name = "events-seen"
    static let revision: UInt32 = 1
    static let initial = State()

    static func apply(_ event: borrowing EventView, to state: inout State) {
        guard event.content != nil else { return }
        state.seen.append(
            Seen(
                position: event.position, effect: event.effect, occurredAt: event.occurredAt,
                recordedAt: event.recordedAt, isSaved: event.kind == .customEventSaved,
                isFromExtension: event.source == .extension, name: event.name))
    }

    static func applyWaiting(_ item: borrowing EventView, to state: inout State) { state.waited += 1 }
}

@Suite("A fold of one's own gets contents when they take effect")
struct FoldTests {
    let folder = TemporaryFolder()
    let ana = UserID.externalID("ana")

    static func song(_ minutes: Int64) -> CustomEvent {
        CustomEvent(name: "played song", properties: [.init("minutes", .int(minutes))])
    }

    private func context(_ source: EventSource = .extension) -> EventContext {
        EventContext(source: source, process: "PushContent", device: "phone", storage: .appGroup("group.app"))
    }

    private let onPhone = EventContext(source: .app, device: "phone")

    private func open() throws -> EventLog {
        try folder.open(projections: [
            MinutesPlayed.self, MinutesOfAll.self, MinutesOnDevice.self, EventsSeen.self,
        ])
    }

    private func save(_ minutes: Int64, of user: UserID? = nil, _ log: EventLog) throws -> Position {
        try log.append([.customEventSaved(Self.song(minutes))], to: user ?? ana, context: context()).last
    }

    /// The minutes of `user`, of the store and of the phone; and they equal fresh folds.
    private func expect(
        _ minutes: Int64, of user: UserID? = nil, store: Int64? = nil, _ log: EventLog,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try log.state(of: MinutesPlayed.self, for: user ?? ana) == minutes, sourceLocation: location)
        #expect(try log.state(of: MinutesOfAll.self) == store ?? minutes, sourceLocation: location)
        #expect(try log.state(of: MinutesOnDevice.self, on: "phone") == store ?? minutes, sourceLocation: location)
        #expect(try log.replay(MinutesPlayed.self, threads: 2, verify: true).isEqual, sourceLocation: location)
        #expect(try log.replay(MinutesOfAll.self, verify: true).isEqual, sourceLocation: location)
        #expect(try log.replay(MinutesOnDevice.self, verify: true).isEqual, sourceLocation: location)
    }

    @Test("What was saved counts at its flush")
    func flushed() throws {
        let log = try open()
        _ = try log.append([.customEventLogged(Self.song(3))], to: ana, context: onPhone)
        _ = try save(3, log)
        try expect(3, log)
        _ = try log.launch(device: "phone")
        try expect(6, log)
        #expect(try log.profile(of: ana).customEvents.map(\.name) == ["played song"])
    }

    @Test("What was logged offline counts when it is sent")
    func sent() throws {
        let log = try open()
        try log.append([.customEventLogged(Self.song(1))], to: ana, context: .init(source: .app, device: "phone"))
        try log.set(.online(false), on: "phone")
        try log.append([.customEventLogged(Self.song(3))], to: ana, context: .init(source: .app, device: "phone"))
        try expect(1, log)
        try log.set(.online(true), on: "phone")
        try expect(4, log)
    }

    @Test("Before its flush a version has nothing of it")
    func past() throws {
        let log = try open()
        _ = try save(3, log)
        let before = try #require(try log.find(ana))
        _ = try log.launch(device: "phone")
        #expect(try log.state(of: MinutesPlayed.self, for: ana, asOf: .version(before.version)) == 0)
        #expect(try log.state(of: MinutesPlayed.self, for: ana) == 3)
    }

    @Test("What is void counts in no scope, and counts again after an unvoid", arguments: [1, 2, 3])
    func voids(order: Int) throws {
        let log = try open()
        _ = try log.append([.customEventLogged(Self.song(100))], to: ana, context: onPhone)
        var position = Position(rawValue: 0)
        switch order {
        case 1:
            position = try log.append([.customEventLogged(Self.song(3))], to: ana, context: onPhone).last
            _ = try log.void(position, actor: "a test", reason: "it was wrong")
        case 2:
            position = try save(3, log)
            _ = try log.void(position, actor: "a test", reason: "it was wrong")
            _ = try log.launch(device: "phone")
        default:
            position = try save(3, log)
            _ = try log.launch(device: "phone")
            try expect(103, log)
            let flushed = try #require(try log.find(ana))
            _ = try log.void(position, actor: "a test", reason: "it was wrong")
            #expect(try log.state(of: MinutesPlayed.self, for: ana, asOf: .version(flushed.version)) == 103)
        }
        try expect(100, log)
        _ = try log.unvoid(position, actor: "a test", reason: "it was right")
        try expect(103, log)
    }

    @Test("A flushed item tells both times, its source and the position of its effect")
    func view() throws {
        let log = try open()
        var context = context()
        context.occurredAt = OccurredAt(Timestamp(rawValue: 5_000_000))
        let saved = try log.append([.customEventSaved(Self.song(3))], to: ana, context: context).last
        #expect(try log.state(of: EventsSeen.self, for: ana) == .init(seen: [], waited: 1))
        _ = try log.launch(device: "phone")
        let state = try log.state(of: EventsSeen.self, for: ana)
        let recorded = try #require(try log.event(at: saved))
        let seen = try #require(state.seen.first)
        #expect(state.seen.count == 1 && state.waited == 1)
        #expect(seen.position == saved && seen.effect > saved)
        #expect(seen.occurredAt.rawValue == 5_000_000 && seen.recordedAt == recorded.recordedAt)
        #expect(seen.isSaved && seen.isFromExtension && seen.name == "played song")
    }

    @Test("What was erased before its flush has no effect")
    func erased() throws {
        let log = try open()
        _ = try save(3, log)
        _ = try log.append([.customEventLogged(Self.song(1))], to: .externalID("bo"), context: onPhone)
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        _ = try log.launch(device: "phone")
        #expect(try log.find(ana) == nil)
        try expect(1, of: .externalID("bo"), store: 1, log)
    }
}
