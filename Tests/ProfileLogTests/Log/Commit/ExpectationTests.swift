import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("What an append expects of its users")
struct ExpectationTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))

    @Test("An ID may be asked to lead to a user, whatever is appended to them", arguments: [false, true])
    func leads(isMerged: Bool) throws {
        let log = try folder.open(options: .small(clock))
        for user in ["ana", "bo"] { _ = try log.append([played], to: .externalID(user)) }
        let ana = try #require(try log.find(.externalID("ana")))
        let ids = [UserID.externalID("ana"), .assignedID(ana.brazeID)]
        let appends = try ids.map { id in
            var builder = log.prepare()
            try builder.add(played, .test, to: id)
            var preconditions = Preconditions()
            preconditions.require(.user(id, ana.number, nil))
            var append = try builder.finish()
            append.require(preconditions)
            return append
        }
        if isMerged {
            let merge = IdentityChange.merge(source: .externalID("ana"), target: .externalID("bo"))
            _ = try log.commit(.identity(merge, context: .test))
        } else {
            _ = try log.append([played], to: .externalID("ana"))
        }
        for append in appends {
            if isMerged {
                #expect(throws: AppendError.self) { try log.commit(append) }
            } else {
                #expect(try log.commit(append).places.map(\.user) == [ana.number])
            }
        }
    }

    private func append(
        _ log: EventLog, to user: UserID = .externalID("ana"), key: String? = nil, releasing: [UserID] = [],
        _ require: (inout Preconditions) -> Void = { _ in }
    ) throws -> PreparedAppend {
        var builder = log.prepare()
        try builder.add(played, .test, to: user)
        var preconditions = Preconditions()
        require(&preconditions)
        var append = try builder.finish(idempotencyKey: key)
        append.require(preconditions, releasing: releasing)
        return append
    }

    @Test("An append is refused if what its decision read has changed, and only then", .hits(.preconditionChanged))
    func facts() throws {
        let log = try folder.open(options: .small(clock))
        let begin = try log.lastPosition()
        let appends = [
            ("who has an address", try append(log) { $0.require(.holders(.email("a@b.example"), [])) }),
            (
                "the type of a custom attribute",
                try append(log) { $0.require(.unchanged(.types(of: ["x"]), since: begin)) }
            ),
            ("who has a push token", try append(log) { $0.require(.unchanged(.pushTokens, since: begin)) }),
            ("the use of an idempotency key", try append(log) { $0.require(.unusedKey("k")) }),
        ]
        func change(_ attribute: Name, _ standard: [UserAttributeChange], key: String) throws {
            let events = [
                ProfileEvent.customAttributesChanged([.init(attribute, .set(.int(1)))]),
                .userAttributesChanged(standard),
            ]
            _ = try log.append(events, to: .externalID("bo"), idempotencyKey: key)
        }
        try change("y", [.init(.firstName, "Bo")], key: "other")
        for (_, append) in appends { _ = try log.commit(append) }
        try change("x", [.init(.email, "a@b.example"), .init(.pushTokens, .array([]))], key: "k")
        for (what, append) in appends {
            #expect(throws: AppendError.conflict(over: what)) { try log.commit(append) }
        }
    }

    @Test("A decision with more events after it than a commit looks through is made again", .hits(.decisionTooOld))
    func tooOld() throws {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        let begin = try log.lastPosition()
        let old = try append(log) { $0.require(.unchanged(.types(of: ["x"]), since: begin)) }
        var builder = log.prepare(capacity: 4_097)
        for _ in 0..<4_097 { try builder.add(played, .test, to: .externalID("bo")) }
        _ = try log.commit(builder.finish())
        #expect(throws: AppendError.conflict(over: "the type of a custom attribute")) { try log.commit(old) }
    }

    @Test("An append frees an outdated address for a new user, and its receipt does not count that")
    func releases() throws {
        let log = try folder.open(options: .small(clock))
        let address = UserID.email("old@b.example")
        _ = try log.append([.userAttributesChanged([.init(.email, "new@b.example")])], to: address)
        let first = try #require(try log.find(address))
        var refused = try append(log, to: address, releasing: [address])
        refused.expect(address, at: .exactly(first.version))
        #expect(throws: AppendError.self) { try log.commit(refused) }
        #expect(try log.find(address) == first)
        let append = try append(log, to: address, key: "k", releasing: [address])
        let receipt = try log.commit(append)
        #expect(receipt.places.map(\.user.rawValue) == [2, 2] && receipt.places.map(\.version.rawValue) == [1, 2])
        let again = try log.commit(append)
        #expect(again.isRepetition && again.places == receipt.places && again.first == receipt.first)
        #expect(try log.find(address)?.number == receipt.places[0].user)
        #expect(try log.reader.users.find(first.number)?.version.rawValue == first.version.rawValue + 1)
    }

    @Test(
        "What is decided under the lock sees the log as the commit does; a decision that fails changes nothing")
    func underLock() throws {
        struct Refusal: Error {}
        let log = try folder.open(options: .small(clock))
        let (value, receipt) = try log.commit(decidingUnderLock: {
            #expect(try log.find(.externalID("ana")) == nil)
            return (7, try append(log))
        })
        #expect(value == 7 && receipt?.places.count == 2)
        #expect(try log.commit(decidingUnderLock: { (7, nil) }).receipt == nil)
        #expect(throws: Refusal.self) {
            try log.commit(decidingUnderLock: { () throws -> (Int, PreparedAppend?) in throw Refusal() })
        }
        #expect(try log.lastPosition().rawValue == 2)
        _ = try log.append([played], to: .externalID("ana"))
    }
}
