import ProfileLog
import ProfileLogTesting
import Testing

@Suite("The testing product folds histories, and names the law that a projection breaks")
struct TestingTests {
    private static let earned = CustomEvent(name: "earned")
    private static let spent = CustomEvent(name: "spent")

    // MARK: - Histories

    @Test(
        "A history gives the state that a log has at its end",
        arguments: [
            ([], 0),
            ([.logged(earned), .logged(earned), .logged(spent)], 1),
            ([.saved(earned)], 0),
            ([.saved(earned), .launch], 1),
            ([.logged(earned), .logged(earned), .void(0)], 1),
            ([.saved(earned), .launch, .void(0)], 0),
            ([.saved(earned), .void(0), .launch], 0),
            ([.saved(earned), .launch, .void(0), .unvoid(0)], 1),
            ([.saved(earned), .saved(earned), .discard(0), .launch], 1),
            ([.logged(earned), .otherUser, .logged(earned)], 1),
            ([.logged(earned), .otherUser, .logged(earned), .merge], 2),
            ([.logged(earned), .otherUser, .logged(earned), .merge, .void(2)], 1),
            ([.merge, .logged(earned), .merge], 1),
            ([.logged(earned), .erase], 0),
            ([.logged(earned), .erase, .logged(earned)], 1),
            ([.logged(earned), .otherUser, .logged(earned), .erase, .logged(earned)], 1),
            ([.logged(earned), .otherUser, .logged(earned), .erase, .logged(earned), .merge], 2),
            ([.offline, .logged(earned)], 0),
            ([.offline, .logged(earned), .online], 1),
            ([.offline, .saved(earned), .launch], 0),
            ([.offline, .saved(earned), .launch, .online], 1),
        ] as [([Given], Int)])
    func histories(steps: [Given], coins: Int) throws {
        #expect(try fold(Coins.self, given: steps) == coins)
    }

    @Test("A projection over the store sees all users, one by device those on the device")
    func scopes() throws {
        let steps: [Given] = [
            .logged(Self.earned), .otherUser, .saved(Self.earned), .launch, .logged(Self.earned), .void(4),
        ]
        #expect(try fold(CoinsOfAll.self, given: steps) == 2)
        #expect(try fold(CoinsOnDevice.self, given: steps) == 2)
        #expect(try fold(Coins.self, given: steps) == 1)
    }

    @Test("Each kind of content can be logged, and all but purchases saved")
    func contents() throws {
        let contents: [EventContent] = [
            .customEvent(Self.earned), .customAttributes([AttributeChange("level", .set(.int(7)))]),
            .userAttributes([UserAttributeChange(.firstName, .string("Ana"))]),
            .purchase(Purchase(product: "book", currency: "EUR", price: 12.5)),
        ]
        #expect(try fold(Contents.self, given: contents.map { .logged($0) }) == 4)
        #expect(try fold(Contents.self, given: contents.dropLast().map { .saved($0) } + [.launch]) == 3)
        #expect(throws: AppendError.self) { try fold(Contents.self, given: [.saved(contents[3])]) }
    }

    @Test("A step is a second later than the one before, unless another time is given")
    func times() throws {
        let noon = Timestamp(rawValue: 1_800_000_000_000_000)
        let start = ManualClock().now.rawValue
        let steps: [Given] = [.logged(Self.earned), .logged(Self.earned), .at(noon), .logged(Self.earned)]
        #expect(try fold(Times.self, given: steps) == [start, start + 1_000_000, noon.rawValue])
    }

