import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds

@Suite("The parts of a condition, for one user")
struct WrittenConditionTests {
    private static let now = Timestamp(rawValue: 0)

    /// A user with flags, who counts the reads of each.
    private final class Flags: ConditionSubject {
        var values: [Name: AttributeValue]
        private(set) var reads: [Condition.Field: Int] = [:]

        init(_ values: [Name: AttributeValue]) { self.values = values }

        func value(of field: Condition.Field, at now: Timestamp) throws -> AttributeValue? {
            reads[field, default: 0] += 1
            guard case .customAttribute(let name) = field else { return nil }
            return values[name]
        }
    }

    /// A condition as it is written, piece by piece.
    private struct Writer {
        var text = ""
        var flags: [Name] = []

        mutating func flag(_ name: Name? = nil) -> WrittenCondition.Part {
            let name = name ?? Name("f\(flags.count)")
            flags.append(name)
            let start = text.count
            text += name.text
            return .init(.holds(.customAttribute(name), .flag(true)), start..<text.count)
        }

        mutating func random(depth: Int, _ random: inout SeededGenerator) -> WrittenCondition.Part {
            if depth == 0 || random.next(below: 4) == 0 { return flag() }
            let start = text.count
            let kind = random.next(below: 3)
            text += kind == 0 ? "not (" : "("
            var parts = [self.random(depth: depth - 1, &random)]
            if kind > 0 {
                for _ in 0...random.next(below: 2) {
                    text += kind == 1 ? " and " : " or "
                    parts.append(self.random(depth: depth - 1, &random))
                }
            }
            text += ")"
            let conditions = parts.map(\.condition)
            let condition: Condition =
                kind == 0 ? .not(conditions[0]) : kind == 1 ? .all(conditions) : .any(conditions)
            return .init(condition, start..<text.count, parts)
        }
    }

    @Test(
        "The whole holds if the condition accepts the user, and only the parts that decide matter for it",
        arguments: Thoroughness.seeds(short: 40, full: 2_000))
    func deciding(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var writer = Writer()
        let written = WrittenCondition(text: "", whole: writer.random(depth: 5, &random))
        let condition = WrittenCondition(text: writer.text, whole: written.whole)
        let user = Flags([:])
        for flag in writer.flags { user.values[flag] = .bool(random.next(below: 2) == 0) }
        let findings = try condition.findings(for: user, at: Self.now)
        #expect(user.reads.values.allSatisfy { $0 == 1 } && user.reads.count == writer.flags.count, "seed \(seed)")
        let holds = try condition.condition.accepts(user, at: Self.now)
        #expect(findings[0].holds == holds && findings[0].decides, "seed \(seed)")
        #expect(findings[0].text == writer.text)
        #expect(findings.filter { $0.kind == .comparison }.map { Name($0.text) } == writer.flags, "seed \(seed)")
        #expect(findings.contains { $0.decides && $0.kind == .comparison }, "seed \(seed)")
        for finding in findings where finding.kind == .comparison {
            #expect(finding.subject?.value == .bool(finding.holds), "seed \(seed)")
            if !finding.decides { user.values[Name(finding.text)] = .bool(random.next(below: 2) == 0) }
        }
        #expect(try condition.condition.accepts(user, at: Self.now) == holds, "seed \(seed): \(writer.text)")
    }

    @Test("What fails in an and, what holds in an or, and what is in a not decide")
    func kinds() throws {
        var writer = Writer()
        let a = writer.flag("a")
        writer.text += " and not "
        let start = writer.text.count
        let b = writer.flag("b")
        let not = WrittenCondition.Part(.not(b.condition), start - 4..<writer.text.count, [b])
        let whole = WrittenCondition.Part(.all([a.condition, not.condition]), 0..<writer.text.count, [a, not])
        let condition = WrittenCondition(text: writer.text, whole: whole)
        let findings = try condition.findings(for: Flags(["a": true, "b": true]), at: Self.now)
        #expect(findings.map(\.text) == ["a and not b", "a", "not b", "b"])
        #expect(findings.map(\.kind) == [.and, .comparison, .not, .comparison])
        #expect(findings.map(\.depth) == [0, 1, 1, 2])
        #expect(findings.map(\.holds) == [false, true, false, true])
        #expect(findings.map(\.decides) == [true, false, true, true])
    }

    @Test("The value of a comparison is the member that it compares, and null is none")
    func members() throws {
        func subject(_ test: ValueTest, _ value: AttributeValue) throws -> WrittenCondition.Subject? {
            let part = WrittenCondition.Part(.holds(.customAttribute("a"), test), 0..<1)
            let user = Flags(["a": value])
            return try WrittenCondition(text: "a", whole: part).findings(for: user, at: Self.now)[0].subject
        }
        let address: AttributeValue = .object([.init("city", .string("Lima")), .init("zip", .null)])
        let city = try subject(.member("city", .text("Rome")), address)
        #expect(city?.value == .string("Lima") && city?.path == ["city"])
        #expect(try subject(.member("zip", .isThere(nil)), address)?.value == nil)
        #expect(try subject(.member("street", .isThere(nil)), address)?.value == nil)
        let list = try subject(.element(.text("a")), .array([.string("b")]))
        #expect(list?.value == .array([.string("b")]) && list?.path == [])
    }
}
