internal import ProfileLog

/// What is done with custom attributes, as it stands in requests and answers (spec/rest-api 1.5).
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
enum JSONOperations {
    private static let inc: Name = "inc"
    private static let add: Name = "add"
    private static let remove: Name = "remove"
    private static let set: Name = "$set"
    private static let merge: Name = "$merge"
    private static let objectsAdd: Name = "$add"
    private static let objectsUpdate: Name = "$update"
    private static let objectsRemove: Name = "$remove"
    private static let mergeObjects: Name = "_merge_objects"
    private static let identifierKey: Name = "$identifier_key"
    private static let identifierValue: Name = "$identifier_value"
    private static let newObject: Name = "$new_object"

    /// The changes that `attributes` asks for, as lists that are to be events one after the other: an attribute stands once in each.
    static func changes(
        _ attributes: [AttributeValue.Member], merging: Bool
    ) throws -> [[AttributeChange]] {
        var merging = merging
        var steps: [[AttributeChange]] = []
        for member in attributes where member.key == mergeObjects {
            guard case .bool(let flag) = member.value else {
                throw APIProblem.invalid(mergeObjects.text, "must be true or false")
            }
            merging = merging || flag
        }
        for member in attributes where member.key != mergeObjects {
            let operations = try operations(member.value, merging: merging, "attributes.\(member.key.text)")
            for (step, operation) in operations.enumerated() {
                if step == steps.count { steps.append([]) }
                steps[step].append(AttributeChange(member.key, operation))
            }
        }
        guard !steps.isEmpty else { throw APIProblem.invalid("attributes", "must not be empty") }
        return steps
    }

    private static func operations(
        _ value: AttributeValue, merging: Bool, _ place: String
    ) throws -> [AttributeOperation] {
        guard value != .null else { return [.unset] }
        guard case .object(var members) = value else { return [.set(try JSONValues.value(value, place))] }
        var merging = merging
        if let own = value[mergeObjects], members.count > 1 {
            guard case .bool(let flag) = own else {
                throw APIProblem.invalid(place, "has a `_merge_objects` that is neither true nor false")
            }
            merging = flag
            members.removeAll { $0.key == mergeObjects }
        }
        let keys = Set(members.map(\.key))
        if keys == [set] { return [.set(try JSONValues.value(members[0].value, place))] }
        if keys == [merge] {
            guard case .object(let object) = members[0].value else {
                throw APIProblem.invalid(place, "has a `$merge` that is no object")
            }
            return [.objectMerge(try JSONValues.members(object, place))]
        }
        if keys == [inc] {
            guard case .int(let number) = members[0].value else {
                throw APIProblem.invalid(place, "has an `inc` that is no integer")
            }
            return [.increment(number)]
        }
        if !keys.isEmpty, keys.isSubset(of: [add, remove]) {
            return try [add, remove].filter(keys.contains).map { key in
                let values = try elements(value, key, place).map { try JSONValues.value($0, place) }
                return key == add ? .arrayAdd(values) : .arrayRemove(values)
            }
        }
        if !keys.isEmpty, keys.isSubset(of: [objectsAdd, objectsUpdate, objectsRemove]) {
            return try [objectsAdd, objectsUpdate, objectsRemove].filter(keys.contains).map { key in
                try objectOperation(key, elements(value, key, place), merging: merging, place)
            }
        }
        let object = try JSONValues.value(.object(members), place)
        if merging, case .object(let members) = object { return [.objectMerge(members)] }
        return [.set(object)]
    }

    private static func elements(_ value: AttributeValue, _ key: Name, _ place: String) throws -> [AttributeValue] {
        guard case .array(let values) = value[key] else {
            throw APIProblem.invalid(place, "has a `\(key.text)` that is no array")
        }
        return values
    }

    private static func objectOperation(
        _ key: Name, _ elements: [AttributeValue], merging: Bool, _ place: String
    ) throws -> AttributeOperation {
        switch key {
        case objectsAdd:
            return .objectsAdd(
                try elements.map { element in
                    guard case .object = element else {
                        throw APIProblem.invalid(place, "has a `$add` of what is no object")
                    }
                    return try JSONValues.value(element, place)
                })
        case objectsUpdate:
            return .objectsUpdate(
                try elements.map { element in
                    guard case .object(let object) = element[newObject] else {
                        throw APIProblem.invalid(place, "has a `$update` without `$new_object`")
                    }
                    return .init(
                        match: try match(element, allowed: 3, place), object: try JSONValues.members(object, place))
                }, merging: merging)
        default: return .objectsRemove(try elements.map { try match($0, allowed: 2, place) })
        }
    }

    private static func match(
        _ element: AttributeValue, allowed: Int, _ place: String
    ) throws -> AttributeOperation.ObjectMatch {
        guard case .object(let members) = element, members.count == allowed,
            case .string(let key) = element[identifierKey], let value = element[identifierValue]
        else {
            throw APIProblem.invalid(place, "needs `$identifier_key` (text) and `$identifier_value` for each object")
        }
        return .init(key: Name(key), value: try JSONValues.value(value, place))
    }

    // MARK: - Back to JSON

    /// What `changes(_:merging:)` reads as `operation`.
    static func json(_ operation: AttributeOperation) -> AttributeValue {
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

    private static func json(_ match: AttributeOperation.ObjectMatch) -> [AttributeValue.Member] {
        [.init(identifierKey, .string(match.key.text)), .init(identifierValue, JSONValues.json(match.value))]
    }

    /// Whether the value would be read as something else if it stood alone.
    private static func needsSet(_ value: AttributeValue) -> Bool {
        guard case .object(let members) = value else { return value == .null }
        let special: Set<Name> = [
            inc, add, remove, set, merge, objectsAdd, objectsUpdate, objectsRemove, mergeObjects,
        ]
        return members.contains { special.contains($0.key) }
    }
}
