internal import ProfileLogRequests

/// Which users belong to a segment.
indirect enum SegmentRule: Hashable {
    case everybody
    case all([SegmentRule])
    case any([SegmentRule])
    case attribute(StandardAttribute, Test)
    case customAttribute(Name, Test)
    /// Custom events of this name took effect so often.
    case event(Name, ClosedRange<UInt64>)
    /// The product was bought so often.
    case purchase(Name, ClosedRange<UInt64>)

    /// What an attribute must be.
    enum Test: Hashable {
        case exists(Bool)
        case equals(AttributeValue)
        case greater(AttributeValue)
        case less(AttributeValue)
        /// An array that has this element.
        case contains(AttributeValue)
    }

    /// Whether the user with this profile belongs to it.
    func takes(_ profile: ExportedProfile) -> Bool {
        switch self {
        case .everybody: true
        case .all(let rules): rules.allSatisfy { $0.takes(profile) }
        case .any(let rules): rules.contains { $0.takes(profile) }
        case .attribute(let attribute, let test): test.takes(profile.value(attribute).map(attribute.compared))
        case .customAttribute(let name, let test): test.takes(profile.customAttribute(name))
        case .event(let name, let times): times.contains(profile.count(ofEvent: name))
        case .purchase(let name, let times): times.contains(profile.count(ofProduct: name))
        }
    }
}

extension SegmentRule.Test {
    func takes(_ value: AttributeValue?) -> Bool {
        switch self {
        case .exists(let exists): return (value != nil) == exists
        case .equals(let other): return value.map { Self.order($0, other) == 0 || $0 == other } ?? false
        case .greater(let other): return value.flatMap { Self.order($0, other) }.map { $0 > 0 } ?? false
        case .less(let other): return value.flatMap { Self.order($0, other) }.map { $0 < 0 } ?? false
        case .contains(let other):
            guard case .array(let elements) = value else { return false }
            return elements.contains { Self.order($0, other) == 0 || $0 == other }
        }
    }

    /// Below zero, zero or above it, for two numbers or two times (the second may be text that reads as one); nil for
    /// what has no order.
    private static func order(_ left: AttributeValue, _ right: AttributeValue) -> Int? {
        if let left = left.asNumber, let right = right.asNumber { return left < right ? -1 : left > right ? 1 : 0 }
        if case .date(let left) = left, let right = time(right) {
            return left.timestamp < right.timestamp ? -1 : left.timestamp > right.timestamp ? 1 : 0
        }
        return nil
    }

    private static func time(_ value: AttributeValue) -> OccurredAt? {
        if case .date(let time) = value { return time }
        return value.asText.flatMap(ReservedField.date)
    }
}

extension StandardAttribute {
    /// The value as conditions compare it: in the form that `/users/track` keeps, with a day as a time. The native API
    /// keeps what it was given.
    fileprivate func compared(_ value: AttributeValue) -> AttributeValue { (try? comparable(value)) ?? value }

    /// As ``compared(_:)``. Throws for what no profile has.
    fileprivate func comparable(_ value: AttributeValue) throws(TrackFault) -> AttributeValue {
        // The native API and imports also take numbers without a known country.
        if self == .phone, let number = value.asText, ContactForm.isPhone(number), Identifiers.phone(number) == nil {
            return value
        }
        let kept = try ReservedField.value(value, of: self)
        switch (self, kept) {
        case (.country, .null): throw .field("is no country")
        // Of any year: nothing says that a day must be one that dates of custom attributes can have.
        case (.dateOfBirth, .string(let day)): return OccurredAt(iso8601: day).map(AttributeValue.date) ?? kept
        default: return kept
        }
    }

    /// Whether every profile has a value, also one about which nothing was said (``ExportedProfile/text(_:)``).
    fileprivate var isAlwaysThere: Bool { self == .emailSubscribe || self == .pushSubscribe }

    /// What a condition can ask.
    fileprivate var tests: [String] {
        switch self {
        case .dateOfBirth, .dateOfFirstSession, .dateOfLastSession, .markedEmailAsSpamAt:
            ["exists", "equals", "greater", "less"]
        case .currentLocation, .facebook, .twitter, .pushTokens, .subscriptionGroups: ["exists"]
        default: ["exists", "equals"]
        }
    }
}

// MARK: - Reading