    @Test("A number that names no logged or saved step is refused", arguments: [1, 2, 7, -1])
    func badNumber(index: Int) {
        #expect(throws: AppendError.self) {
            try fold(Coins.self, given: [.logged(Self.earned), .launch, .void(index)])
        }
    }

    @Test("A temporary log is empty, has the time of its clock, and can be opened again")
    func temporaryLog() throws {
        let store = try TemporaryLog(projections: [Coins.self])
        #expect(try store.log.lastPosition() == Position(rawValue: 0))
        store.clock.advance(by: .milliseconds(1500))
        let position = try store.log.append([.happened("earned")], to: .ana).last
        let time = ManualClock().now.rawValue + 1_500_000
        #expect(try store.log.event(at: position)?.recordedAt.rawValue == time)
        let first = store.log
        try store.reopen()
        #expect(throws: StorageError.closed) { try first.lastPosition() }
        #expect(try store.log.lastPosition() == position)
    }

    // MARK: - Laws

    /// A history with all kinds of steps, and many names.
    private static let history: [Given] =
        (0..<12).map { .logged(CustomEvent(name: Name("level \($0)"))) }
        + [
            .logged(earned), .saved(earned), .saved(spent), .launch, .void(13), .unvoid(13), .offline,
            .logged(earned), .logged(earned), .online, .otherUser, .saved(earned), .logged(spent), .merge,
            .saved(earned), .discard(26), .logged(spent),
        ]

    @Test("A right projection breaks no law, in each scope")
    func right() throws {
        try checkLaws(of: Coins.self, given: Self.history)
        try checkLaws(of: Coins.self, given: Self.history + [.erase, .logged(Self.earned)])
        try checkLaws(of: CoinsOfAll.self, given: Self.history)
        try checkLaws(of: CoinsOnDevice.self, given: Self.history)
    }

    /// The law that `body` says is broken.
    private func broken(_ body: () throws -> Void) -> LawBroken? {
        do {
            try body()
            Issue.record("no law is broken")
        } catch let error as LawBroken {
            return error
        } catch {
            Issue.record("\(error)")
        }
        return nil
    }

    @Test("Bytes in the order of hashes break the law of equal bytes")
    func unordered() {
        #expect(broken { try checkLaws(of: Unordered.self, given: Self.history) }?.law == .equalBytes)
    }

    @Test("A fold that counts its calls breaks the law of equal bytes")
    func impure() {
        let error = broken { try checkLaws(of: Impure.self, given: [.launch, .logged(Self.earned)]) }
        #expect(error?.law == .equalBytes && error?.step == 1)
    }

    @Test("A coding that forgets a part breaks the law of the round trip")
    func forgetful() {
        let error = broken { try checkLaws(of: Forgetful.self, given: [.launch, .logged(Self.earned)]) }
        #expect(error?.law == .roundTrip && error?.step == 1)
    }

    @Test("Bytes that cannot be decoded break the law of the round trip")
    func undecodable() {
        let error = broken { try checkLaws(of: Undecodable.self, given: []) }
        #expect(error?.law == .roundTrip && error?.step == nil)
    }

    @Test("A part of the state that is not stored breaks the law of every snapshot")
    func hidden() {
        let error = broken { try checkLaws(of: Hidden.self, given: [.logged(Self.earned), .logged(Self.earned)]) }
        #expect(error?.law == .everySnapshot && error?.step == 1)
    }

    @Test("A merge that loses the source, or adds something of its own, breaks the law of the merge")
    func merges() {
        let unmerged = broken { try checkLaws(of: Contents.self, given: [.launch, .logged(Self.earned)]) }
        #expect(unmerged?.law == .mergeOfNothing && unmerged?.step == 1)
        let raising = broken { try checkLaws(of: Raising.self, given: [.logged(Self.earned)]) }
        #expect(raising?.law == .mergeOfNothing && raising?.step == nil)
    }

    @Test("A fold that counts voids breaks the law of voids, which can be left out")
    func voids() throws {
        let error = broken { try checkLaws(of: Voids.self, given: [.launch, .logged(Self.earned)]) }
        #expect(error?.law == .voidedEqualsAbsent && error?.step == 1)
        try checkLaws(of: Voids.self, given: [.logged(Self.earned)], except: [.voidedEqualsAbsent])
    }

    @Test("Positions and times in a state do not break the law of voids")
    func positions() throws {
        try checkLaws(of: LastPosition.self, given: Self.history, except: [.mergeOfNothing])
        // A launch that flushes only what is void makes an event too.
        let alone: [Given] = [.saved(Self.earned), .launch, .logged(Self.earned)]
        try checkLaws(of: LastPosition.self, given: alone, except: [.mergeOfNothing])
    }

    @Test("The error names the projection, the law, the step and what to do")
    func words() throws {
        let error = try #require(broken { try checkLaws(of: Contents.self, given: [.launch, .logged(Self.earned)]) })
        #expect(
            error.description == """
                The projection contents breaks the law mergeOfNothing at step 1 (logged): the state, merged into the \
                initial one, gives another state.
                """)
        #expect(error.remedy.hasPrefix("Let merge add what the source has"))
    }

    // MARK: - Traps

    @Test("A fold that traps is named with its event")
    func trap() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (fine, trap) = (CustomEvent(name: "fine"), CustomEvent(name: "trap"))
            _ = try fold(Trapping.self, given: [.logged(fine), .logged(trap)])
        }
        let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
        let line = "ProfileLog: the projection trapping trapped in apply, at position 4 (customEventLogged)\n"
        #expect(errors.contains(line), "\(errors)")
    }
}

// MARK: - Projections

