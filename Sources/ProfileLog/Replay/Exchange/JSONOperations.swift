/// Operations on custom attributes in requests, answers and exports (spec/rest-api 1.5).
///
/// | form | operation |
/// |---|---|
/// | `null` | unset |
/// | `{"inc": n}` | increment |
/// | `{"add": [v]}`, `{"remove": [v]}`, or both | add to an array, then remove from it |
/// | `{"$add": [o], "$update": [u], "$remove": [m]}`, one or more | objects of an array, in this order |
/// | `{"$merge": {…}}` | merge into an object |
/// | `{"$set": v}` | set, whatever `v` looks like |
/// | all else | set; with `_merge_objects`, an object is merged |
package enum JSONOperations {
    private static let inc: Name = "inc"
    private static let add: Name = "add"
    private static let remove: Name = "remove"
    private static let set: Name = "$set"
    private static let merge: Name = "$merge"
    private static let objectsAdd: Name = "$add"
    private static let objectsUpdate: Name = "$update"
    private static let objectsRemove: Name = "$remove"
    package static let mergeObjects: Name = "_merge_objects"
    private static let identifierKey: Name = "$identifier_key"
    private static let identifierValue: Name = "$identifier_value"
    private static let newObject: Name = "$new_object"

    /// Reads the operations on one attribute in `value`: one operation, or several that follow each other.
    ///
    /// An object that sets no operation is merged if `merging` is true, or its own `_merge_objects`.
    package static func operations(
        _ value: AttributeValue, merging: Bool = false
    ) throws(JSONFormError) -> [AttributeOperation] {
        guard value != .null else { return [.unset] }
        guard case .object(var members) = value else { return [.set(try JSONValues.value(value))] }
        var merging = merging
        if let own = value[mergeObjects], members.count > 1 {
            guard case .bool(let flag) = own else {
                throw JSONFormError("has a `_merge_objects` that is neither true nor false")
            }
            merging = flag
            members.removeAll { $0.key == mergeObjects }
        }
        let keys = Set(members.map(\.key))
        if keys == [set] { return [.set(try JSONValues.value(members[0].value))] }
        if keys == [merge] {
            guard case .object(let object) = members[0].value else {
                throw JSONFormError("has a `$merge` that is no object")
            }
            return [.objectMerge(try JSONValues.members(object))]
        }
        if keys == [inc] {
            guard case .int(let number) = members[0].value else {
                throw JSONFormError("has an `inc` that is no integer")
            }
            return [.increment(number)]
        }
        if !keys.isEmpty, keys.isSubset(of: [add, remove]) {
            return try [add, remove].filter(keys.contains).map { (key) throws(JSONFormError) in
                let values = try JSONValues.values(elements(value, key))
                return key == add ? .arrayAdd(values) : .arrayRemove(values)
            }
        }
        if !keys.isEmpty, keys.isSubset(of: [objectsAdd, objectsUpdate, objectsRemove]) {
            return try [objectsAdd, objectsUpdate, objectsRemove].filter(keys.contains).map {
                (key) throws(JSONFormError) in
                try objectOperation(key, elements(value, key), merging: merging)
            }
        }
        let object = try JSONValues.value(.object(members))
        if merging, case .object(let members) = object { return [.objectMerge(members)] }
        return [.set(object)]
    }

    private static func elements(_ value: AttributeValue, _ key: Name) throws(JSONFormError) -> [AttributeValue] {
        guard case .array(let values) = value[key] else { throw JSONFormError("has a `\(key.text)` that is no array") }
        return values
    }

    private static func objectOperation(
        _ key: Name, _ elements: [AttributeValue], merging: Bool
    ) throws(JSONFormError) -> AttributeOperation {
        switch key {
        case objectsAdd:
            return .objectsAdd(
                try elements.map { (element) throws(JSONFormError) in
                    guard case .object = element else { throw JSONFormError("has a `$add` of what is no object") }
                    return try JSONValues.value(element)
                })
        case objectsUpdate:
            return .objectsUpdate(
                try elements.map { (element) throws(JSONFormError) in
                    guard case .object(let object) = element[newObject] else {
                        throw JSONFormError("has a `$update` without `$new_object`")
                    }
                    return .init(match: try match(element, allowed: 3), object: try JSONValues.members(object))
                }, merging: merging)
        default:
            return .objectsRemove(
                try elements.map { (element) throws(JSONFormError) in try match(element, allowed: 2) })
        }
    }

    private static func match(
        _ element: AttributeValue, allowed: Int
    ) throws(JSONFormError) -> AttributeValue.Member {
        guard case .object(let members) = element, members.count == allowed,
            case .string(let key) = element[identifierKey], let value = element[identifierValue]
        else { throw JSONFormError("needs `$identifier_key` (text) and `$identifier_value` for each object") }
        return .init(Name(key), try JSONValues.value(value))
    }

    // MARK: - Back to JSON

    /// Writes `operation` as `operations(_:merging:)` reads it.
    package static func json(_ operation: AttributeOperation) -> AttributeValue {
        switch operation {
        case .unset: return .null
        case .increment(let number): return .object([.init(inc, .int(number))])
        case .arrayAdd(let values): return .object([.init(add, JSONValues.json(.array(values)))])
        case .arrayRemove(let values): return .object([.init(remove, JSONValues.json(.array(values)))])
        case .objectMerge(let members): return .object([.init(merge, .object(JSONValues.json(members)))])
        case .objectsAdd(let objects): return .object([.init(objectsAdd, JSONValues.json(.array(objects)))])
        case .objectsRemove(let matches):
            return .object([.init(objectsRemove, .array(matches.map { .object(json($0)) }))])
        case .objectsUpdate(let updates, let merging):
            let elements = updates.map { update in
                AttributeValue.object(
                    json(update.match) + [.init(newObject, .object(JSONValues.json(update.object)))])
            }
            let update = AttributeValue.Member(objectsUpdate, .array(elements))
            return .object(merging ? [update, .init(mergeObjects, .bool(true))] : [update])
        case .set(let value):
            let json = JSONValues.json(value)
            return needsSet(value) ? .object([.init(set, json)]) : json
        }
    }

    private static func json(_ match: AttributeValue.Member) -> [AttributeValue.Member] {
        [.init(identifierKey, .string(match.key.text)), .init(identifierValue, JSONValues.json(match.value))]
    }

    /// Tells whether the value would be read as something else if it stood alone.
    private static func needsSet(_ value: AttributeValue) -> Bool {
        guard case .object(let members) = value else { return value == .null }
        let special: Set<Name> = [
            inc, add, remove, set, merge, objectsAdd, objectsUpdate, objectsRemove, mergeObjects,
        ]
        return members.contains { special.contains($0.key) }
    }
}
