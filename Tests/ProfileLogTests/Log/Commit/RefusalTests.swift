import ProfileLog
import TestSupport
import Testing

@Suite("Options, contexts and numbers that make no sense are refused")
struct RefusalTests {
    let folder = TemporaryFolder()

    @Test("Options, with what they must be", arguments: 0..<6)
    func options(index: Int) throws {
        var options = LogOptions()
        switch index {
        case 0: options.itemsPerFlush = 0
        case 1: options.itemsPerFlush = -1
        case 2: options.indexLag = 0
        case 3: options.pendingItemsPerDevice = -1
        case 4: options.snapshotInterval = -1
        default: options.itemsPerFlush = .max
        }
        #expect {
            _ = try folder.open(options: options)
        } throws: { error in
            guard case AppendError.invalid(let place, _, _) = error else { return false }
            return place.hasPrefix("The option ")
        }
        #expect(throws: StorageError.noStore(path: folder.path)) { try EventLog(path: folder.path) }
    }

    @Test("A user number that no user can have", arguments: [UInt64.max, UInt64.max - 1, 7])
    func users(number: UInt64) throws {
        let log = try folder.open()
        _ = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: .externalID("ana"))
        try log.writeIndex()
        let user = UserNumber(rawValue: number)
        #expect(try log.reader.users.find(user) == nil)
        #expect(try log.history(of: user).isEmpty)
        #expect(try log.reader.past.version(of: user, at: Position(rawValue: 9)).rawValue == 0)
    }

    @Test("A private storage of another process than the one that saves")
    func storage() throws {
        let log = try folder.open()
        var context = EventContext.saved(on: "d")
        context.storage = .privateTo(process: "other")
        let refusal = AppendError.invalid(
            place: "The private storage", reason: "must be that of the process that saves, push, and not of other")
        let event = ProfileEvent.customEventSaved(CustomEvent(name: "a"))
        #expect(throws: refusal) { try log.append([event], to: .device("d"), context: context) }
        context.process = "other"
        _ = try log.append([event], to: .device("d"), context: context)
        // Without a process it is the app that saves.
        context.process = nil
        #expect(throws: AppendError.self) { try log.append([event], to: .device("d"), context: context) }
        context.storage = .privateTo(process: DeviceStorage.app)
        _ = try log.append([event], to: .device("d"), context: context)
        let storages = try log.reader.devices.pending(on: "d").map(\.context.storage)
        #expect(storages == [.privateTo(process: "other"), .privateTo(process: "app")])
    }

    @Test("A page of events that may hold none, or for which nothing may be looked at, is empty")
    func pages() throws {
        let log = try folder.open()
        _ = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: .externalID("ana"))
        let first = Position.start.next
        for (limit, scanLimit) in [(0, 100), (-1, 100), (.min, 100), (100, 0), (100, -1), (100, .min), (0, 0)] {
            let page = try log.events(from: first, limit: limit, scanLimit: scanLimit)
            #expect(page.events.isEmpty && page.scanned == .start && page.last.rawValue == 2)
        }
        #expect(try log.events(from: first, limit: .max, scanLimit: .max).events.count == 2)
        #expect(try log.events(from: first.next, limit: .max, scanLimit: .max).events.count == 1)
        #expect(try log.events(from: Position(rawValue: .max), limit: 1, scanLimit: .max).events.isEmpty)
        let ana = try #require(try log.find(.externalID("ana"))).number
        #expect(try log.history(of: ana, limit: -1).isEmpty)
    }

    @Test("A key counts all events of its append, those for new users and devices too", arguments: UInt64(0)..<50)
    func keyCount(seed: UInt64) throws {
        let log = try folder.open()
        var random = SeededGenerator(seed: seed)
        for round in 0..<12 {
            func prepare(_ random: inout SeededGenerator) throws -> PreparedAppend {
                var builder = log.prepare()
                for _ in 0...random.next(below: 5) {
                    let device = "d\(random.next(below: 4))"
                    let user: UserID =
                        switch random.next(below: 3) {
                        case 0: .device("d\(random.next(below: 4))")
                        case 1: .alias(label: "l", name: "\(random.next(below: 6))")
                        default: .externalID("\(random.next(below: 6))")
                        }
                    if random.next(below: 2) == 0 {
                        try builder.add(
                            .customEventSaved(CustomEvent(name: "saved")), .saved(on: device), to: user)
                    } else {
                        try builder.add(.customEventLogged(CustomEvent(name: "played")), .test, to: user)
                    }
                }
                return try builder.finish(idempotencyKey: "k\(round)")
            }
            var again = random
            let first = try log.commit(prepare(&random))
            let second = try log.commit(prepare(&again))
            #expect(second.isRepetition && second.places == first.places)
        }
    }
}
