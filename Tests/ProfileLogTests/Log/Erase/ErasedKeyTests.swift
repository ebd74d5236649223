import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("The idempotency key of an append of which something was erased")
struct ErasedKeyTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("ana")
    private let bo = UserID.externalID("bo")
    private let key = "canary-key"

    private func open(indexLag: Int = 7) throws -> EventLog {
        try folder.open(options: .small(clock, indexLag: indexLag))
    }

    /// One event of each user under the key. Ana's has a name that no other user uses.
    private func send(_ log: EventLog, _ users: [UserID], number: Int64 = 1) throws -> AppendReceipt {
        try log.commit(prepare(log, users, number: number))
    }

    private func prepare(_ log: EventLog, _ users: [UserID], number: Int64 = 1) throws -> PreparedAppend {
        var builder = log.prepare()
        for user in users {
            let event = CustomEvent(
                name: user == ana ? "canary-name" : "common", properties: [.init("n", .int(number))])
            try builder.add(.customEventLogged(event), .test, to: user)
        }
        return try builder.finish(idempotencyKey: key, note: Array("canary-note".utf8))
    }

    private func others(_ log: EventLog) throws {
        for index in 0..<9 {
            let event = CustomEvent(name: "common", properties: [.init("n", .int(Int64(index)))])
            _ = try log.append([.customEventLogged(event)], to: .externalID("other"))
        }
    }

    /// Runs `body` on the log, on another one of the same store, with caches rebuilt, after compacting, and on a
    /// copy.
    private func everywhere(_ log: consuming EventLog, _ body: (EventLog) throws -> Void) throws {
        try body(log)
        try body(open())
        try log.writeIndex()
        try body(log)
        try log.rebuildCaches()
        try log.expectSound()
        try body(log)
        let copy = TemporaryFolder()
        #expect(try log.replay(into: copy.path).isEqual)
        let copied = try EventLog(path: copy.path, options: .small(clock))
        try body(copied)
        try copied.expectSound()
        try log.caches.dropCaches()
        try body(log)
    }

    @Test(
        "A retry answers as at first and stores nothing, whether the first of its users was erased or another",
        arguments: [true, false], [1, 7, 500])
    func retry(erasesFirst: Bool, indexLag: Int) throws {
        let log = try open(indexLag: indexLag)
        try others(log)
        let users = erasesFirst ? [ana, bo] : [bo, ana]
        let first = try send(log, users)
        #expect(first.places.count == 4)
        try others(log)
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        try others(log)
        let last = try log.lastPosition()
        let key = key
        try everywhere(log) { log in
            let again = try send(log, users)
            #expect(again.isRepetition && again.first == first.first && again.places == first.places)
            #expect(try log.reader.events.append(underKey: key)?.places == first.places)
            #expect(try log.find(UserID.externalID("ana")) == nil)
            // Only the key decides.
            for other in try [send(log, users, number: 2), send(log, users + [bo]), send(log, [users[0]])] {
                #expect(other.isRepetition && other.places == first.places)
            }
            #expect(try log.lastPosition() == last)
            // The first event, bo's, holds the key and the note.
            let gone = erasesFirst ? "canary" : "canary-name"
            for table in Table.Name.allCases {
                #expect(try !log.rows(table).contains { ($0.key + $0.value).holds(gone) }, "\(table)")
            }
        }
    }

    @Test("Who was erased does not come back with a retry, but with another key", .hits(.repetitionOfErased))
    func alone() throws {
        let log = try open()
        let first = try send(log, [ana])
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        #expect(try send(log, [ana]).places == first.places)
        #expect(try log.find(ana) == nil)
        _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: ana, idempotencyKey: "another")
        #expect(try log.find(ana)?.number.rawValue == 2)
    }

    @Test("A retry brings no erased name back, whatever is committed with it", arguments: [true, false])
    func names(erasesFirst: Bool) throws {
        let log = try open()
        try others(log)
        let users = erasesFirst ? [ana, bo] : [bo, ana]
        _ = try send(log, users)
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        let retry = try prepare(log, users)
        var builder = log.prepare()
        try builder.add(.customEventLogged(CustomEvent(name: "new")), .test, to: bo)
        let results = log.commit([retry, try builder.finish()])
        #expect(try results[0].get().isRepetition)
        #expect(try !results[1].get().isRepetition)
        #expect(try log.rows(.names).count { $0.value.holds("new") } == 1)
        #expect(try !log.rows(.names).contains { $0.value.holds("canary") })
    }

    @Test("A merge under a key is not done again")
    func merge() throws {
        let log = try open()
        try others(log)
        for user in [ana, bo] { _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: user) }
        func merge(_ source: UserID) throws -> AppendReceipt {
            try log.commit(
                .identity(
                    .merge(source: source, target: .externalID("other")), context: .test, idempotencyKey: key,
                    note: [7]))
        }
        let first = try merge(ana)
        _ = try log.erase([.externalID("other")], actor: "a test", reason: "asked to")
        let again = try merge(bo)
        #expect(again.isRepetition && again.places == first.places && again.note.isEmpty)
        #expect(try log.find(bo) != nil)
        #expect(try send(log, [bo]).places == first.places)
    }

    // MARK: - What else is sent under the key

    /// Events of one name that everybody uses, one for each of `users`, under the key.
    private func sendCommon(_ log: EventLog, _ users: [UserID]) throws -> AppendReceipt {
        var builder = log.prepare()
        for user in users { try builder.add(.customEventLogged(CustomEvent(name: "common")), .test, to: user) }
        return try log.commit(builder.finish(idempotencyKey: key))
    }

    private func erase(_ user: UserID, _ log: EventLog) throws {
        _ = try log.erase([user], actor: "a test", reason: "asked to")
    }

    @Test("Events of other users under the key store nothing, and make no user", arguments: [1, 7, 500])
    func otherUsers(indexLag: Int) throws {
        let log = try open(indexLag: indexLag)
        let (cy, other) = (UserID.externalID("cy"), UserID.externalID("other"))
        try others(log)
        let first = try sendCommon(log, [ana, ana, bo, bo])
        #expect(throws: AppendError.keyReused(position: first.first)) { try sendCommon(log, [ana, ana, bo, cy]) }
        try erase(ana, log)
        for users in [[ana, ana, bo, bo], [ana, ana, bo, cy], [other, other, bo, bo], [bo]] {
            let again = try sendCommon(log, users)
            #expect(again.isRepetition && again.places == first.places)
        }
        #expect(try log.find(ana) == nil && log.find(cy) == nil)
        _ = try log.append([.customEventLogged(CustomEvent(name: "common"))], to: ana)
        #expect(try sendCommon(log, [ana, ana, bo, bo]).places == first.places)
    }

    @Test("Other requests under the key of a request of which another person was erased are refused", .hits(.keyReused))
    func otherRequests() throws {
        let log = try open()
        try others(log)
        func send(_ users: [UserID], content: [UInt8]) throws -> AppendReceipt {
            var builder = log.prepare()
            for user in users { try builder.add(.customEventLogged(CustomEvent(name: "common")), .test, to: user) }
            return try log.commit(builder.finish(idempotencyKey: key, note: [1], content: content))
        }
        let first = try send([bo, ana], content: [1, 2, 3])
        try erase(ana, log)
        let last = try log.lastPosition()
        for retry in [
            { try send([bo, ana], content: [4]) },
            { try sendCommon(log, [.externalID("cy")]) },
            { try log.void(Position(rawValue: 2), actor: "a test", reason: "asked to", idempotencyKey: key) },
        ] as [() throws -> AppendReceipt] {
            #expect(throws: AppendError.keyReused(position: first.first)) { try retry() }
        }
        #expect(try send([bo, ana], content: [1, 2, 3]).places == first.places)
        #expect(try log.lastPosition() == last)
    }

    @Test("What a request left out is no stranger's event")
    func leftOut() throws {
        let log = try open()
        func send() throws -> AppendReceipt {
            var builder = log.prepare()
            for user in [ana, bo] {
                try builder.add(.customEventLogged(CustomEvent(name: "common")), .test, to: user)
                try builder.leaveOut([ObjectRefusal(list: "events", index: 1, reason: "is wrong")], of: user)
            }
            return try log.commit(builder.finish(idempotencyKey: key))
        }
        try others(log)
        let first = try send()
        #expect(first.places.count == 6)
        try erase(ana, log)
        #expect(try send().places == first.places)
        #expect(try log.reader.items.leftOut().count == 1)
    }

    private func save(
        _ name: Name, of user: UserID, on device: String = "bo's", group: Name? = nil, _ log: EventLog
    ) throws -> AppendReceipt {
        var context = EventContext.saved(on: device)
        context.storage = group.map { .appGroup($0) } ?? .privateTo(process: "push")
        return try log.append(
            [.customEventSaved(CustomEvent(name: name))], to: user, context: context, idempotencyKey: key)
    }

    @Test("A private save is not another one because some name was erased")
    func privateSave() throws {
        let log = try open()
        let cy = UserID.externalID("cy")
        let first = try save("common", of: bo, log)
        _ = try log.append([.customEventLogged(CustomEvent(name: "canary-name"))], to: ana)
        try erase(ana, log)
        #expect(try save("common", of: bo, log).places == first.places)
        let last = try log.lastPosition()
        for retry in [
            { try save("other", of: bo, log) }, { try save("common", of: cy, log) },
            { try save("common", of: bo, on: "another", log) },
            { try save("other", of: cy, on: "another", group: "group.canary", log) },
        ] as [() throws -> AppendReceipt] {
            #expect(throws: AppendError.keyReused(position: first.first)) { try retry() }
        }
        #expect(try log.lastPosition() == last)
    }

    @Test("A save that landed in private storage is not stored again when the name of its app group is gone")
    func relocated() throws {
        let log = try open()
        var change = SettingsChange()
        change.withoutAppGroup = [.init(process: "push", group: "group.canary")]
        _ = try log.change(change, of: "bo's")
        func save(_ number: Int64, to user: UserID) throws -> AppendReceipt {
            var context = EventContext.saved(on: user == bo ? "bo's" : "ana's", group: "group.canary")
            context.process = "push"
            let event = CustomEvent(name: "common", properties: [.init("n", .int(number))])
            return try log.append(
                [.customEventSaved(event)], to: user, context: context, idempotencyKey: user == bo ? key : nil)
        }
        let first = try save(1, to: bo)
        _ = try save(1, to: ana)
        #expect(try save(1, to: bo).places == first.places)
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        // Nothing of it was erased, and it cannot be compared: the hash had the number of the name.
        for number in 1...2 as ClosedRange<Int64> {
            #expect(throws: AppendError.keyReused(position: first.first)) { try save(number, to: bo) }
        }
    }
}

extension [UInt8] {
    fileprivate func holds(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return count >= bytes.count
            && (0...(count - bytes.count)).contains { self[$0..<($0 + bytes.count)].elementsEqual(bytes) }
    }
}
