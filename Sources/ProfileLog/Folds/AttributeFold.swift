/// The effect of operations on attributes on the value that is there (spec/rest-api 1.5).
enum AttributeFold {
    /// The value after `operation`, or nil if it changes nothing.
    static func value<Value: Operand>(
        of operation: AttributeOperation, on old: Value?, by writer: Value.Writer
    ) -> Value? {
        switch operation {
        case .set(let value): return Value(value, by: writer, over: old)
        case .unset: return nil
        case .increment(let number):
            guard let old else { return Value(.int(number), by: writer, over: nil) }
            guard case .int(let before) = old.value else { return nil }
            let (sum, overflow) = before.addingReportingOverflow(number)
            return overflow ? nil : Value(.int(sum), by: writer, over: old)
        case .arrayAdd(let values):
            guard let array = elements(old) else { return nil }
            return .array(add(Value.new(values, by: writer), values, to: array), by: writer, over: old)
        case .arrayRemove(let values):
            guard let old, let array = old.elements else { return nil }
            let isGone = membership(in: values)
            return .array(array.filter { !isGone($0.value) }, by: writer, over: old)
        case .objectMerge(let members):
            guard let old, let before = old.members else { return Value(.object(members), by: writer, over: old) }
            return .object(merge(members, into: before, by: writer), by: writer, over: old)
        case .objectsAdd(let objects):
            guard let array = elements(old) else { return nil }
            return .array(array + Value.new(objects, by: writer), by: writer, over: old)
        case .objectsUpdate(let updates, let merging):
            guard let old, let array = old.elements else { return nil }
            let matches = ElementMatches(updates.lazy.map(\.match))
            return .array(
                array.map { updated($0, updates, matches, merging: merging, by: writer) }, by: writer, over: old)
        case .objectsRemove(let removed):
            guard let old, let array = old.elements else { return nil }
            let matches = ElementMatches(removed)
            return .array(array.filter { matches.first(in: $0.value) == nil }, by: writer, over: old)
        }
    }

    /// The elements of an array; empty without a value, nil for a value of another type.
    private static func elements<Value: Operand>(_ value: Value?) -> [Value]? {
        value.map { $0.elements } ?? []
    }

    /// `array` after `added`, with these `values`, were added one after the other: of equal ones the last stays.
    static func add<Value: Operand>(_ added: [Value], _ values: [AttributeValue], to array: [Value]) -> [Value] {
        let isAdded = membership(in: values)
        let kept = array.filter { !isAdded($0.value) }
        if added.count < 2 { return kept + added }
        var known: Set<AttributeValue> = []
        return kept + added.reversed().filter { known.insert($0.value).inserted }.reversed()
    }

    /// Tells whether a value is one of `values`: a few are compared, many are looked up.
    private static func membership(in values: [AttributeValue]) -> (AttributeValue) -> Bool {
        if values.count <= 8 { return { values.contains($0) } }
        let set = Set(values)
        return { set.contains($0) }
    }

    /// The element after all `updates` that it matches, each by what the one before it left.
    private static func updated<Value: Operand>(
        _ element: Value, _ updates: [AttributeOperation.ObjectUpdate], _ matches: ElementMatches, merging: Bool,
        by writer: Value.Writer
    ) -> Value {
        var (element, next) = (element, 0)
        while let place = matches.first(in: element.value, from: next) {
            let object = updates[place].object
            if merging, let before = element.members {
                element = .object(merge(object, into: before, by: writer), by: writer, over: element)
            } else {
                element = Value(.object(object), by: writer, over: element)
            }
            next = place + 1
        }
        return element
    }

    /// Merges the members of `new` into those of `old`, at every level of objects.
    private static func merge<Member: OperandMember>(
        _ new: [AttributeValue.Member], into old: [Member], by writer: Member.Value.Writer
    ) -> [Member] where Member.Value: Operand, Member.Value.Member == Member {
        old.ascendingUnion(new.ascending, key: { $0.key }, otherKey: { $0.key }) { old, new in
            guard let before = old.value.members, case .object(let after) = new.value else {
                return Member(new.key, Member.Value(new.value, by: writer, over: old.value))
            }
            let merged = merge(after, into: before, by: writer)
            return Member(new.key, .object(merged, by: writer, over: old.value))
        } fresh: {
            Member($0.key, Member.Value($0.value, by: writer, over: nil))
        }
    }
}
