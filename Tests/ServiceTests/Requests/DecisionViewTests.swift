import ProfileLog
import Testing

@testable import ProfileLogLog
@testable import ProfileLogRequests

@Suite("What a decision relies on")
struct DecisionViewTests {
    @Test("What a decision relies on often is checked once under the lock")
    func once() async throws {
        try await withAPI { api in
            let view = DecisionView(api.log, .fast)
            for name in ["a", "b", "a"] as [Name] {
                view.requireUnchanged(.pushTokens)
                view.requireUnchanged(.types(of: [name]))
            }
            let facts = view.completed(PreparedAppend(.events)).preconditions.facts
            #expect(facts.count == 2)
            let names = facts.compactMap { fact -> Set<Name>? in
                if case .unchanged(.types(let names), _) = fact { names } else { nil }
            }
            #expect(names == [["a", "b"]])
        }
    }
}
