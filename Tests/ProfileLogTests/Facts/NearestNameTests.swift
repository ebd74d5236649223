import Testing

@testable import ProfileLogFacts

@Suite("Nearest names")
struct NearestNameTests {
    @Test("A mistyped name finds those a few letters away, nearest first, and those that begin as it does")
    func close() {
        let names = ["events", "event_count", "purchases", "category", "categories"]
        #expect(NearestNames(to: "evnets", among: names).close == ["events"])
        #expect(NearestNames(to: "category", among: names).close == ["category", "categories"])
        #expect(NearestNames(to: "category", among: names, within: 2).close == ["category"])
        #expect(NearestNames(to: "x", among: names).close.isEmpty)
        #expect(NearestNames(to: "", among: ["", "a", "bc"]).close == ["", "a"])
        let all = NearestNames(to: "purchase", among: names).all
        #expect(all == ["purchases", "events", "event_count", "category", "categories"])
    }

    @Test("Of very many names that are all alike the nearest is found, at a cost that grows with their number alone")
    func many() {
        let names = (0..<50_000).map { "event_number_\($0)_of_a_long_name" }
        let close = NearestNames(to: "evnt_number_777_of_a_long_name", among: names).close
        #expect(close.first == "event_number_777_of_a_long_name" && close.count < 100)
    }
}
