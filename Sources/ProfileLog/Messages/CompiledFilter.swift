/// A property filter whose type, comparator and value are one test.
struct CompiledFilter: Sendable {
    private let key: Name
    private let test: Test

    fileprivate enum Test: Sendable {
        case boolean(Bool)
        case number(Relation, Number)
        case date(Relation, Int64)
        case text(isEqual: Bool, String)
        case pattern(isFound: Bool, TextPattern)
        /// Present, and of the type.
        case exists(PropertyFilter.PropertyType)
        /// Missing. Null counts as missing (the project decides).
        case isMissing
        /// Never holds: `PropertyFilter` makes no such filter.
        case never
    }

    fileprivate enum Relation: Sendable {
        case equal, notEqual, greater, greaterOrEqual, less, lessOrEqual

        init?(_ comparator: PropertyFilter.Comparator) {
            switch comparator {
            case .equals: self = .equal
            case .notEqual: self = .notEqual
            case .greater: self = .greater
            case .greaterOrEqual: self = .greaterOrEqual
            case .less: self = .less
            case .lessOrEqual: self = .lessOrEqual
            case .matchesRegex, .exists, .doesNotExist, .doesNotMatchRegex: return nil
            }
        }

        @inline(__always)
        func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
            switch self {
            case .equal: left == right
            case .notEqual: left != right
            case .greater: left > right
            case .greaterOrEqual: left >= right
            case .less: left < right
            case .lessOrEqual: left <= right
            }
        }
    }

    /// An integer and a double are compared as doubles, two integers exactly.
    fileprivate struct Number: Sendable {
        let int: Int64?
        let double: Double
    }

    init(_ filter: PropertyFilter) {
        key = filter.key
        test = Self.test(filter)
    }

    private static func test(_ filter: PropertyFilter) -> Test {
        let relation = Relation(filter.comparator)
        switch (filter.comparator, filter.value) {
        case (.exists, _): return .exists(filter.type)
        case (.doesNotExist, _): return .isMissing
        case (.matchesRegex, .string(let text)?), (.doesNotMatchRegex, .string(let text)?):
            guard let pattern = try? TextPattern(text) else { return .never }
            return .pattern(isFound: filter.comparator == .matchesRegex, pattern)
        case (_, .bool(let flag)?): return .boolean(flag)
        case (_, .string(let text)?): return .text(isEqual: filter.comparator == .equals, text)
        case (_, .int(let int)?): return relation.map { .number($0, Number(int: int, double: Double(int))) } ?? .never
        case (_, .double(let double)?): return relation.map { .number($0, Number(int: nil, double: double)) } ?? .never
        case (_, .date(let date)?): return relation.map { .date($0, date.timestamp.rawValue) } ?? .never
        default: return .never
        }
    }

    /// Whether the property is there, has the type and passes. `properties` are in ascending order of keys.
    func accepts(_ properties: [AttributeValue.Member]) -> Bool {
        guard let index = Self.index(of: key, in: properties) else { return test.acceptsMissing }
        switch (test, properties[index].value) {
        case (.boolean(let wanted), .bool(let flag)): return flag == wanted
        case (.number(let relation, let wanted), .int(let int)):
            guard let wantedInt = wanted.int else { return relation.holds(Double(int), wanted.double) }
            return relation.holds(int, wantedInt)
        case (.number(let relation, let wanted), .double(let double)): return relation.holds(double, wanted.double)
        case (.date(let relation, let wanted), .date(let date)): return relation.holds(date.timestamp.rawValue, wanted)
        case (.text(let isEqual, let wanted), .string(let text)): return text.hasSameBytes(as: wanted) == isEqual
        case (.pattern(let isFound, let pattern), .string(let text)): return pattern.isFound(in: text) == isFound
        case (.exists(.boolean), .bool), (.exists(.number), .int), (.exists(.number), .double),
            (.exists(.string), .string), (.exists(.date), .date), (.isMissing, .null):
            return true
        default: return false
        }
    }

    private static func index(of key: Name, in properties: [AttributeValue.Member]) -> Int? {
        var (low, high) = (0, properties.count)
        while low < high {
            let middle = (low + high) / 2
            let order = properties[middle].key.text.order(to: key.text)
            if order == 0 { return middle }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}

extension CompiledFilter.Test {
    fileprivate var acceptsMissing: Bool { if case .isMissing = self { true } else { false } }
}
