import ProfileLog
import TestSupport
import Testing

/// Each store numbers names in the order in which they came, and an append is encoded by the numbers of the log that
/// prepared it.
@Suite("An append that another log prepared")
struct ForeignAppendTests {
    let folder = TemporaryFolder()
    let other = TemporaryFolder()
    private let ana = UserID.externalID("ana")

    private func open(_ folder: TemporaryFolder, _ names: [Name]) throws -> EventLog {
        let log = try folder.open(options: .small(TestClock()))
        try append(names, to: log)
        return log
    }

    private func append(_ names: [Name], to log: EventLog) throws {
        for name in names { _ = try log.append([.customEventLogged(CustomEvent(name: name))], to: .externalID("bo")) }
        // Who reads learns the numbers that the last commit gave; an event with a name that has none yet is encoded by
        // the commit.
        _ = try log.find(.externalID("bo"))
    }

    private let events: [ProfileEvent] = [
        .customEventLogged(CustomEvent(name: "a", properties: [.init("b", 1)])),
        .customAttributesChanged([AttributeChange("a", .set(1)), AttributeChange("b", .set(["b": 1, "a": 2]))]),
        .userAttributesChanged([UserAttributeChange(.firstName, "Ana")]),
        .purchaseLogged(Purchase(product: "b", currency: "EUR", price: 1)),
    ]

    private func prepare(_ log: EventLog, _ events: [ProfileEvent]) throws -> PreparedAppend {
        var builder = log.prepare()
        try builder.add(events, .test, to: ana)
        return try builder.finish(idempotencyKey: "k")
    }

    private func expectStored(_ events: [ProfileEvent], in log: EventLog) throws {
        let ana = try #require(try log.find(ana)).number
        #expect(try log.history(of: ana).dropFirst().map(\.event) == events)
    }

    @Test(
        "An append of another log is stored with its own names, where others have their numbers",
        .hits(.namesRenumbered))
    func swapped() throws {
        let (log, target) = (try open(folder, ["a", "b"]), try open(other, ["b", "a"]))
        let append = try prepare(log, events)
        _ = try target.commit(append)
        try expectStored(events, in: target)
        // It is the same append, whichever log prepared it.
        #expect(try target.commit(append).isRepetition)
        #expect(try target.commit(prepare(target, events)).isRepetition)
        #expect(try !log.commit(append).isRepetition)
        try expectStored(events, in: log)
    }

    @Test("An append of another log brings along names that the store has not")
    func unknown() throws {
        let (log, target) = (try open(folder, ["a", "b"]), try open(other, ["x", "y"]))
        _ = try target.commit(prepare(log, events))
        try expectStored(events, in: target)
    }

    @Test("A copy is another log too, once both have gone on")
    func copied() throws {
        let log = try open(folder, ["x"])
        _ = try log.replay(into: other.path)
        let copy = try open(other, ["b"])
        try append(["a", "b"], to: log)
        try append(["a"], to: copy)
        #expect(copy.storeID == log.storeID)
        _ = try copy.commit(prepare(log, events))
        try expectStored(events, in: copy)
    }
}
