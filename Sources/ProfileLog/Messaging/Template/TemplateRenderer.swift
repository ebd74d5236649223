/// Renders the parts of a template for one user.
struct TemplateRenderer {
    private(set) var output = ""
    private let context: RenderContext
    private var variables: [Name: AttributeValue] = [:]
    private var steps = 0

    init(_ context: RenderContext) { self.context = context }

    mutating func render(_ nodes: [Template.Node]) throws(RenderError) {
        for node in nodes {
            switch node {
            case .text(let text):
                try spend(text.utf8.count / Self.bytesPerStep, at: Template.Spot())
                try append(text, at: Template.Spot())
            case .output(let expression):
                guard let value = try value(of: expression) else { throw Self.missing(expression) }
                try charge(value, at: expression.spot)
                try append(value.liquidText, at: expression.spot)
            case .assign(let variable, let expression):
                variables[variable] = try value(of: expression)
            case .branches(let branches):
                for branch in branches where try holds(branch.condition) {
                    try render(branch.nodes)
                    break
                }
            case .loop(let variable, let sequence, let nodes): try loop(variable, over: sequence, nodes)
            case .abort(let reason): throw .aborted(reason: reason)
            }
        }
    }

    private mutating func loop(
        _ variable: Name, over sequence: Template.Sequence, _ nodes: [Template.Node]
    ) throws(RenderError) {
        let outer = variables[variable]
        switch sequence {
        case .elements(let reference):
            guard let value = try value(of: reference) else { throw Self.missing(reference.text, reference.spot) }
            guard case .array(let elements) = value else {
                throw .failed(
                    reference.spot, "`\(reference.text)` is no array for this user",
                    remedy: "Only an array can be gone through.")
            }
            for element in elements { try run(nodes, variable, element, at: reference.spot) }
        case .numbers(let first, let last, let spot):
            guard let first = try number(first), let last = try number(last) else {
                throw .failed(spot, "a bound is no whole number for this user", remedy: "Write `(1..3)`.")
            }
            var number = first
            while number <= last {
                try run(nodes, variable, .int(number), at: spot)
                number += 1
            }
        }
        variables[variable] = outer
    }

    private mutating func run(
        _ nodes: [Template.Node], _ variable: Name, _ value: AttributeValue, at spot: Template.Spot
    ) throws(RenderError) {
        try spend(1, at: spot)
        variables[variable] = value
        try render(nodes)
    }

    /// The whole number, far enough from the bounds of its type.
    private mutating func number(_ operand: Template.Operand) throws(RenderError) -> Int64? {
        try value(of: operand)?.liquidNumber?.asInteger.flatMap { abs($0) < 1 << 53 ? $0 : nil }
    }

    private mutating func append(_ text: String, at spot: Template.Spot) throws(RenderError) {
        try spend(1, at: spot)
        try checkSize(output.utf8.count + text.utf8.count, of: "the rendered text", at: spot)
        output += text
    }

    private func checkSize(_ bytes: Int, of what: String, at spot: Template.Spot) throws(RenderError) {
        guard bytes <= Template.maxOutputBytes else {
            throw .failed(spot, "\(what) is larger than \(Template.maxOutputBytes) bytes", remedy: "Shorten it.")
        }
    }

    /// Bytes that are looked at or copied for one step.
    private static let bytesPerStep = 256

    /// Pays for looking at all of `value`, before that is done.
    private mutating func charge(
        _ value: AttributeValue?, times: Int = 1, at spot: Template.Spot
    ) throws(RenderError) {
        try spend(times * (value?.weight(bytesPerStep: Self.bytesPerStep) ?? 0), at: spot)
    }

    private mutating func spend(_ cost: Int, at spot: Template.Spot) throws(RenderError) {
        steps += cost
        guard steps <= Template.maxSteps else {
            throw .failed(
                spot, "the template takes more than \(Template.maxSteps) steps", remedy: "Shorten its loops.")
        }
        guard context.budget.take(cost) else {
            throw .failed(
                spot, "the templates of the request take too many steps together",
                remedy: "Shorten their loops, or send to fewer users at once.")
        }
    }

    private static func missing(_ expression: Template.Expression) -> RenderError {
        guard case .reference(let reference) = expression.operand else {
            return missing(expression.operand == .absent ? "nil" : "blank", expression.spot)
        }
        return missing(reference.text, reference.spot)
    }

