import ProfileLog
import TestSupport
import Testing

@Suite("What fills a store")
struct LogGrowthTests {
    @Test("Kinds, users and days add up to all records, the largest user first")
    func sums() throws {
        let day: Int64 = 86_400_000_000
        let clock = TestClock(19_991 * day)
        var options = LogOptions()
        options.now = { clock.now }
        let folder = TemporaryFolder(prefix: "growth")
        let log = try folder.open(options: options)
        for (days, user, count) in [(Int64(0), "ana", 3), (7, "bo", 40), (2, "ana", 5), (0, "carl", 1)] {
            clock.advance(days * day)
            for _ in 0..<count {
                _ = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: .externalID(user))
            }
        }
        let growth = try log.reader.growth(users: 2, days: 7, now: Timestamp(rawValue: 20_000 * day))
        let last = try log.lastPosition()
        #expect(growth.position == last && growth.total.events == last.rawValue)
        #expect(growth.kinds.values.reduce(0) { $0 + $1.events } == last.rawValue)
        #expect(growth.kinds.values.reduce(0) { $0 + $1.bytes } == growth.total.bytes)
        #expect(growth.kinds[.customEventLogged]?.events == 49 && growth.kinds[.userCreated]?.events == 3)
        #expect(try growth.users.map { try log.find($0.user)?.id } == [.externalID("bo"), .externalID("ana")])
        #expect(growth.unsure == 0 && growth.damaged == 0)
        // Bo's creation, and Carl's; what is older than seven days is in no day.
        #expect(growth.days.map(\.events) == [7, 0, 41, 0, 0, 0, 0])
        #expect(growth.first == Timestamp(rawValue: 19_991 * day))
    }

    @Test("A count that is stopped says how far it came")
    func stopped() throws {
        let folder = TemporaryFolder(prefix: "growth")
        let log = try folder.open()
        _ = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: .externalID("ana"))
        let growth = try log.reader.growth(now: .now(), goesOn: { _ in false })
        #expect(growth.position == .start && growth.total.events == 0)
    }

    @Test("With more users than counts, each count is too low by what is said at most", arguments: UInt64(0)..<16)
    func heavy(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heavy = HeavyUsers(most: 50)
        var exact: [UInt64: UInt64] = [:]
        for _ in 0..<5_000 {
            // A few users have most, and there are many others.
            let isLarge = Int.random(in: 0..<2, using: &random) == 0
            let user = UInt64.random(in: isLarge ? 1...5 : 6...2_000, using: &random)
            let bytes = UInt64.random(in: 20...400, using: &random)
            exact[user, default: 0] += bytes
            heavy.add(user, bytes)
        }
        heavy.add(0, 1_000_000)
        let largest = heavy.largest(5)
        #expect(Set(largest.map(\.user.rawValue)) == [1, 2, 3, 4, 5], "seed \(seed)")
        for part in largest {
            let bytes = exact[part.user.rawValue] ?? 0
            #expect(part.bytes <= bytes && bytes <= part.bytes + heavy.unsure, "seed \(seed)")
        }
        #expect(heavy.unsure > 0)
    }
}
