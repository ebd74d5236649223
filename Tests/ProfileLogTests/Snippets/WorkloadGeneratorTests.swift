import ProfileLog
import Testing

@testable import ProfileLogSnippets

@Suite("The benchmark's events are varied, valid and always the same")
struct WorkloadGeneratorTests {
    private static func lines(_ count: Int, seed: UInt64, users: Int) -> [[UInt8]] {
        var generator = WorkloadGenerator(seed: seed, users: users)
        return (0..<count).map { _ in
            var line: [UInt8] = []
            generator.appendLine(to: &line)
            return line
        }
    }

    @Test("The same seed gives the same lines, another seed others")
    func deterministic() {
        #expect(Self.lines(500, seed: 1, users: 100) == Self.lines(500, seed: 1, users: 100))
        #expect(Self.lines(500, seed: 1, users: 100) != Self.lines(500, seed: 2, users: 100))
        #expect(Array(Self.lines(500, seed: 1, users: 100).prefix(50)) == Self.lines(50, seed: 1, users: 100))
    }

    @Test("Each line is one JSON object in one of three shapes", arguments: UInt64(0)..<4)
    func shapes(seed: UInt64) throws {
        var time = Timestamp(rawValue: 1_767_225_600_000_000)
        for line in Self.lines(2000, seed: seed, users: 1000) {
            #expect(line.last == 0x0A)
            #expect(line.filter { $0 == 0x0A }.count == 1)
            let event = try JSON.parse(line)
            let user = try #require(event["user"]?.text)
            #expect(user.hasPrefix("u-") && user.utf8.count == 8)
            let moment = try #require(OccurredAt(iso8601: event["time"]?.text ?? ""))
            #expect(time <= moment.timestamp && moment.timestamp.rawValue - time.rawValue <= 2_000_000)
            time = moment.timestamp
            switch event["kind"]?.text {
            case "custom_event":
                #expect(event["name"]?.text?.isEmpty == false)
                #expect(event["properties"]?.members.count == 4)
                #expect(event.members.count == 5)
            case "custom_attribute":
                #expect(1...2 ~= event["attributes"]?.members.count ?? 0)
                #expect(event.members.count == 4)
            case "user_attribute":
                #expect(event["attribute"]?.text != nil && event["value"]?.text != nil)
                #expect(event.members.count == 5)
            case let kind: Issue.record("a line is of kind \(kind ?? "none")")
            }
        }
    }

    @Test("Kinds come as 60, 30 and 10 %, and a line has about 200 bytes")
    func mix() throws {
        let lines = Self.lines(20_000, seed: 7, users: 1000)
        var kinds: [String: Int] = [:]
        for line in lines { kinds[try JSON.parse(line)["kind"]?.text ?? "", default: 0] += 1 }
        #expect(11_600...12_400 ~= kinds["custom_event"] ?? 0)
        #expect(5600...6400 ~= kinds["custom_attribute"] ?? 0)
        #expect(1700...2300 ~= kinds["user_attribute"] ?? 0)
        #expect(180...240 ~= lines.reduce(0) { $0 + $1.count } / lines.count)
    }

    @Test("A custom attribute never changes its type")
    func types() throws {
        var types: [String: String] = [:]
        for line in Self.lines(20_000, seed: 3, users: 10) {
            for member in try JSON.parse(line)["attributes"]?.members ?? [] {
                let type = member.value.typeName
                let before = types.updateValue(type, forKey: member.key.text)
                #expect(before == nil || before == type)
            }
        }
        #expect(types.count == 40)
    }

    @Test("Rank r is drawn in proportion to 1/r", arguments: [1, 2, 3, 10, 1000])
    func zipf(count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        let sampler = ZipfSampler(count: count)
        let draws = 400_000
        var seen = [Int](repeating: 0, count: count)
        for _ in 0..<draws { seen[sampler.next(using: &random)] += 1 }
        let total = (1...count).reduce(0) { $0 + 1 / Double($1) }
        for rank in 0..<count {
            let expected = Double(draws) / (total * Double(rank + 1))
            #expect(abs(Double(seen[rank]) - expected) <= 6 * expected.squareRoot() + 1, "rank \(rank)")
        }
    }

    @Test("Numbers are those of xoshiro256** and splitmix64")
    func knownNumbers() {
        var random = SeededGenerator(seed: 0)
        let first = (0..<3).map { _ in random.next() }
        #expect(first == [0x99EC_5F36_CB75_F2B4, 0xBF6E_1F78_4956_452A, 0x1A5F_849D_4933_E6E0])
    }
}

extension AttributeValue {
    fileprivate var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    fileprivate var members: [Member] {
        guard case .object(let members) = self else { return [] }
        return members
    }

    fileprivate var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .int: "int"
        case .double: "double"
        case .string: "string"
        case .date: "date"
        case .array: "array"
        case .object: "object"
        }
    }
}
