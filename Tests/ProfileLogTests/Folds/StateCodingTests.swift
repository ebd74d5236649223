import ProfileLog
import Testing

@testable import ProfileLogFolds

@Suite("A state that is Codable has equal bytes when it is equal")
struct StateCodingTests {
    private func roundTrip<State: Codable & Equatable>(_ state: State) throws -> Bool {
        try StateCoding.encode(state).withUnsafeBytes { StateCoding.decode(State.self, $0) } == state
    }

    private enum Plan: Codable, Hashable {
        case free
        case paid(cents: Int, currency: Name)
        case shared(with: [UserID])
    }

    private struct Everything: Codable, Equatable {
        var bool = true
        var numbers: [Int8] = [-128, 0, 127]
        var large: [UInt64] = [0, .max]
        var small: [Int64] = [.min, -1, .max]
        var double = 0.1
        var float: Float = 0.1
        var text = "é"
        var nothing: Int?
        var something: Int? = 3
        var nested: [[Int?]] = [[1, nil], []]
        var byText: [String: [Double]] = ["a": [1], "": []]
        var byNumber: [Int: Bool] = [3: true, -3: false]
        var byName: [Name: Plan] = [
            "\u{E9}": .free, "e\u{301}": .paid(cents: 5, currency: "EUR"), "x": .shared(with: [.externalID("a")]),
        ]
        var byPlan: [Plan: Int] = [.free: 1, .paid(cents: 1, currency: "USD"): 2]
        var set: Set<Name> = ["b", "a"]
        var optionalSet: Set<Int>? = [3, 1, 2]
        var position = Position(rawValue: 7)
        var time = Timestamp(rawValue: -5)
        var value: AttributeValue = .object([.init("k", .array([.int(1), .null, .string("s")]))])
    }

    @Test("Every value comes back as it was")
    func roundTrips() throws {
        #expect(try roundTrip(Everything()))
        #expect(try roundTrip(Int64.min))
        #expect(try roundTrip([String: Int]()))
        #expect(try roundTrip([Int]()))
        #expect(try roundTrip([[Int]]()))
        #expect(try roundTrip(Int?.none))
        #expect(try roundTrip(-0.0))
        #expect(try roundTrip("") && roundTrip(true) && roundTrip(UInt8.max))
    }

    @Test("The bytes do not depend on the order in which sets and dictionaries were filled", arguments: 0..<100)
    func order(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let numbers = Array(0..<50)
        func bytes(_ numbers: [Int]) throws -> [[UInt8]] {
            var (set, byText, byPlan) = (Set<String>(), [String: Int](), [Plan: Int]())
            for number in numbers {
                set.insert("\(number)")
                byText["\(number)"] = number
                byPlan[.paid(cents: number, currency: "EUR")] = number
            }
            return [try StateCoding.encode(set), try StateCoding.encode(byText), try StateCoding.encode(byPlan)]
        }
        #expect(try bytes(numbers) == bytes(numbers.shuffled(using: &random)))
    }

    @Test("The bytes of a state are these")
    func golden() throws {
        #expect(try StateCoding.encode(["b": -1, "a": 1]) == [1, 8, 2, 1, 0x61, 3, 2, 1, 0x62, 3, 1])
        #expect(try StateCoding.encode([UInt8(1)]) == [1, 7, 1, 4, 1])
    }

    @Test(
        "Bytes that are no such state are refused",
        arguments: [[], [2, 3, 2], [1], [1, 3], [1, 3, 2, 0], [1, 9], [1, 7, 200, 1]] as [[UInt8]])
    func refused(bytes: [UInt8]) {
        #expect(bytes.withUnsafeBytes { StateCoding.decode(Int.self, $0) } == nil)
        var deep: [UInt8] = [1]
        for _ in 0..<5_000 { deep += [7, 1] }
        #expect(deep.withUnsafeBytes { StateCoding.decode([Int].self, $0) } == nil)
    }
}
