internal import ProfileLogRequests

/// The rules of segments as the workspace file writes them (docs/workspace.md).
extension Condition {
    /// Rules within each other.
    private static let maxSegmentDepth = 16

    /// The rule of a segment: one of `users`, `all`, `any`.
    init(segment fields: YAMLFields) throws(YAMLFileError) {
        let (key, node) = try fields.one(of: ["users", "all", "any"])
        guard key == "users" else {
            self = try Self.joined(key, node, depth: 1)
            return
        }
        guard try node.text() == "all" else {
            throw node.refusal("must be `all`", remedy: "Write `users: all`, or conditions under `all` or `any`.")
        }
        self = .everybody
    }

    private static func joined(
        _ key: String, _ node: YAMLNode, depth: Int
    ) throws(YAMLFileError) -> Condition {
        guard depth <= maxSegmentDepth else {
            throw node.refusal("is nested deeper than \(maxSegmentDepth)", remedy: "Take a level out.")
        }
        let rules = try node.elements().map { (element) throws(YAMLFileError) in try condition(element, depth: depth) }
        guard !rules.isEmpty else { throw node.refusal("has no condition", remedy: "Add one, or write `users: all`.") }
        return key == "all" ? .all(rules) : .any(rules)
    }

    private static let segmentTests = ["exists", "equals", "greater", "less", "contains"]

    private static func condition(_ node: YAMLNode, depth: Int) throws(YAMLFileError) -> Condition {
        let subjects = ["attribute", "custom_attribute", "trait", "event", "purchase", "all", "any"]
        let fields = try node.fields(subjects + segmentTests + ["at_least", "at_most"])
        let (key, subject) = try fields.one(of: subjects)
        switch key {
        case "attribute", "custom_attribute", "trait":
            for other in ["at_least", "at_most"] { try refuse(other, in: fields, with: key) }
            let name = try subject.name()
            if key == "custom_attribute" { return .holds(.customAttribute(name), try test(fields)) }
            if key == "trait" { return .holds(.trait(name), try test(fields)) }
            guard let attribute = ReservedField.attribute(name) else {
                let names = StandardAttribute.allCases.map(\.name)
                throw subject.refusal(
                    "is no standard attribute",
                    remedy: NearestNames(to: name.text, among: names).question()
                        ?? "Write `custom_attribute` for one of your own.")
            }
            return .holds(.attribute(attribute), try test(fields, of: attribute))
        case "event", "purchase":
            for other in segmentTests { try refuse(other, in: fields, with: key) }
            let most = try fields["at_most"]?.integer(0 ... .max)
            let least = try fields["at_least"]?.integer(0 ... .max) ?? (most == nil ? 1 : 0)
            guard least <= most ?? .max else {
                throw subject.refusal("has an `at_least` above its `at_most`", remedy: "Exchange the two.")
            }
            let name = try subject.name()
            var times: [(ValueTest.Relation, Int64)] = [(.greaterOrEqual, Int64(least))]
            if let most { times.append((.lessOrEqual, Int64(most))) }
            return .holds(
                .count(key == "event" ? .event(name) : .product(name)),
                .all(times.compactMap { ValueTest.compares($0, .int($1)) }))
        default:
            for other in segmentTests + ["at_least", "at_most"] { try refuse(other, in: fields, with: key) }
            return try joined(key, subject, depth: depth + 1)
        }
    }

    private static func refuse(
        _ other: String, in fields: YAMLFields, with key: String
    ) throws(YAMLFileError) {
        guard let node = fields[other] else { return }
        throw node.refusal("cannot be combined with `\(key)`", remedy: "Take it out.")
    }

    /// The test of a standard attribute, which must be one that a profile can pass.
    private static func test(
        _ fields: YAMLFields, of attribute: StandardAttribute
    ) throws(YAMLFileError) -> ValueTest {
        let (key, node) = try fields.one(of: segmentTests)
        guard attribute.segmentTests.contains(key) else {
            let others = attribute.segmentTests.map { "`\($0)`" }.joined(separator: ", ")
            throw node.refusal("cannot hold for `\(attribute.name)`", remedy: "It can be asked with \(others).")
        }
        if key == "exists" {
            let exists = try node.flag()
            guard exists || !attribute.isAlwaysThere else {
                throw node.refusal(
                    "cannot be false: every profile has `\(attribute.name)`",
                    remedy: "Where nothing was said, it equals `subscribed`.")
            }
            return exists ? .isThere(nil) : .isMissing
        }
        return try compares(key, try value(node, of: attribute), node)
    }

    private static func value(
        _ node: YAMLNode, of attribute: StandardAttribute
    ) throws(YAMLFileError) -> AttributeValue {
        let isFlag = [.emailOpenTrackingDisabled, .emailClickTrackingDisabled].contains(attribute)
        let value = isFlag ? try node.value() : .string(try node.anyText())
        do throws(TrackError) {
            return try attribute.comparable(value)
        } catch {
            switch error {
            case .field(let reason): throw node.refusal(reason, remedy: "Write a value that a profile can have.")
            case .object: throw node.refusal("is no e-mail address", remedy: "Write one, or ask with `exists`.")
            }
        }
    }

    private static func test(_ fields: YAMLFields) throws(YAMLFileError) -> ValueTest {
        let (key, node) = try fields.one(of: segmentTests)
        switch key {
        case "exists": return try node.flag() ? .isThere(nil) : .isMissing
        case "contains": return .element(try compares("equals", try node.value(), node))
        default: return try compares(key, try node.value(), node)
        }
    }

    private static func compares(
        _ key: String, _ value: AttributeValue, _ node: YAMLNode
    ) throws(YAMLFileError) -> ValueTest {
        let relation: ValueTest.Relation = key == "equals" ? .equal : key == "greater" ? .greater : .less
        guard let test = ValueTest.compares(relation, value) else {
            throw node.refusal("must be a number or a time", remedy: "Write one, or use `equals`.")
        }
        return test
    }
}

extension StandardAttribute {
    /// Properties that a segment can test.
    fileprivate var segmentTests: [String] {
        isTime ? ["exists", "equals", "greater", "less"] : isNested ? ["exists"] : ["exists", "equals"]
    }
}