    private static func missing(_ text: String, _ spot: Template.Spot) -> RenderError {
        .failed(
            spot, "`\(text)` has no value for this user",
            remedy: "Write `| default: '…'`, or ask with `!= blank` first.")
    }
}

// MARK: - Values

extension TemplateRenderer {
    /// The value after all filters; nil if it is missing. A missing value stays missing until `default`.
    private mutating func value(of expression: Template.Expression) throws(RenderError) -> AttributeValue? {
        var value = try value(of: expression.operand)
        for filter in expression.filters {
            try spend(1, at: filter.spot)
            if filter.kind == .default {
                if value.isEmpty { value = try self.value(of: filter.argument ?? .absent) }
            } else if let some = value {
                value = try apply(filter, to: some)
                if case .string(let text)? = value {
                    try checkSize(text.utf8.count, of: "the text", at: filter.spot)
                }
            }
        }
        return value
    }

    private mutating func value(of operand: Template.Operand) throws(RenderError) -> AttributeValue? {
        switch operand {
        case .literal(let value): value
        case .blank, .absent: nil
        case .reference(let reference): try value(of: reference)
        }
    }

    /// The value, or nil if it is missing: also a member that the object lacks, or an element beyond the array. What no
    /// value of its type has is an error.
    private mutating func value(of reference: Template.Reference) throws(RenderError) -> AttributeValue? {
        var value: AttributeValue? =
            switch reference.root {
            case .user(let field): field.value(of: context.recipient)
            case .customAttribute(let name): context.recipient.customAttribute(name)
            case .property(let source, let name): context.properties[source]?[name]
            case .message(let fact): context.message[fact].map(AttributeValue.string)
            case .variable(let name): variables[name]
            }
        for key in reference.path {
            guard let outer = value, outer != .null else { return nil }
            value = try Self.value(key, in: outer, reference)
            if case (.member, .string(let text)) = (key, outer) {
                try spend(text.utf8.count / Self.bytesPerStep, at: reference.spot)
            }
        }
        return value == .null ? nil : value
    }

    private static func value(
        _ key: Template.Reference.Key, in outer: AttributeValue, _ reference: Template.Reference
    ) throws(RenderError) -> AttributeValue? {
        let unknown: String
        switch key {
        case .element(let index):
            if case .array(let elements) = outer {
                let place = index < 0 ? elements.count + index : index
                return elements.indices.contains(place) ? elements[place] : nil
            }
            unknown = "[\(index)]"
        case .quotedMember(let name):
            if case .object = outer { return outer[name] }
            unknown = "['\(TemplateError.shown(name.text))']"
        case .member(let name):
            let fact = Template.Reference.Fact(rawValue: name.text)
            switch (outer, fact) {
            case (.object(let members), _):
                if let value = outer[name] { return value }
                switch fact {
                case nil: return nil
                case .size: return .int(Int64(members.count))
                // A pair, in Liquid: nothing that a message can use.
                case .first, .last: break
                }
            case (.array(let elements), .size?): return .int(Int64(elements.count))
            case (.array(let elements), .first?): return elements.first
            case (.array(let elements), .last?): return elements.last
            case (.string(let text), .size?): return .int(Int64(text.unicodeScalars.count))
            case (.string(let text), .first?): return text.unicodeScalars.first.map { .string(String($0)) }
            case (.string(let text), .last?): return text.unicodeScalars.last.map { .string(String($0)) }
            default: break
            }
            unknown = ".\(TemplateError.shown(name.text))"
        }
        throw .failed(
            reference.spot, "`\(reference.text)`: \(outer.liquidType) has no `\(unknown)`",
            remedy: "Arrays and text have `.size`, `.first` and `.last`, arrays also `[0]`, objects their members.")
    }

