import Testing

@testable import ProfileLogFacts
@testable import ProfileLogFolds

@Suite("Integers and doubles are compared exactly")
struct NumberOrderTests {
    private static let ascending: [AttributeValue] = [
        .double(-.greatestFiniteMagnitude), .double(-0x1.0000000000001p63), .int(.min), .int(.min + 1),
        .int(-9_007_199_254_740_993), .double(-9_007_199_254_740_992), .int(-9_007_199_254_740_991), .double(-0.5),
        .int(0), .double(.leastNonzeroMagnitude), .double(0.5), .int(1), .double(1.5),
        .int(9_007_199_254_740_991), .double(9_007_199_254_740_992), .int(9_007_199_254_740_993),
        .double(9_007_199_254_740_994), .int(9_223_372_036_854_774_784), .int(.max), .double(0x1p63),
        .double(.greatestFiniteMagnitude),
    ]

    private static let relations: [ValueTest.Relation] = [
        .equal, .notEqual, .greater, .greaterOrEqual, .less, .lessOrEqual,
    ]

    private func holds(_ relation: ValueTest.Relation, _ left: Int, _ right: Int) -> Bool {
        switch relation {
        case .equal: left == right
        case .notEqual: left != right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        case .less: left < right
        case .lessOrEqual: left <= right
        }
    }

    @Test("Each number of a list is less than all that follow it, by every relation")
    func order() throws {
        for (left, value) in Self.ascending.enumerated() {
            for (right, other) in Self.ascending.enumerated() {
                let order: Int? = value.numberOrder(to: other)
                #expect(order == (left - right).signum(), "\(value) \(other)")
                let number = try #require(ValueTest.Number(other))
                for relation in Self.relations {
                    let isTaken: Bool = ValueTest.number(relation, number).accepts(value, at: Timestamp(rawValue: 0))
                    let wanted: Bool = holds(relation, left, right)
                    #expect(isTaken == wanted, "\(value) \(relation) \(other)")
                }
            }
        }
    }

    @Test("The same number is equal in both forms")
    func equal() throws {
        let pairs: [(Int64, Double)] = [(0, -0.0), (2, 2.0), (-3, -3.0), (1 << 53, 0x1p53), (.min, -0x1p63)]
        for (int, double) in pairs {
            #expect(AttributeValue.int(int).numberOrder(to: .double(double)) == 0)
            #expect(AttributeValue.double(double).numberOrder(to: .int(int)) == 0)
        }
    }
}
