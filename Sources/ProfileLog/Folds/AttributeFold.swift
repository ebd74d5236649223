/// The effect of operations on attributes on the value that is there (spec/rest-api 1.5).
enum AttributeFold {
    static func apply(
        _ operation: AttributeOperation, to key: FieldKey, position: UInt64, at: Int64, _ fields: inout FieldStore
    ) {
        if operation == .unset || operation == .set(.null) {
            fields.remove(key)
            return
        }
        guard let value = value(of: operation, on: fields.value(key)) else { return }
        var writer = WireWriter()
        ValueCodec.write(value, to: &writer)
        fields.set(key, writer.bytes, position: position, at: at)
    }

    /// The value after `operation`, or nil if it changes nothing.
    static func value(of operation: AttributeOperation, on old: AttributeValue?) -> AttributeValue? {
        switch operation {
        case .set(let value): return value
        case .unset: return nil
        case .increment(let number):
            guard let old else { return .int(number) }
            guard case .int(let before) = old else { return nil }
            let (sum, overflow) = before.addingReportingOverflow(number)
            return overflow ? nil : .int(sum)
        case .arrayAdd(let values):
            guard let array = elements(old) else { return nil }
            let isAdded = membership(in: values)
            return .array(array.filter { !isAdded($0) } + lastOfEach(values))
        case .arrayRemove(let values):
            guard old != nil, let array = elements(old) else { return nil }
            let isGone = membership(in: values)
            return .array(array.filter { !isGone($0) })
        case .objectMerge(let members):
            guard let old else { return .object(members) }
            guard case .object(let before) = old else { return .object(members) }
            return .object(merge(members, into: before))
        case .objectsAdd(let objects):
            guard let array = elements(old) else { return nil }
            return .array(array + objects)
        case .objectsUpdate(let updates, let merging):
            guard old != nil, let array = elements(old) else { return nil }
            let matches = ElementMatches(updates.lazy.map(\.match))
            return .array(array.map { updated($0, updates, matches, merging: merging) })
        case .objectsRemove(let removed):
            guard old != nil, let array = elements(old) else { return nil }
            let matches = ElementMatches(removed)
            return .array(array.filter { matches.first(in: $0) == nil })
        }
    }

    /// The elements of an array; empty without a value, nil for a value of another type.
    private static func elements(_ value: AttributeValue?) -> [AttributeValue]? {
        switch value {
        case nil: []
        case .array(let values)?: values
        default: nil
        }
    }

    /// Whether a value is one of `values`: a few are compared, many are looked up.
    static func membership(in values: [AttributeValue]) -> (AttributeValue) -> Bool {
        if values.count <= 8 { return { values.contains($0) } }
        let set = Set(values)
        return { set.contains($0) }
    }

    /// `values` as if they were added one after the other: of equal ones the last stays.
    static func lastOfEach(_ values: [AttributeValue]) -> [AttributeValue] {
        if values.count < 2 { return values }
        var known: Set<AttributeValue> = []
        let last = values.reversed().filter { known.insert($0).inserted }
        return last.reversed()
    }

    /// The element after all `updates` that it matches, each by what the one before it left.
    static func updated(
        _ element: AttributeValue, _ updates: [AttributeOperation.ObjectUpdate], _ matches: ElementMatches,
        merging: Bool
    ) -> AttributeValue {
        var (element, next) = (element, 0)
        while let place = matches.first(in: element, from: next) {
            if merging, case .object(let before) = element {
                element = .object(merge(updates[place].object, into: before))
            } else {
                element = .object(updates[place].object)
            }
            next = place + 1
        }
        return element
    }

    /// Merges the members of `new` into those of `old`, at every level of objects.
    static func merge(_ new: [AttributeValue.Member], into old: [AttributeValue.Member]) -> [AttributeValue.Member] {
        old.ascendingUnion(new.ascending, key: \.key, otherKey: \.key) { old, new in
            guard case .object(let before) = old.value, case .object(let after) = new.value else { return new }
            return .init(new.key, .object(merge(after, into: before)))
        } fresh: {
            $0
        }
    }
}