    private mutating func apply(
        _ filter: Template.Filter, to value: AttributeValue
    ) throws(RenderError) -> AttributeValue? {
        let argument = try filter.argument.flatMap { operand throws(RenderError) in try self.value(of: operand) }
        // As a missing value: a filter makes nothing of it.
        if filter.argument != nil, argument == nil { return nil }
        switch (filter.kind, value) {
        case (.size, .array), (.size, .object): break  // their count is known
        default: try charge(value, at: filter.spot)
        }
        // A directive of `date` gives up to twelve bytes.
        try charge(argument, times: filter.kind == .date ? 12 : 1, at: filter.spot)
        switch filter.kind {
        case .default: return value
        case .upcase: return .string(value.liquidText.uppercased())
        case .downcase: return .string(value.liquidText.lowercased())
        case .capitalize:
            let text = value.liquidText
            return .string(text.prefix(1).uppercased() + text.dropFirst().lowercased())
        case .append:
            let (text, end) = (value.liquidText, argument?.liquidText ?? "")
            try checkSize(text.utf8.count + end.utf8.count, of: "the text", at: filter.spot)
            return .string(text + end)
        case .size:
            switch value {
            case .array(let elements): return .int(Int64(elements.count))
            case .object(let members): return .int(Int64(members.count))
            default: return .int(Int64(value.liquidText.unicodeScalars.count))
            }
        case .plus, .minus:
            guard let left = value.liquidNumber, let right = argument?.liquidNumber,
                let result = Self.sum(left, right, isMinus: filter.kind == .minus)
            else { throw error(filter, "cannot calculate with this value", remedy: "It works on numbers.") }
            return result
        case .date:
            guard let time = time(value) else {
                throw error(filter, "cannot read this time", remedy: "It works on ISO 8601, seconds since 1970, 'now'.")
            }
            let format = argument?.liquidText ?? ""
            if let reason = DateFormat.error(in: format) {
                throw .failed(filter.spot, reason, remedy: DateFormat.remedy)
            }
            return .string(DateFormat.text(time, format))
        }
    }

    private func error(_ filter: Template.Filter, _ reason: String, remedy: String) -> RenderError {
        .failed(filter.spot, "`\(filter.kind.rawValue)` \(reason)", remedy: remedy)
    }

    private static func sum(_ left: AttributeValue, _ right: AttributeValue, isMinus: Bool) -> AttributeValue? {
        if case .int(let left) = left, case .int(let right) = right {
            let (sum, overflows) =
                isMinus ? left.subtractingReportingOverflow(right) : left.addingReportingOverflow(right)
            return overflows ? nil : .int(sum)
        }
        guard let left = left.asNumber, let right = right.asNumber else { return nil }
        let sum = isMinus ? left - right : left + right
        return sum.isFinite ? .double(sum) : nil
    }

    /// The moment, if it is of a year that can be written.
    private func time(_ value: AttributeValue) -> OccurredAt? {
        let time: OccurredAt?
        switch value {
        case .date(let date): time = date
        case .string("now"), .string("today"): time = OccurredAt(context.now)
        case .string(let text): time = OccurredAt(braze: text)
        default:
            let micros = value.asInteger?.multipliedReportingOverflow(by: 1_000_000)
            time = micros.flatMap { $0.overflow ? nil : OccurredAt(Timestamp(rawValue: $0.partialValue)) }
        }
        return time.flatMap { $0.isExpressible ? $0 : nil }
    }
}

// MARK: - Conditions

extension TemplateRenderer {
    /// Evaluates from the right, as Liquid does: `a or b and c` is `a or (b and c)`, `a and b or c` is `a and (b or
    /// c)`.
    private mutating func holds(_ condition: Template.Condition?) throws(RenderError) -> Bool {
        guard let condition else { return true }
        var result = true
        for (index, comparison) in condition.comparisons.enumerated().reversed() {
            let holds = try holds(comparison)
            guard index < condition.joints.count else {
                result = holds
                continue
            }
            result = condition.joints[index] == .and ? holds && result : holds || result
        }
        return result
    }

    private mutating func holds(_ comparison: Template.Comparison) throws(RenderError) -> Bool {
        try spend(1, at: comparison.spot)
        let left = try value(of: comparison.left)
        let right = try value(of: comparison.right)
        if comparison.comparator != nil {
            try charge(left, at: comparison.spot)
            try charge(right, at: comparison.spot)
        }
        switch comparison.comparator {
        case nil: return left != nil && left != .bool(false)
        case .equal: return isEqual(comparison, left, right)
        case .notEqual, .notEqualToo: return !isEqual(comparison, left, right)
        case .contains:
            guard let left, let right else { return false }
            switch left {
            case .array(let elements): return elements.contains { $0.isLiquidEqual(to: right) }
            case .object(let members): return members.contains { $0.key.text == right.liquidText }
            case .bool, .int, .double, .null: return false
            case .string, .date: break
            }
            let (text, part) = (left.liquidText, right.liquidText)
            try spend(text.utf8.count * part.utf8.count / Self.bytesPerStep, at: comparison.spot)
            return part.isEmpty || text.contains(part)
        case .less, .greater, .atMost, .atLeast:
            guard let left, let right else { return false }
            guard let order = left.liquidOrder(to: right) else {
                throw .failed(
                    comparison.spot, "the two values have no order for this user",
                    remedy: "Compare two numbers, two times or two texts.")
            }
            switch comparison.comparator {
            case .less: return order < 0
            case .greater: return order > 0
            case .atMost: return order <= 0
            default: return order >= 0
            }
        }
    }