extension SegmentRule {
    /// Rules within each other.
    private static let maxDepth = 16

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
    ) throws(YAMLFileError) -> SegmentRule {
        guard depth <= maxDepth else {
            throw node.refusal("is nested deeper than \(maxDepth)", remedy: "Take a level out.")
        }
        var rules: [SegmentRule] = []
        for element in try node.elements() { rules.append(try condition(element, depth: depth)) }
        guard !rules.isEmpty else { throw node.refusal("has no condition", remedy: "Add one, or write `users: all`.") }
        return key == "all" ? .all(rules) : .any(rules)
    }

    private static let tests = ["exists", "equals", "greater", "less", "contains"]

    private static func condition(_ node: YAMLNode, depth: Int) throws(YAMLFileError) -> SegmentRule {
        let subjects = ["attribute", "custom_attribute", "event", "purchase", "all", "any"]
        let fields = try node.fields(subjects + tests + ["at_least", "at_most"])
        let (key, subject) = try fields.one(of: subjects)
        switch key {
        case "attribute", "custom_attribute":
            for other in ["at_least", "at_most"] { try refuse(other, in: fields, with: key) }
            let name = try subject.name()
            if key == "custom_attribute" { return .customAttribute(name, try test(fields)) }
            guard let attribute = ReservedField.attribute(name) else {
                let names = StandardAttribute.allCases.map(\.name)
                let nearest = NearestNames(to: name.text, among: names).close.first
                throw subject.refusal(
                    "is no standard attribute",
                    remedy: nearest.map { "Did you mean `\($0)`?" } ?? "Write `custom_attribute` for one of your own.")
            }
            return .attribute(attribute, try test(fields, of: attribute))
        case "event", "purchase":
            for other in tests { try refuse(other, in: fields, with: key) }
            let most = try fields["at_most"]?.integer(0 ... .max)
            let least = try fields["at_least"]?.integer(0 ... .max) ?? (most == nil ? 1 : 0)
            guard least <= most ?? .max else {
                throw subject.refusal("has an `at_least` above its `at_most`", remedy: "Exchange the two.")
            }
            let times = UInt64(least)...(most.map { UInt64($0) } ?? .max)
            return key == "event" ? .event(try subject.name(), times) : .purchase(try subject.name(), times)
        default:
            for other in tests + ["at_least", "at_most"] { try refuse(other, in: fields, with: key) }
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
    ) throws(YAMLFileError) -> Test {
        let (key, node) = try fields.one(of: tests)
        guard attribute.tests.contains(key) else {
            let others = attribute.tests.map { "`\($0)`" }.joined(separator: ", ")
            throw node.refusal("cannot hold for `\(attribute.name)`", remedy: "It can be asked with \(others).")
        }
        if key == "exists" {
            let exists = try node.flag()
            guard exists || !attribute.isAlwaysThere else {
                throw node.refusal(
                    "cannot be false: every profile has `\(attribute.name)`",
                    remedy: "Where nothing was said, it equals `subscribed`.")
            }
            return .exists(exists)
        }
        let value = try value(node, of: attribute)
        return key == "equals" ? .equals(value) : key == "greater" ? .greater(value) : .less(value)
    }

    private static func value(
        _ node: YAMLNode, of attribute: StandardAttribute
    ) throws(YAMLFileError) -> AttributeValue {
        let isFlag = [.emailOpenTrackingDisabled, .emailClickTrackingDisabled].contains(attribute)
        let value = isFlag ? try node.value() : .string(try node.anyText())
        do throws(TrackFault) {
            return try attribute.comparable(value)
        } catch {
            switch error {
            case .field(let reason): throw node.refusal(reason, remedy: "Write a value that a profile can have.")
            case .object: throw node.refusal("is no e-mail address", remedy: "Write one, or ask with `exists`.")
            }
        }
    }

    private static func test(_ fields: YAMLFields) throws(YAMLFileError) -> Test {
        let (key, node) = try fields.one(of: tests)
        switch key {
        case "exists": return .exists(try node.flag())
        case "equals": return .equals(try node.value())
        case "contains": return .contains(try node.value())
        default:
            let value = try node.value()
            guard value.asNumber != nil || value.asText.flatMap(ReservedField.date) != nil else {
                throw node.refusal("must be a number or a time", remedy: "Write one, or use `equals`.")
            }
            return key == "greater" ? .greater(value) : .less(value)
        }
    }
}
