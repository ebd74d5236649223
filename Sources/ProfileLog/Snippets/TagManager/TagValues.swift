/// The values of a container's variables and triggers for one event. Each is worked out once.
///
/// Values become text and numbers by the rules of JavaScript, which the tag manager follows: no value is the text
/// `undefined`, and what is no number compares with nothing.
package struct TagValues {
    let container: TagContainer
    let event: AppEvent
    private var values: [Int: AttributeValue?] = [:]
    private var failures: [Int: Int?] = [:]

    /// Characters that text with variables has at most. The SDK takes no text of a tenth of it, so what is cut is
    /// refused.
    private static let maxCharacters = 4_096

    init(_ container: TagContainer, _ event: AppEvent) { (self.container, self.event) = (container, event) }

    // MARK: - Values

    /// The value; nil if there is none.
    mutating func value(of source: TagValueSource) -> AttributeValue? {
        switch source {
        case .fixed(let value): return value
        case .eventName: return .string(event.name.text)
        case .text(let parts):
            var text = ""
            for part in parts {
                text += self.text(of: part).prefix(Self.maxCharacters)
                if text.utf8.count > Self.maxCharacters { break }
            }
            return .string(String(text.prefix(Self.maxCharacters)))
        case .variable(let number):
            if let known = values[number] { return known }
            let value = formatted(container.variables[number])
            values[number] = .some(value)
            return value
        }
    }

    /// Returns the encoding of the number object that is the value; nil if that is not known.
    func encoding(of source: TagValueSource) -> NumberEncoding? {
        guard case .variable(let number) = source,
            case .eventParameter(.fixed(.string(let key))) = container.variables[number].rule
        else { return nil }
        return event.encodings[Name(key)]
    }

    private mutating func formatted(_ variable: TagVariable) -> AttributeValue? {
        let value = unformatted(variable)
        if let replacement = variable.format.replacement(of: value) { return self.value(of: replacement) }
        guard case .string(let text) = value, let isLowercased = variable.format.isLowercased else { return value }
        return .string(isLowercased ? text.lowercased() : text.uppercased())
    }

    private mutating func unformatted(_ variable: TagVariable) -> AttributeValue? {
        var value: AttributeValue?
        switch variable.rule {
        case .value(let source): value = self.value(of: source)
        case .eventParameter(let key): value = event.parameters[Name(text(of: key))]
        case .table(let input, let rows):
            let left = self.value(of: input)
            for row in rows where holds(row.test, left) {
                value = self.value(of: row.value)
                break
            }
        case .nothing: break
        }
        return value ?? variable.otherwise.flatMap { self.value(of: $0) }
    }

    mutating func text(of source: TagValueSource) -> String { Self.text(value(of: source)) }

    private static func text(_ value: AttributeValue?) -> String {
        switch value {
        case nil: return "undefined"
        case .string(let text): return text
        case .double(let number):
            if let integer = Int64(exactly: number), abs(number) < 1e15 { return "\(integer)" }
            return "\(number)"
        case .date(let moment): return String(AttributeValue.date(moment).json.dropFirst().dropLast())  // its quotes
        case let value?: return value.json
        }
    }

    /// NaN for what is no number.
    private static func number(_ value: AttributeValue?) -> Double {
        switch value {
        case .null: return 0
        case .bool(let flag): return flag ? 1 : 0
        case .int(let number): return Double(number)
        case .double(let number): return number
        case .string(let text):
            let digits = text.filter { !$0.isWhitespace }
            guard digits.utf8.allSatisfy({ (48...57).contains($0) || "+-.eE".utf8.contains($0) }) else { return .nan }
            return digits.isEmpty ? 0 : Double(digits) ?? .nan
        case nil, .date, .array, .object: return .nan
        }
    }

    // MARK: - Triggers

    /// Tells whether the trigger fires.
    mutating func fires(_ trigger: Int) -> Bool { failure(of: trigger) == nil }

    /// The place of the first condition that does not hold; nil if all do.
    mutating func failure(of trigger: Int) -> Int? {
        if let known = failures[trigger] { return known }
        var failure: Int?
        for (place, condition) in container.triggers[trigger].conditions.enumerated() {
            let left = value(of: condition.left)
            guard holds(condition.test, left) == condition.isNegated else { continue }
            failure = place
            break
        }
        failures[trigger] = .some(failure)
        return failure
    }

    private mutating func holds(_ test: TagCondition.Test, _ left: AttributeValue?) -> Bool {
        let text = Self.text(left)
        switch test {
        case .equals(let right): return text.hasSameBytes(as: self.text(of: right))
        case .contains(let right):
            return text.prefix(Self.maxCharacters).contains(bytesOf: self.text(of: right))
        case .startsWith(let right): return text.utf8.starts(with: self.text(of: right).utf8)
        case .endsWith(let right): return text.utf8.reversed().starts(with: self.text(of: right).utf8.reversed())
        case .matches(_, let pattern): return pattern.isFound(in: text)
        case .compares(let order, let right): return order.holds(Self.number(left), Self.number(value(of: right)))
        }
    }
}

extension Substring {
    /// Tells whether the bytes of `part` are in it; in time that grows with the sum of the lengths (Knuth, Morris,
    /// Pratt).
    fileprivate func contains(bytesOf part: String) -> Bool {
        let part = Array(part.utf8)
        guard !part.isEmpty else { return true }
        var borders = [0]
        var length = 0
        for byte in part.dropFirst() {
            while length > 0, byte != part[length] { length = borders[length - 1] }
            if byte == part[length] { length += 1 }
            borders.append(length)
        }
        length = 0
        for byte in utf8 {
            while length > 0, byte != part[length] { length = borders[length - 1] }
            if byte == part[length] { length += 1 }
            if length == part.count { return true }
        }
        return false
    }
}
