import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("Rows of users")
struct UserRowTests {
    @Test("Many IDs of one user are applied at once as one by one", arguments: Thoroughness.seeds(short: 20, full: 500))
    func appliedAtOnce(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let news = (0..<40).map { index -> Tail.IdentityNews in
            let id: UserID =
                random.next(below: 5) == 0
                ? .device("d\(index % 3)") : .alias(label: "l", name: "n\(random.next(below: 12))")
            let change: Tail.IdentityNews.Change =
                switch random.next(below: 12) {
                case 0...2: .released(id)
                case 3: .erased
                case 4: .tookIn(UInt64(index))
                default: .given(id)
                }
            return Tail.IdentityNews(change: change, position: UInt64(index) + 1)
        }
        var (atOnce, oneByOne) = (UserRow(), UserRow())
        atOnce.apply(all: news)
        for each in news { oneByOne.apply(each) }
        #expect(atOnce == oneByOne, "seed \(seed)")
    }
}
