import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

@Suite("A live state is what a fresh fold gives")
struct LiveStateTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func open(_ projections: [any Projection.Type]) throws -> EventLog {
        try folder.open(options: .small(clock, indexLag: 10), projections: projections)
    }

    private func expectLive(_ live: LiveState<CatalogueProjection>, _ log: EventLog) throws {
        let replayer = Replayer<CatalogueProjection>(log)
        try replayer.run()
        #expect(try live.catchUp() == replayer.position)
        #expect(try live.withState { $0 } == replayer.state)
    }

    @Test(
        "A live state is right after every step, reopened or not, with a stored state or without",
        arguments: UInt64(0)..<6)
    func steps(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let projections: [any Projection.Type] =
            seed % 2 == 0 ? [ProfileProjection.self, CatalogueProjection.self] : [ProfileProjection.self]
        var log = try open(projections)
        var live = LiveState<CatalogueProjection>(log)
        for _ in 0..<60 {
            let user = UserID.externalID("u\(random.next(below: 4))")
            let name = Name("n\(random.next(below: 6))")
            clock.advance(1000)
            switch random.next(below: 8) {
            case 0: _ = try log.append([.customEventLogged(CustomEvent(name: name))], to: user)
            case 1: _ = try log.append([.customAttributesChanged([.init(name, .increment(1))])], to: user)
            case 2: _ = try log.append([.customAttributesChanged([.init(name, .set(.string("x")))])], to: user)
            case 3:
                let purchase = Purchase(product: name, currency: "EUR", price: 1, quantity: 2)
                _ = try log.append([.purchaseLogged(purchase)], to: user)
            case 4:
                _ = try log.append(
                    [.customEventSaved(CustomEvent(name: name))], to: user,
                    context: .saved(on: "d\(random.next(below: 2))"))
            case 5:
                _ = try log.append(
                    [.customAttributesSaved([.init(name, .set(.bool(true)))])], to: user,
                    context: .saved(on: "d\(random.next(below: 2))"))
            case 6: _ = try log.launch(device: "d\(random.next(below: 2))")
            default:
                log = try open(projections)
                live = LiveState(log)
            }
            if random.next(below: 3) > 0 { try expectLive(live, log) }
        }
        try expectLive(live, log)
        try expectSumOfProfiles(log.reader.catalogueView(live.withState { $0 }), log)
    }

    /// No user was merged: what the store has is what its users have.
    private func expectSumOfProfiles(_ catalogue: CatalogueView, _ log: EventLog) throws {
        var events: [Name: UInt64] = [:]
        var products: [Name: UInt64] = [:]
        for user in try log.users(limit: 100) {
            let view = log.named(try log.profile(of: user.number))
            for event in view.customEvents { events[event.name, default: 0] += event.occurrences.count }
            for product in view.purchases { products[product.name, default: 0] += product.occurrences.count }
            for attribute in view.customAttributes {
                #expect(catalogue.attributes.contains { $0.name == attribute.name })
            }
        }
        #expect(Dictionary(uniqueKeysWithValues: catalogue.events.map { ($0.name, $0.occurrences.count) }) == events)
        #expect(
            Dictionary(uniqueKeysWithValues: catalogue.products.map { ($0.name, $0.occurrences.count) }) == products)
    }

    @Test("Merged users' events count once")
    func merged() throws {
        let log = try open([ProfileProjection.self, CatalogueProjection.self])
        _ = try log.append([.customEventLogged(CustomEvent(name: "e"))], to: .device("d"))
        _ = try log.append([.customEventLogged(CustomEvent(name: "e"))], to: .externalID("a"))
        _ = try log.changeUser(device: "d", to: .externalID("a"))
        let live = LiveState<CatalogueProjection>(log)
        try expectLive(live, log)
        let events = try log.reader.catalogueView(live.withState { $0 }).events
        #expect(events.map(\.occurrences.count) == [2])
    }

    @Test("An erased person's names leave the state, and so do their counts", arguments: [false, true])
    func erased(isStored: Bool) throws {
        let log = try open([ProfileProjection.self, CatalogueProjection.self])
        for (user, names) in [("a", ["secret", "common"]), ("b", ["common"])] as [(String, [Name])] {
            for name in names {
                _ = try log.append(
                    [
                        .customEventLogged(CustomEvent(name: name)),
                        .customAttributesChanged([.init(name, .set(.int(1)))]),
                    ],
                    to: .externalID(user))
            }
        }
        if isStored { try log.writeIndex() }
        let live = LiveState<CatalogueProjection>(log)
        try expectLive(live, log)
        _ = try log.erase([.externalID("a")], actor: "test", reason: "test")
        _ = try log.append([.customEventLogged(CustomEvent(name: "later"))], to: .externalID("b"))
        try expectLive(live, log)
        let view = try log.reader.catalogueView(live.withState { $0 })
        #expect(view.events.map(\.name) == ["common", "later"])
        #expect(view.events.map(\.occurrences.count) == [1, 1])
        #expect(view.attributes.map(\.name) == ["common"])
        _ = try log.append([.customEventLogged(CustomEvent(name: "secret"))], to: .externalID("b"))
        try expectLive(live, log)
    }

    @Test("What must be folded from the beginning is not near: the first look, and the one after an erasure")
    func near() throws {
        let log = try open([ProfileProjection.self, CatalogueProjection.self])
        _ = try log.append([.customEventLogged(CustomEvent(name: "e"))], to: .externalID("a"))
        let live = LiveState<CatalogueProjection>(log)
        #expect(try !live.catchUpIfNear())
        try live.catchUp()
        _ = try log.append([.customEventLogged(CustomEvent(name: "f"))], to: .externalID("b"))
        #expect(try live.catchUpIfNear())
        #expect(try live.withState { $0.events.count } == 2)
        _ = try log.erase([.externalID("a")], actor: "test", reason: "test")
        #expect(try !live.catchUpIfNear())
        #expect(try !live.catchUpIfNear())
        #expect(try live.withStateIfThere { $0 } == nil)
        try expectLive(live, log)
        #expect(try live.catchUpIfNear())
    }

    @Test("A live state folds once and looks once more, however many users are erased while it folds")
    func erasedMeanwhile() throws {
        let log = try open([ProfileProjection.self])
        for user in 0..<5 {
            _ = try log.append([.customEventLogged(CustomEvent(name: "e"))], to: .externalID("u\(user)"))
        }
        InterruptedFold.interruption.withLock { interruption in
            interruption = { turn in
                guard turn < 4 else { return }
                // live:  | folds from the beginning                     | catches up
                // other:                             | a user is erased
                let done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    _ = try? log.erase([.externalID("u\(turn)")], actor: "test", reason: "test")
                    done.signal()
                }
                done.wait()
            }
        }
        let live = LiveState<InterruptedFold>(log)
        try live.catchUp()
        #expect(InterruptedFold.turns.withLock { $0 } == 1)
        #expect(try !live.catchUpIfNear())
        #expect(try live.withStateIfThere { $0 } == nil)
        #expect(try live.withState { $0 } < log.lastPosition().rawValue)
        #expect(InterruptedFold.turns.withLock { $0 } == 2)
    }

    @Test("Many threads that look and one that writes see no state that never was")
    func threads() async throws {
        let log = try open([ProfileProjection.self, CatalogueProjection.self])
        let live = LiveState<CatalogueProjection>(log)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var before: UInt64 = 0
                    for _ in 0..<50 {
                        let position = try live.catchUp().rawValue
                        let counted = try live.withState { state in
                            state.events.values.reduce(0) { $0 + $1.count }
                        }
                        // The second event is the first that counts: the user's creation comes before it.
                        #expect(counted + 1 >= position || position == 0)
                        #expect(counted >= before)
                        before = counted
                    }
                }
            }
            group.addTask {
                for number in 0..<100 {
                    _ = try log.append(
                        [.customEventLogged(CustomEvent(name: Name("e\(number % 7)")))], to: .externalID("a"))
                }
            }
            try await group.waitForAll()
        }
        try expectLive(live, log)
    }
}

/// Counts events, and lets something happen whenever it begins.
private enum InterruptedFold: StoreProjection {
    static let turns = Mutex(0)
    static let interruption = Mutex<(@Sendable (Int) -> Void)?>(nil)

    static let name = "interrupted"
    static let revision: UInt32 = 1
    static var initial: UInt64 { 0 }

    static func apply(_ event: borrowing EventView, to state: inout UInt64) {
        state += 1
        guard event.position.rawValue == 1 else { return }
        let turn = turns.withLock { turns in
            defer { turns += 1 }
            return turns
        }
        interruption.withLock { $0 }?(turn)
    }

    static func encode(_ state: UInt64) -> [UInt8] { Array("\(state)".utf8) }

    static func decode(_ bytes: UnsafeRawBufferPointer) -> UInt64? { UInt64(String(decoding: bytes, as: UTF8.self)) }
}
