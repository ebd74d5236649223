import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds

@Suite("Fold rules")
struct RulesTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("ana")

    private func set(_ value: AttributeValue, at: Int64 = 0, _ log: EventLog, of user: UserID? = nil) throws {
        try change(.set(value), at: at, log, of: user)
    }

    private func change(
        _ operation: AttributeOperation, at: Int64 = 0, _ log: EventLog, of user: UserID? = nil
    ) throws {
        let context = EventContext(source: .rest, occurredAt: OccurredAt(Timestamp(rawValue: at * 1_000_000)))
        _ = try log.append([.customAttributesChanged([.init("x", operation)])], to: user ?? ana, context: context)
    }

    private func value(_ log: EventLog, at version: Version = Version(rawValue: .max)) throws -> AttributeValue? {
        let user = try #require(try log.find(ana))
        return log.customAttribute("x", of: try log.profile(of: user.number, asOf: version))
    }

    private func under(_ policy: AttributePolicy) throws -> EventLog {
        let log = try folder.log(clock)
        try log.setRules(FoldRules(policies: ["x": policy]))
        return log
    }

    // MARK: - One policy

    @Test("Last by occurrence: what happened earlier changes nothing, nor after a removal")
    func lastOccurred() throws {
        let log = try under(.lastOccurred)
        try set("new", at: 10, log)
        try set("old", at: 5, log)
        #expect(try value(log) == "new")
        try set("same time", at: 10, log)
        #expect(try value(log) == "same time")
        try change(.unset, at: 20, log)
        try set("late", at: 15, log)
        #expect(try value(log) == nil)
        try log.writeIndex()
        #expect(try value(log) == nil)
        try set("again", at: 21, log)
        #expect(try value(log) == "again")
    }

    @Test("First wins: later values and removals change nothing, until the first is void")
    func first() throws {
        let log = try under(.firstWins)
        try set(1, log)
        let position = try log.lastPosition()
        try set(2, log)
        try change(.unset, log)
        #expect(try value(log) == 1)
        try log.void(position, actor: "a test", reason: "wrong")
        // Of what counts, 2 is the first.
        #expect(try value(log) == 2)
    }

    @Test("Counter: numbers add up, other values change nothing")
    func counter() throws {
        let log = try under(.counter)
        try set(1, log)
        try set(2, log)
        try set("text", log)
        try change(.increment(4), log)
        #expect(try value(log) == 7)
        try set(.double(0.5), log)
        #expect(try value(log) == .double(7.5))
        try change(.unset, log)
        try set(.int(.max), log)
        try set(1, log)
        #expect(try value(log) == .int(.max))
    }

    @Test("Set union: arrays grow by what they do not have")
    func union() throws {
        let log = try under(.setUnion)
        try set(["a", "b"], log)
        try set(["b", "c", "c"], log)
        try change(.arrayAdd(["a", "d"]), log)
        try set("text", log)
        #expect(try value(log) == ["a", "b", "c", "d"])
        try change(.arrayRemove(["a"]), log)
        #expect(try value(log) == ["b", "c", "d"])
    }

    @Test("Standard attributes have the policies that compare, and no others")
    func standard() throws {
        let log = try folder.log(clock)
        let rules = FoldRules(policies: ["home_city": .lastOccurred, "email": .firstWins, "gender": .counter])
        try log.setRules(rules)
        func city(_ city: AttributeValue, at: Int64) throws {
            let context = EventContext(source: .rest, occurredAt: OccurredAt(Timestamp(rawValue: at)))
            _ = try log.append(
                [
                    .userAttributesChanged([
                        .init(.homeCity, city), .init(.email, .string("\(at)@b.cc")), .init(.gender, "F"),
                    ])
                ],
                to: ana, context: context)
        }
        try city("Bonn", at: 10)
        try city("Köln", at: 5)
        let profile = try log.profile(of: try #require(try log.find(ana)).number)
        #expect(profile.value(.homeCity) == "Bonn")
        #expect(profile.value(.email) == "5@b.cc")
        #expect(profile.value(.gender) == "F")
    }

    // MARK: - A change of rules

    @Test("A policy holds for the events after it, and the same rules again store nothing")
    func timeline() throws {
        let log = try folder.log(clock)
        try set(5, log)
        #expect(try log.setRules(FoldRules(policies: ["x": .counter, "y": .lastArrival])).places.count == 1)
        #expect(try log.setRules(FoldRules(policies: ["x": .counter])).places.isEmpty)
        let counting = try log.lastPosition()
        try set(1, log)
        try log.setRules(FoldRules())
        try set(2, log)
        #expect(try (1...4).map { try value(log, at: Version(rawValue: $0)) } == [nil, 5, 6, 2])
        #expect(try log.rules().rules == FoldRules())
        #expect(try log.rules(asOf: .position(counting)).position == counting)
        #expect(try log.rules(asOf: .position(counting)).rules.policies == ["x": .counter])
        #expect(try log.rules(asOf: .position(Position(rawValue: counting.rawValue - 1))).position == .start)
        #expect(try log.replay(verify: true).isEqual)
    }

    @Test("A saved value takes effect by the rules at its flush")
    func saved() throws {
        let log = try folder.log(clock)
        try set(5, log)
        _ = try log.append([.customAttributesSaved([.init("x", .set(3))])], to: ana, context: .saved(on: "d"))
        try log.setRules(FoldRules(policies: ["x": .counter]))
        let rules = try log.reader.boundRules()
        let promised = try log.profile(of: try #require(try log.find(ana)).number).flushingAllPending(under: rules)
        #expect(log.customAttribute("x", of: promised) == 8)
        _ = try log.launch(device: "d")
        #expect(try value(log) == 8)
    }

    @Test("Another process sees new rules with its next read, and its names")
    func shared() throws {
        let log = try folder.log(clock)
        try set(1, log)
        let other = try folder.log(clock)
        #expect(try value(other) == 1)
        try log.setRules(FoldRules(policies: ["x": .counter, "later": .setUnion]))
        try set(1, log)
        #expect(try value(other) == 2)
        #expect(try other.setRules(FoldRules(policies: ["x": .counter, "later": .setUnion])).places.isEmpty)
        for values: [AttributeValue] in [["a"], ["b"]] {
            _ = try other.append([.customAttributesChanged([.init("later", .set(.array(values)))])], to: ana)
        }
        for log in [log, other] {
            let user = try #require(try log.find(ana))
            #expect(log.customAttribute("later", of: try log.profile(of: user.number)) == ["a", "b"])
        }
    }

    @Test("Blame names the last write that changed the value")
    func blame() throws {
        let log = try under(.lastOccurred)
        try set("new", at: 10, log)
        let last = try log.lastPosition()
        try set("old", at: 5, log)
        let user = try #require(try log.find(ana))
        for withLog in [false, true] {
            let found = try #require(try log.blame(of: user.number, field: "x", withLog: withLog).first)
            #expect(found.write.event.position == last)
        }
    }

    // MARK: - Against the written rule

    @Test(
        "At every version the attributes are what the rules at that version say",
        arguments: Thoroughness.seeds(short: 6, full: 96))
    func random(seed: UInt64) throws {
        let log = try folder.log(clock, indexLag: Int(seed % 3) * 9 + 3, snapshotInterval: Int(seed % 4) * 2)
        var story = RulesStory(log, clock, seed: seed)
        for _ in 0..<120 { try story.step() }
        let oracle = try RulesOracle(log)
        #expect(!oracle.changes.isEmpty)
        for user in try log.users(limit: 100) {
            for version in 1...user.version.rawValue {
                let version = Version(rawValue: version)
                let state = try log.profile(of: user.number, asOf: version)
                let view = log.named(state)
                var fields: [Name: RulesOracle.Field] = [:]
                for field in view.customAttributes + view.attributes where field.name != "email" {
                    fields[field.name] = .init(value: field.value, at: field.setAt, position: field.position)
                }
                let expected = try oracle.profile(of: user.number, at: version)
                #expect(
                    fields == expected.fields,
                    "seed \(seed), user \(user.number.rawValue), version \(version.rawValue)")
                #expect(state.removals.count == expected.removals.count, "seed \(seed)")
            }
        }
        for threads in [1, 2] {
            let report = try log.replay(threads: threads, verify: true)
            #expect(report.isEqual, "seed \(seed): \(report.differences)")
        }
        try log.expectSound()
        try log.rebuildCaches()
        try log.expectSound()
        #expect(try log.replay(verify: true).isEqual)
    }
}
