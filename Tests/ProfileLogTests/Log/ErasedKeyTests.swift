import Testing

@testable import ProfileLog

@Suite("The idempotency key of an append of which something was erased")
struct ErasedKeyTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("ana")
    private let bo = UserID.externalID("bo")
    private let key = "canary-key"

    private func open(indexLag: Int = 7) throws -> EventLog {
        try EventLog(path: folder.path, create: true, options: .small(clock, indexLag: indexLag))
    }

    /// One event of each user under the key. Ana's has a name that nobody else uses.
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

    /// Runs `body` on the log, on another one of the same store, with caches made anew, after compacting, and on a copy.
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
        try log.dropCaches()
        try body(log)
        try log.expectSound()
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
            #expect(try log.append(underKey: key)?.places == first.places)
            #expect(try log.find(UserID.externalID("ana")) == nil)
            // What stands of the append is compared.
            #expect(throws: AppendError.keyReused(position: first.first)) { try send(log, users, number: 2) }
            #expect(throws: AppendError.keyReused(position: first.first)) { try send(log, users + [bo]) }
            #expect(throws: AppendError.keyReused(position: first.first)) { try send(log, [users[0]]) }
            #expect(try log.lastPosition() == last)
            // With the first event, bo's, the key stands and the note.
            let gone = erasesFirst ? "canary" : "canary-name"
            for table in Table.Name.allCases {
                #expect(try !log.rows(table).contains { ($0.key + $0.value).holds(gone) }, "\(table)")
            }
        }
    }

    @Test("Who was erased does not come back with a retry, but with another key")
    func alone() throws {
        let log = try open()
        let first = try send(log, [ana])
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        #expect(try send(log, [ana]).places == first.places)
        #expect(try log.find(ana) == nil)
        _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: ana, idempotencyKey: "another")
        #expect(try log.find(ana)?.number.rawValue == 2)
        try log.expectSound()
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
        try log.expectSound()
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
        #expect(throws: AppendError.keyReused(position: first.first)) { try send(log, [bo]) }
        try log.expectSound()
    }

    @Test("A save that landed in private storage is the same although the name of its app group is gone")
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
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        #expect(try save(1, to: bo).places == first.places)
        try log.expectSound()
    }
}

extension [UInt8] {
    fileprivate func holds(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return count >= bytes.count
            && (0...(count - bytes.count)).contains { self[$0..<($0 + bytes.count)].elementsEqual(bytes) }
    }
}
