import ProfileLog
import ProfileLogTesting
import Testing

/// The minutes that a user played.
enum MinutesPlayed: UserProjection {
    static let name = "minutes-played"
    static let revision: UInt32 = 1
    static let initial: Int64 = 0

    static func apply(_ event: borrowing EventView, to minutes: inout Int64) {
        if event.name == "played song", case .int(let more)? = event.property("minutes") { minutes &+= more }
    }

    static func merge(_ source: Int64, into target: inout Int64, by event: borrowing EventView) { target &+= source }
}

/// The code of the article `TestYourFold`.
@Suite("Minutes played")
struct MinutesPlayedTests {
    let song = CustomEvent(name: "played song", properties: [.init("minutes", 3)])

    @Test("A saved song counts when the app is launched")
    func saved() throws {
        #expect(try fold(MinutesPlayed.self, given: [.saved(song)]) == 0)
        #expect(try fold(MinutesPlayed.self, given: [.logged(song), .saved(song), .launch]) == 6)
    }

    @Test("A song that was void does not count")
    func void() throws {
        #expect(try fold(MinutesPlayed.self, given: [.logged(song), .saved(song), .launch, .void(0)]) == 3)
    }

    @Test("What another user played counts after the merge")
    func merge() throws {
        let steps: [Given] = [.logged(song), .otherUser, .logged(song)]
        #expect(try fold(MinutesPlayed.self, given: steps) == 3)
        #expect(try fold(MinutesPlayed.self, given: steps + [.merge]) == 6)
    }

    @Test("Minutes keep the laws of projections")
    func laws() throws {
        try checkLaws(of: MinutesPlayed.self, given: [.logged(song), .saved(song), .launch, .logged(song)])
    }

    @Test("The state is the same after a restart")
    func restart() throws {
        let store = try TemporaryLog(projections: [MinutesPlayed.self])
        try store.log.append([.customEventLogged(song)], to: "ana")
        store.clock.advance(by: .seconds(3600))
        try store.reopen()
        #expect(try store.log.state(of: MinutesPlayed.self, for: "ana") == 3)
    }
}
