import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogReplay

@Suite("Pages of the log of a blame")
struct BlamePageTests {
    static let cuts: [(after: Int?, limit: Int, isBackward: Bool, entries: [Int])] = [
        (nil, 2, false, [1, 2]), (2, 2, false, [3, 4]), (4, 2, false, [5]), (5, 2, false, []),
        (0, .max, false, [1, 2, 3, 4, 5]), (.max, .max, false, []), (nil, 2, true, [5, 4]), (4, 2, true, [3, 2]),
        (2, .max, true, [1]), (1, 2, true, []), (0, 2, true, []), (.max, .max, true, [5, 4, 3, 2, 1]),
    ]

    @Test("A page has the numbers that follow its place, in its direction", arguments: cuts.indices)
    func part(index: Int) {
        let cut = Self.cuts[index]
        let page = BlamePage(after: cut.after, limit: cut.limit, isBackward: cut.isBackward)
        let (entries, place) = page.part(of: Array(1...5))
        #expect(entries == cut.entries && place.total == 5)
        guard let first = entries.first, let last = entries.last else {
            #expect(!place.hasMore)
            return
        }
        #expect(first == place.first)
        #expect(place.hasMore == (cut.isBackward ? last > 1 : last < 5))
    }

    @Test(
        "The pages of each log are the whole log, cut; and as of a version, the log of a user who ended there",
        arguments: Thoroughness.seeds(short: 3, full: 30))
    func story(seed: UInt64) throws {
        let (folder, clock) = (TemporaryFolder(), TestClock())
        let log = try folder.open(options: .small(clock, indexLag: 5))
        var story = VoidStory(log, clock, seed: seed, mayErase: false)
        var random = SeededGenerator(seed: seed)
        typealias Blame = (attributes: [FieldBlame], counts: [OccurrenceBlame])
        var seen: [(user: UserNumber, version: Version, blame: Blame)] = []
        for step in 0..<80 {
            try story.step()
            guard step % 4 == 0 else { continue }
            for user in try log.users(limit: 100) where random.next(below: 3) == 0 {
                seen.append(
                    (user.number, user.version, try log.reader.blameWithCounts(of: user.number, withLog: true)))
            }
        }
        for (user, version, blame) in seen {
            let place = "seed \(seed), user \(user), version \(version)"
            let then = try log.reader.blameWithCounts(of: user, asOf: version, withLog: true)
            #expect(then.attributes == blame.attributes && then.counts == blame.counts, "\(place)")
            let page = BlamePage(
                after: random.next(below: 5), limit: 1 + random.next(below: 4), isBackward: random.next(below: 2) == 0)
            let cut = try log.reader.blameWithCounts(of: user, asOf: version, withLog: true, page: page)
            #expect(cut.attributes.map(\.write) == blame.attributes.map(\.write), "\(place)")
            #expect(cut.attributes.map(\.log) == blame.attributes.map { page.part(of: $0.log).entries }, "\(place)")
            #expect(cut.counts.map(\.log) == blame.counts.map { page.part(of: $0.log).entries }, "\(place)")
        }
    }
}
