/// What the operations on attributes do to the value that is there (spec/rest-api 1.5).
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
            guard var array = elements(old) else { return nil }
            for value in values {
                array.removeAll { $0 == value }
                array.append(value)
            }
            return .array(array)
        case .arrayRemove(let values):
            guard old != nil, var array = elements(old) else { return nil }
            array.removeAll { values.contains($0) }
            return .array(array)
        case .objectMerge(let members):
            guard let old else { return .object(members) }
            guard case .object(let before) = old else { return .object(members) }
            return .object(merge(members, into: before))
        case .objectsAdd(let objects):
            guard let array = elements(old) else { return nil }
            return .array(array + objects)
        case .objectsUpdate(let updates, let merging):
            guard old != nil, let array = elements(old) else { return nil }
            return .array(array.map { updated($0, updates, merging: merging) })
        case .objectsRemove(let matches):
            guard old != nil, var array = elements(old) else { return nil }
            array.removeAll { element in matches.contains { element[$0.key] == $0.value } }
            return .array(array)
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

    private static func updated(
        _ element: AttributeValue, _ updates: [AttributeOperation.ObjectUpdate], merging: Bool
    ) -> AttributeValue {
        var element = element
        for update in updates where element[update.match.key] == update.match.value {
            if merging, case .object(let before) = element {
                element = .object(merge(update.object, into: before))
            } else {
                element = .object(update.object)
            }
        }
        return element
    }

    /// Merges the members of `new` into those of `old`, at every level of objects.
    static func merge(_ new: [AttributeValue.Member], into old: [AttributeValue.Member]) -> [AttributeValue.Member] {
        var merged = old
        for member in new {
            let index = merged.firstIndex { $0.key >= member.key } ?? merged.count
            guard index < merged.count, merged[index].key == member.key else {
                merged.insert(member, at: index)
                continue
            }
            if case .object(let before) = merged[index].value, case .object(let after) = member.value {
                merged[index].value = .object(merge(after, into: before))
            } else {
                merged[index].value = member.value
            }
        }
        return merged
    }
}
