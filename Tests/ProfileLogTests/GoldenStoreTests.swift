import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

/// A store of format 1, written once and never again: every later version must read it as it was meant.
///
/// `PROFILELOG_NEW_GOLDEN=FOLDER swift test --filter GoldenStore` writes such a store, for a new format's folder next
/// to this one.
@Suite("A store of format 1 is read for ever")
struct GoldenStoreTests {
    private static let fixture = Repository.file("Tests/Fixtures/format-1/data.mdb")
    private static let start: Int64 = 1_800_000_000_000_000

    private static func at(_ seconds: Int64, offset: Int32 = 0) -> OccurredAt {
        OccurredAt(Timestamp(rawValue: start + seconds * 1_000_000), utcOffsetMinutes: offset)
    }

    private static func rest(_ seconds: Int64) -> EventContext {
        EventContext(source: .rest, occurredAt: at(seconds, offset: -330), app: "app-1")
    }

    private static func saved(_ seconds: Int64, source: EventSource = .extension) -> EventContext {
        EventContext(
            source: source, occurredAt: at(seconds), process: "push", device: "phone",
            storage: .appGroup("group.com.example.app"), item: "item-\(seconds)")
    }

    /// Values of every type.
    private static let properties: [AttributeValue.Member] = [
        .init("array", .array([.int(1), .double(1), .string("é"), .null])), .init("bool", .bool(false)),
        .init("date", .date(OccurredAt(Timestamp(rawValue: -5), utcOffsetMinutes: 60))),
        .init("double", .double(-0.5)), .init("empty", .string("")), .init("int", .int(.min)),
        .init("object", .object([.init("a", .object([])), .init("b", .array([]))])), .init("text", .string("田中")),
        .init("uuid", .string("0f8fad5b-d9cb-469f-a165-70867728950e")),
    ]

    private static let match = AttributeValue.Member("id", .int(1))

    /// Every operation.
    private static let operations: [AttributeOperation] = [
        .set(.int(7)), .set(.null), .unset, .increment(-3), .arrayAdd([.string("x")]), .arrayRemove([.int(1)]),
        .objectMerge([.init("k", .bool(true))]), .objectsAdd([.object([.init("id", .int(1))])]),
        .objectsUpdate([.init(match: match, object: [.init("v", .int(2))])], merging: true),
        .objectsUpdate([.init(match: match, object: [.init("v", .int(2))])], merging: false), .objectsRemove([match]),
    ]

    /// The appends of callers, in this order.
    private static let given: [(user: UserID, event: ProfileEvent, context: EventContext)] =
        [
            (
                .externalID("ana"),
                .customEventLogged(CustomEvent(name: "Completed Match Game", properties: properties)),
                rest(1)
            ),
            (
                .alias(label: "crm", name: "a-1"), .customEventLogged(CustomEvent(name: "seen", properties: [])),
                EventContext(source: .import)
            ),
            (
                .email("bo@example.com"),
                .userAttributesChanged([
                    UserAttributeChange(.firstName, .string("Bo")), UserAttributeChange(.email, .null),
                ]), rest(2)
            ),
            (
                .externalID("ana"),
                .purchaseLogged(
                    Purchase(product: "book", currency: "EUR", price: 12.5, quantity: 2, properties: properties)),
                rest(3)
            ),
            (.device("phone"), .customEventSaved(CustomEvent(name: "Viewed Session Progress")), saved(4)),
            (
                .device("phone"), .customAttributesSaved([AttributeChange("Certification", .set(.bool(true)))]),
                saved(5)
            ),
            (.device("phone"), .userAttributeSaved(UserAttributeChange(.email, .string("ana@example.com"))), saved(6)),
            (
                .device("phone"), .userAttributeSaved(UserAttributeChange(.email, .string("no address"))),
                saved(7, source: .import)
            ),
        ]
        + operations.map { (.externalID("ana"), .customAttributesChanged([AttributeChange("attribute", $0)]), rest(8)) }

    private static func open(_ path: String, create: Bool = false) throws -> EventLog {
        var options = LogOptions()
        options.snapshotInterval = 4
        let clock = TestClock(start + 60_000_000)
        options.now = {
            clock.advance(1_000_000)
            return clock.now
        }
        return try EventLog(
            path: path, create: create, options: options, projections: [ProfileProjection.self],
            creation: .creation(of: Array(1...16), at: options.now()))
    }

    private static func write(_ path: String) throws {
        let log = try open(path, create: true)
        for (index, item) in given.enumerated() {
            _ = try log.append(
                [item.event], to: item.user, context: item.context, idempotencyKey: index == 0 ? "first" : nil)
        }
        _ = try log.changeUser(device: "phone", to: .externalID("ana"), context: EventContext(source: .app))
        _ = try log.launch(device: "phone", context: EventContext(source: .app, process: "app"))
        var offline = SettingsChange()
        offline.isOnline = false
        offline.withoutAppGroup = [.init(process: "push", group: "group.com.example.app")]
        _ = try log.change(offline, of: "phone")
        _ = try log.append(
            [.customEventLogged(CustomEvent(name: "played"))], to: .externalID("ana"),
            context: EventContext(source: .app, device: "phone"))
        try log.writeIndex()
        var online = SettingsChange()
        online.isOnline = true
        _ = try log.change(online, of: "phone")
        _ = try log.leave(device: "phone")
        _ = try log.logOut(device: "phone")
        _ = try log.append(
            [.customEventSaved(CustomEvent(name: "late"))], to: .externalID("ana"),
            context: EventContext(source: .extension, process: "push", device: "phone", storage: .appGroup("group.x")))
        _ = try log.commit(
            .discard(device: "phone", .all, actor: "test", reason: "over", context: EventContext(source: .cli)))
    }

    @Test("Every event is there as it was given, and folds to the same profiles")
    func golden() throws {
        if let folder = ProcessInfo.processInfo.environment["PROFILELOG_NEW_GOLDEN"] { try Self.write(folder) }
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: Self.fixture.path, toPath: folder.path + "/data.mdb")
        let log = try Self.open(folder.path)
        try log.expectSound()
        let events = try log.events(from: .start, limit: 1_000).events
        let stored = events.filter {
            $0.context.source == .rest || $0.context.source == .import || $0.event.kind.isSaved
        }
        for (given, stored) in zip(Self.given, stored) {
            #expect(stored.event == given.event)
            #expect(stored.context == given.context)
        }
        let kinds = Set(events.map(\.event.kind))
        #expect(
            kinds.isSuperset(of: [
                .userCreated, .usersMerged, .appLaunched, .sessionStarted, .pendingFlushed, .deviceChanged,
                .customEventQueued, .dataSent, .appLeft, .sessionEnded, .userLoggedOut, .pendingDiscarded,
            ]))
        let ana = try #require(try log.find(.externalID("ana")))
        let profile = try log.named(log.profile(of: ana.number))
        #expect(profile.attributes.map(\.value) == [.string("ana@example.com")])
        #expect(
            profile.customEvents.map(\.name) == ["Completed Match Game", "Viewed Session Progress", "played"] as [Name])
        #expect(try log.reader.items.rejected().map(\.reason) == ["The user attribute email must be an e-mail address"])
        let report = try log.replay(verify: true)
        #expect(report.isEqual, "\(report.differences)")
    }
}
