import ProfileLog
import Testing

@testable import ProfileLogFolds

@Suite("Where a user was: apps and devices")
struct UsageProjectionTests {
    private func use(_ first: Int64, _ last: Int64, sessions: UInt64 = 0) -> UsageState.AppUse {
        .init(sessions: sessions, first: Timestamp(rawValue: first), last: Timestamp(rawValue: last))
    }

    @Test("Each app that events, purchases and changes name has its first and its last use")
    func apps() throws {
        try given(UsageProjection.self, .logged("a").inApp("i").at(7), .logged("a").at(1)).when(
            .bought(1, "p", for: 1, "EUR").inApp("j").at(9), .set("level", 1).inApp("i").at(5),
            .set(.email, "a@b.example").inApp("i").at(6)
        ).then(.init(apps: ["i": use(5, 7), "j": use(9, 9)]))
    }

    @Test("An event without a time of its own is a use at its recording")
    func recorded() throws {
        let at = Happening.recordedAt(1)
        try given(UsageProjection.self).when(.logged("a").inApp("i")).then(.init(apps: ["i": use(at, at)]))
    }

    @Test("Launches and sessions on a device are uses of the app there; sessions alone are counted")
    func sessions() throws {
        try given(UsageProjection.self, .launched.at(3), .sessionStarted.at(4)).when(
            .launched.at(8), .sessionStarted.at(6), .launched.at(2)
        ).then(.init(appOnDevices: use(2, 8, sessions: 2), devices: [Name(Happening.device)]))
    }

    @Test("Who comes to a device, or logs on it, was on it")
    func devices() throws {
        let comings: [Happening] = [
            Happening(event: .userIdentified([.externalID("ana")])), Happening(event: .userChanged(previous: nil)),
            .logged("a"), .set("level", 1),
        ]
        for coming in comings {
            try given(UsageProjection.self, coming).when().then(.init())
            try given(UsageProjection.self).when(coming.onDevice).then(.init(devices: [Name(Happening.device)]))
        }
    }

    @Test("What is saved or queued counts when it takes effect, with its own time")
    func effective() throws {
        try given(UsageProjection.self, .saved("a").inApp("i").at(5), .queued("a").inApp("j").at(6)).when()
            .then(.init())
        try given(UsageProjection.self, .saved("a").inApp("i").at(5), .queued("a").inApp("j").at(6))
            .when(.flushed(1).at(50), .sent(2).at(60))
            .then(.init(apps: ["i": use(5, 5), "j": use(6, 6)], devices: [Name(Happening.device)]))
    }

    @Test("What is rejected or discarded never counts, and what only the SDK has does not yet")
    func ineffective() throws {
        try given(UsageProjection.self, .saved("a").inApp("i"), .saved("a").inApp("j"))
            .when(.flushed(rejecting: 1), .discarded(2)).then(.init())
        let handed = Happening(
            event: .pendingFlushed(
                Flush(launch: .start, chunk: 0, flushed: [Position(rawValue: 1)], rejected: [], isQueued: true))
        ).onDevice
        try given(UsageProjection.self, .saved("a").inApp("i").at(5)).when(handed).then(.init())
    }

    @Test("A merge joins both: sessions add up, the earlier first and the later last use stay")
    func merge() {
        var target = UsageState(apps: ["i": use(5, 7)], appOnDevices: use(3, 4, sessions: 2), devices: ["d"])
        let source = UsageState(
            apps: ["i": use(6, 9), "j": use(1, 1)], appOnDevices: use(1, 2, sessions: 1), devices: ["d", "e"])
        target.merge(source)
        let both = UsageState(
            apps: ["i": use(5, 9), "j": use(1, 1)], appOnDevices: use(1, 4, sessions: 3), devices: ["d", "e"])
        #expect(target == both)
        target.merge(UsageState())
        #expect(target == both)
        var empty = UsageState()
        empty.merge(both)
        #expect(empty == both)
    }

    @Test(
        "Bytes that are no such state are refused",
        arguments: [[1], [8, 1], [0, 0], [0, 0, 0, 0], [0, 0, 1, 1, 0xFF]] as [[UInt8]])
    func noState(bytes: [UInt8]) {
        #expect(bytes.withUnsafeBytes { UsageProjection.decode($0) } == nil)
    }
}
