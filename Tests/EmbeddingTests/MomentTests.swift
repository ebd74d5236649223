import ProfileLog
import TestSupport
import Testing

@Suite("Questions about a moment")
struct MomentTests {
    let folder = TemporaryFolder()
    private let onPhone = EventContext(source: .rest, device: "phone")

    /// Ana has 3 events up to position 3, and bo comes after her. Each earned a coin on the phone.
    private func open() throws -> EventLog {
        var options = LogOptions()
        options.now = { Timestamp(rawValue: 1_000_000) }
        let log = try folder.open(options: options, projections: [Coins.self, CoinsOfAll.self, CoinsOnDevice.self])
        try log.append([.happened("earned"), .happened("earned")], to: .ana, context: onPhone)
        try log.append([.happened("earned")], to: .bo, context: onPhone)
        return log
    }

    @Test("What is not there is empty: an unknown user, one who came later, an unknown device")
    func empty() throws {
        let log = try open()
        let moment = Moment.position(3)
        for (user, moment) in [(UserID.externalID("cyd"), Moment.now), (.bo, moment), (.bo, .version(0))] {
            #expect(try log.profile(of: user, asOf: moment).version == 0)
            #expect(try log.profile(of: user, asOf: moment).customEvents.isEmpty)
            #expect(try log.state(of: Coins.self, for: user, asOf: moment) == 0)
        }
        #expect(try log.profile(of: .bo, asOf: moment, order: .occurred).version == 0)
        #expect(try log.history(of: "cyd").isEmpty)
        #expect(try log.blame(of: "cyd").isEmpty)
        #expect(try log.state(of: CoinsOnDevice.self, on: "tablet") == 0)
        #expect(try log.state(of: CoinsOfAll.self, asOf: .position(0)) == 0)
        #expect(try log.changes(of: "cyd", from: .position(0)).isEmpty)
    }

    @Test("A moment of the past has what was recorded by then, in each scope")
    func past() throws {
        let log = try open()
        let ana = try #require(try log.find(.ana))
        #expect(try log.state(of: Coins.self, for: .ana, asOf: .version(ana.version)) == 2)
        let one = Moment.version(Version(rawValue: ana.version.rawValue - 1))
        #expect(try log.state(of: Coins.self, for: .ana, asOf: one) == 1)
        #expect(try log.profile(of: .ana, asOf: one).customEvents.map(\.count) == [1])
        let last = try log.lastPosition()
        for (position, coins) in [(last.rawValue, 3), (last.rawValue - 1, 2), (1, 0)] {
            let moment = Moment.position(Position(rawValue: position))
            #expect(try log.state(of: CoinsOfAll.self, asOf: moment) == coins)
            #expect(try log.state(of: CoinsOnDevice.self, on: "phone", asOf: moment) == coins)
        }
        #expect(try log.state(of: CoinsOfAll.self, asOf: .time(Timestamp(rawValue: 0))) == 0)
        #expect(try log.state(of: CoinsOfAll.self, asOf: .time(Timestamp(rawValue: 1_000_000))) == 3)
    }