/// The number of contents; merges bring none.
private enum Contents: UserProjection {
    static let name = "contents"
    static let revision: UInt32 = 1
    static let initial = 0
    static func apply(_ event: borrowing EventView, to count: inout Int) { if event.content != nil { count += 1 } }
}

/// The times at which contents were recorded.
private enum Times: UserProjection {
    static let name = "times"
    static let revision: UInt32 = 1
    static let initial: [Int64] = []
    static func apply(_ event: borrowing EventView, to times: inout [Int64]) {
        if event.content != nil { times.append(event.recordedAt.rawValue) }
    }
}

/// The place and time of the last content.
private enum LastPosition: UserProjection {
    static let name = "last-position"
    static let revision: UInt32 = 1
    static let initial: [Int64] = []
    static func apply(_ event: borrowing EventView, to last: inout [Int64]) {
        if event.content == nil { return }
        last = [Int64(event.position.rawValue), event.recordedAt.rawValue]
    }
}

/// The names of custom events, in the order of their hashes.
private enum Unordered: StoreProjection {
    static let name = "unordered"
    static let revision: UInt32 = 1
    static let initial: Set<String> = []
    static func apply(_ event: borrowing EventView, to names: inout Set<String>) {
        if let name = event.name { names.insert(name.text) }
    }
    static func encode(_ names: Set<String>) -> [UInt8] { Array(names.joined(separator: "\n").utf8) }
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Set<String>? {
        Set(String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
    }
}

/// The number that the last content got: it counts over all logs.
private enum Impure: StoreProjection {
    static let name = "impure"
    static let revision: UInt32 = 1
    static let initial = 0
    private static let clock = ManualClock()
    static func apply(_ event: borrowing EventView, to number: inout Int) {
        if event.content == nil { return }
        clock.advance(by: .microseconds(1))
        number = Int(clock.now.rawValue)
    }
}

/// The names and the number of contents; only the number is stored.
private enum Forgetful: UserProjection {
    struct State: Equatable {
        var count: UInt8 = 0
        var last = ""
    }
    static let name = "forgetful"
    static let revision: UInt32 = 1
    static let initial = State()
    static func apply(_ event: borrowing EventView, to state: inout State) {
        guard let name = event.name else { return }
        (state.count, state.last) = (state.count + 1, name.text)
    }
    static func encode(_ state: State) -> [UInt8] { [state.count] }
    static func decode(_ bytes: UnsafeRawBufferPointer) -> State? { bytes.first.map { State(count: $0) } }
}

private enum Undecodable: UserProjection {
    static let name = "undecodable"
    static let revision: UInt32 = 1
    static let initial: UInt8 = 0
    static func apply(_ event: borrowing EventView, to count: inout UInt8) { count &+= 1 }
    static func encode(_ count: UInt8) -> [UInt8] { [count] }
    static func decode(_ bytes: UnsafeRawBufferPointer) -> UInt8? { nil }
}

/// The number of times that the name of a custom event changed; the last name is not stored.
private enum Hidden: UserProjection {
    struct State {
        var changes: UInt8 = 0
        var last = ""
    }
    static let name = "hidden"
    static let revision: UInt32 = 1
    static let initial = State()
    static func apply(_ event: borrowing EventView, to state: inout State) {
        guard let name = event.name?.text, name != state.last else { return }
        (state.changes, state.last) = (state.changes + 1, name)
    }
    static func encode(_ state: State) -> [UInt8] { [state.changes] }
    static func decode(_ bytes: UnsafeRawBufferPointer) -> State? { bytes.first.map { State(changes: $0) } }
}

/// Counts contents, and one more for each merge.
private enum Raising: UserProjection {
    static let name = "raising"
    static let revision: UInt32 = 1
    static let initial = 0
    static func apply(_ event: borrowing EventView, to count: inout Int) { if event.content != nil { count += 1 } }
    static func merge(_ source: Int, into target: inout Int, by event: borrowing EventView) { target += source + 1 }
}

/// The number of voids.
private enum Voids: UserProjection {
    static let name = "voids"
    static let revision: UInt32 = 1
    static let initial = 0
    static func apply(_ event: borrowing EventView, to count: inout Int) {
        if event.kind == .eventVoided { count += 1 }
    }
    static func merge(_ source: Int, into target: inout Int, by event: borrowing EventView) { target += source }
}

private enum Trapping: UserProjection {
    static let name = "trapping"
    static let revision: UInt32 = 1
    static let initial = 0
    static func apply(_ event: borrowing EventView, to count: inout Int) {
        precondition(event.name != "trap", "this fold cannot count it")
        count += 1
    }
}