    private func isEqual(
        _ comparison: Template.Comparison, _ left: AttributeValue?, _ right: AttributeValue?
    ) -> Bool {
        if comparison.left == .blank { return right.isBlank }
        if comparison.right == .blank { return left.isBlank }
        guard let left, let right else { return left == nil && right == nil }
        return left.isLiquidEqual(to: right)
    }
}

extension AttributeValue? {
    /// Tells whether `default` replaces it.
    fileprivate var isEmpty: Bool {
        switch self {
        case nil, .bool(false)?: true
        case .string(let text)?: text.isEmpty
        case .array(let elements)?: elements.isEmpty
        default: false
        }
    }

    /// Tells whether it equals `blank`.
    fileprivate var isBlank: Bool {
        switch self {
        case nil, .null?, .bool(false)?: true
        case .string(let text)?: text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
        case .array(let elements)?: elements.isEmpty
        case .object(let members)?: members.isEmpty
        default: false
        }
    }
}

extension AttributeValue {
    /// Steps to look at all of it: one for each element, member and `bytesPerStep` bytes of text.
    fileprivate func weight(bytesPerStep: Int) -> Int {
        switch self {
        case .string(let text): text.utf8.count / bytesPerStep
        case .array(let elements): elements.reduce(0) { $0 + 1 + $1.weight(bytesPerStep: bytesPerStep) }
        case .object(let members):
            members.reduce(0) {
                $0 + 1 + $1.key.text.utf8.count / bytesPerStep + $1.value.weight(bytesPerStep: bytesPerStep)
            }
        default: 0
        }
    }

    /// The value as a placeholder shows it: the elements of an array one after the other, an object as JSON.
    fileprivate var liquidText: String {
        switch self {
        case .null: ""
        case .bool(let flag): flag ? "true" : "false"
        case .int(let integer): String(integer)
        case .double(let number): number.description
        case .string(let text): text
        case .date(let time): time.timestamp.rfc3339(utcOffsetMinutes: time.utcOffsetMinutes)
        case .array(let elements): elements.map(\.liquidText).joined()
        case .object: json
        }
    }

    /// The type in words, for errors.
    fileprivate var liquidType: String {
        switch self {
        case .null: "nothing"
        case .bool: "a boolean"
        case .int, .double: "a number"
        case .string: "text"
        case .date: "a time"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The number, or the number in the text.
    fileprivate var liquidNumber: AttributeValue? {
        switch self {
        case .int, .double: return self
        case .string(let text):
            if let integer = Int64(text) { return .int(integer) }
            let isPlain = text.utf8.allSatisfy { (48...57).contains($0) || "+-.".utf8.contains($0) }
            return isPlain ? Double(text).flatMap { $0.isFinite ? .double($0) : nil } : nil
        default: return nil
        }
    }

    fileprivate func isLiquidEqual(to other: AttributeValue) -> Bool {
        if let order = numberOrder(to: other) { return order == 0 }
        return self == other
    }

    /// Below zero, zero or above it; nil for values without an order.
    fileprivate func liquidOrder(to other: AttributeValue) -> Int? {
        if let order = numberOrder(to: other) { return order }
        if let left = asTime, let right = other.asTime { return left < right ? -1 : left > right ? 1 : 0 }
        if let left = asText, let right = other.asText { return left.order(to: right) }
        return nil
    }

    /// The moment; of two values that are compared, text may be one.
    private var asTime: Timestamp? {
        switch self {
        case .date(let time): time.timestamp
        case .string(let text): OccurredAt(braze: text)?.timestamp
        default: nil
        }
    }
}