    @Test("What cannot be asked is refused, in each scope")
    func refused() throws {
        let log = try open()
        let (last, version) = (try log.lastPosition(), try #require(try log.find(.ana)).version)
        func expect(_ error: MomentError, _ moment: Moment, isOfUser: Bool = false) {
            #expect(throws: error) { try log.profile(of: .ana, asOf: moment) }
            #expect(throws: error) { try log.state(of: Coins.self, for: .ana, asOf: moment) }
            #expect(throws: error) { try log.changes(of: .ana, from: moment) }
            if isOfUser { return }
            #expect(throws: error) { try log.state(of: CoinsOfAll.self, asOf: moment) }
            #expect(throws: error) { try log.state(of: CoinsOnDevice.self, on: "phone", asOf: moment) }
            #expect(throws: error) { try log.forEachUser(asOf: moment) { _, _ in } }
            #expect(throws: error) { try log.rules(asOf: moment) }
        }
        expect(.beyondLog(last: last), .position(Position(rawValue: last.rawValue + 1)))
        expect(.beyondNow(Timestamp(rawValue: 1_000_000)), .time(Timestamp(rawValue: 1_000_001)))
        expect(.beyondUser(last: version), .version(99), isOfUser: true)
        #expect(throws: MomentError.beyondUser(last: 0)) { try log.profile(of: "cyd", asOf: .version(1)) }
        #expect(throws: MomentError.versionOfAll) { try log.state(of: CoinsOfAll.self, asOf: .version(1)) }
        #expect(throws: MomentError.versionOfAll) { try log.forEachUser(asOf: .version(1)) { _, _ in } }
    }

    @Test("An ID means the user who had it then")
    func identity() throws {
        let log = try open()
        let before = Moment.position(try log.lastPosition())
        try log.change(.merge(source: .bo, target: .ana))
        #expect(try log.state(of: Coins.self, for: .ana) == 3)
        #expect(try log.state(of: Coins.self, for: .bo, asOf: before) == 1)
        #expect(try log.state(of: Coins.self, for: .ana, asOf: before) == 2)
    }

    @Test("Answers that one moment lends know nothing of what is appended between them")
    func lent() throws {
        let log = try open()
        let writer = try folder.open()
        try log.read { moment in
            let (position, coins) = (moment.position, try moment.state(of: Coins.self, for: .ana))
            try writer.append([.happened("earned")], to: .ana)
            #expect(try moment.state(of: Coins.self, for: .ana) == coins)
            #expect(try moment.state(of: CoinsOfAll.self) == coins + 1)
            #expect(try moment.profile(of: .ana).version == moment.find(.ana)?.version)
            #expect(try moment.history(of: .ana).last?.position ?? 0 <= position)
        }
        #expect(try log.state(of: Coins.self, for: .ana) == 3)
    }

    @Test("An attribute, a custom attribute, an event and a product of one name are told apart")
    func blame() throws {
        let log = try folder.open()
        try log.append(
            [
                .userAttributesChanged([UserAttributeChange(.email, "ana@example.com")]),
                .customAttributesChanged([AttributeChange("email", .set("none"))]),
                .customAttributesChanged([AttributeChange("pets", .set(.array([.object([.init("name", "Rex")])])))]),
                .happened("email"),
                .purchaseLogged(Purchase(product: "email", currency: "EUR", price: 0.1, quantity: 3)),
            ], to: .ana, context: .server)
        func values(_ subject: BlameSubject) throws -> [AttributeValue?] {
            try log.blame(subject, of: .ana).map(\.value)
        }
        #expect(try values(.attribute(.email)) == ["ana@example.com"])
        #expect(try values(.customAttribute("email")) == ["none"])
        #expect(try values(.customEvent("email")) == [1])
        #expect(try values(.product("email")) == [3])
        #expect(try values(.customAttribute("pets", path: "[0].name")) == ["Rex"])
        #expect(try values(.customAttribute("phone")).isEmpty)
        let all = try log.blame(of: .ana)
        #expect(all.map(\.field).sorted() == ["email", "email", "email_subscribe", "pets[0].name"])
        #expect(all.count(where: \.isCustom) == 2)
        #expect(throws: AppendError.self) { try values(.customAttribute("pets", path: "[x")) }
        let profile = try log.profile(of: .ana)
        #expect(profile[.email] == "ana@example.com" && profile["email"] == "none" && profile["phone"] == nil)
        #expect(profile.purchases.first?.revenue.map(\.amount) == [0.3])
    }

    @Test("Users are found by what is known of them; changes name what differs")
    func condition() throws {
        let log = try open()
        try log.append([.customAttributesChanged([AttributeChange("plan", .set("silver"))])], to: .bo)
        var silver: [UserID] = []
        try log.forEachUser { user, profile in
            if profile["plan"] == "silver" { silver.append(user.id) }
        }
        #expect(silver == [.bo])
        let changes = try log.changes(of: .bo, from: .version(2)).filter { $0.field == "plan" }
        #expect(changes.map(\.before) == [nil] && changes.map(\.after) == ["silver"])
        #expect(try log.userCount() == 2)
        try log.append([.saved("seen")], to: .bo, context: .push(on: "phone"))
        let statistics = try log.statistics()
        #expect(statistics.devices == 1 && statistics.waiting == 1)
    }

    @Test("States are folded again, a copy is equal, a compacted store is sound")
    func maintenance() throws {
        let log = try open()
        #expect(try log.rebuildStates().isComplete)
        #expect(try log.replay(Coins.self, verify: true).isEqual)
        var fractions: [Double?] = []
        let report = try log.copy(to: folder("copy")) { progress in
            fractions.append(progress.fraction)
            return true
        }
        #expect(report.isComplete && fractions.allSatisfy { $0.map { 0...1 ~= $0 } ?? true })
        let copy = try EventLog(path: folder("copy"), projections: [Coins.self])
        #expect(try copy.history(of: .ana) == log.history(of: .ana))
        #expect(try copy.state(of: Coins.self, for: .ana) == 2)
        copy.close()
        #expect(try EventLog.compact(path: folder("copy")))
        let check = try EventLog(path: folder("copy")).check()
        #expect(check.isSound)
    }

    @Test("A fold of everybody has each person once: not those who were merged or erased")
    func everybody() throws {
        let log = try open()
        func coins() throws -> [UserID: Int] {
            var coins: [UserID: Int] = [:]
            try log.forEachState(of: Coins.self, threads: 2) { user, state in coins[user.id] = state }
            return coins
        }
        #expect(try coins() == [.ana: 2, .bo: 1])
        try log.change(.merge(source: .bo, target: .ana))
        try log.append([.happened("earned")], to: "cyd")
        #expect(try coins() == [.ana: 3, "cyd": 1])
        _ = try log.erase(["cyd"], actor: "ops", reason: "asked to")
        #expect(try coins() == [.ana: 3])
    }

    @Test("A rebuild that another version of the program left is discarded, and one by another process is taken")
    func rebuild() throws {
        let log = try open()
        #expect(try !log.rebuildStates { _ in false }.isComplete)
        log.close()
        let other = try folder.open(projections: [Coins.self])
        #expect(try !other.rebuildStates { _ in false }.isComplete)
        let again = try folder.open(projections: [Coins.self])
        #expect(try again.rebuildStates().isComplete)
        var swapped = 0
        // While it folds, the other one swaps.
        let report = try again.rebuildStates { _ in
            swapped += 1
            if swapped == 1 { _ = try? other.rebuildStates() }
            return true
        }
        #expect(report.isComplete && swapped > 0)
        #expect(try again.replay(Coins.self, verify: true).isEqual)
    }

    @Test("In the order of occurrence an ID means the person who has it today, as everywhere")
    func occurred() throws {
        let log = try open()
        try log.change(.renameExternalID(current: "ana", newID: "anna"))
        try log.change(.removeExternalID("ana"))
        try log.append([.happened("earned")], to: .ana, context: onPhone)
        let now = Moment.time(Timestamp(rawValue: 1_000_000))
        #expect(try log.profile(of: .ana, asOf: now, order: .occurred).customEvents.map(\.count) == [1])
        #expect(try log.profile(of: "anna", asOf: now, order: .occurred).customEvents.map(\.count) == [2])
    }
}
