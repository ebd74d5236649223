internal import ProfileLogRequests

/// The operation that a member of an attributes object asks for (spec/rest-api 1.5).
struct CustomAttribute {
    let reader: TrackReader
    /// `_merge_objects` of the attributes object.
    let merging: Bool

    /// Operations to do, in this order.
    struct Reading {
        var operations: [AttributeOperation]
        /// A note about a part of it that was skipped; nil if nothing.
        var note: String?
    }

    private var limits: TrackLimits { reader.limits }
    private var nested: NestedValue { NestedValue(limits: limits, isAttribute: true) }

    func read(_ name: Name, _ value: AttributeValue) throws(TrackError) -> Reading {
        if name.text.isEmpty || name.text.isLonger(than: limits.charactersPerName) {
            throw .field("has a name that is empty or longer than \(limits.charactersPerName) characters")
        }
        switch value {
        case .null: return Reading(operations: [.unset])
        case .string(let text):
            if text.isLonger(than: limits.charactersPerString) {
                throw .field("is text of more than \(limits.charactersPerString) characters")
            }
            return Reading(operations: [.set(TrackTime.value(text))])
        case .array(let values): return try array(values)
        case .object(let members): return try object(value, members)
        default: return Reading(operations: [.set(value)])
        }
    }

    // MARK: - Arrays

    private func array(_ values: [AttributeValue]) throws(TrackError) -> Reading {
        guard !values.isEmpty, values.allSatisfy(\.isObject) else {
            var elements = unique(try scalars(values))
            guard elements.count > limits.arrayElements else {
                return Reading(operations: [.set(try sized(.array(elements)))])
            }
            elements.removeFirst(elements.count - limits.arrayElements)
            return Reading(
                operations: [.set(try sized(.array(elements)))],
                note: "has more than \(limits.arrayElements) elements, of which the last were kept")
        }
        return Reading(operations: [.set(try sized(.array(try objects(values))))])
    }

    /// The elements of a one-dimensional array.
    private func scalars(_ values: [AttributeValue]) throws(TrackError) -> [AttributeValue] {
        for value in values {
            switch value {
            case .array, .object: throw .field("mixes plain values with arrays or objects")
            default: _ = try nested.checked(value)
            }
        }
        return values
    }

    private func objects(_ values: [AttributeValue]) throws(TrackError) -> [AttributeValue] {
        try values.map { (value) throws(TrackError) in
            guard value.isObject else { throw .field("has an element that is no object") }
            return try nested.checked(value, depth: 2)
        }
    }

    /// Each value once, at its first place.
    private func unique(_ values: [AttributeValue]) -> [AttributeValue] {
        var seen: Set<AttributeValue> = []
        return values.filter { seen.insert($0).inserted }
    }

    // MARK: - Objects

    private func object(
        _ value: AttributeValue, _ members: [AttributeValue.Member]
    ) throws(TrackError) -> Reading {
        let keys = Set(members.map(\.key))
        if keys == [WireNames.inc] {
            guard let number = members[0].value.asInteger else { throw .field("has an 'inc' that is no integer") }
            return Reading(operations: [.increment(number)])
        }
        if !keys.isEmpty, keys.isSubset(of: [WireNames.add, WireNames.remove]) {
            return try arrayOperations(value)
        }
        let objectKeys: Set<Name> = [
            WireNames.objectsAdd, WireNames.objectsUpdate, WireNames.objectsRemove,
        ]
        if !keys.isEmpty, keys.isSubset(of: objectKeys) { return Reading(operations: try objectOperations(value)) }
        let checked = try sized(try nested.checked(value))
        if merging, case .object(let members) = checked { return Reading(operations: [.objectMerge(members)]) }
        return Reading(operations: [.set(checked)])
    }

    /// First what is removed: a value in both lists ends up in the array (spec/rest-api 9.11).
    private func arrayOperations(_ value: AttributeValue) throws(TrackError) -> Reading {
        var reading = Reading(operations: [])
        if let values = value[WireNames.remove] {
            reading.operations.append(.arrayRemove(try scalars(list(values))))
        }
        if let values = value[WireNames.add] {
            // An element that is added again moves to the end.
            let added = Array(unique(try scalars(list(values)).reversed()).reversed())
            if added.count > limits.arrayElements {
                reading.note = "adds more than \(limits.arrayElements) elements, of which the last were kept"
            }
            reading.operations.append(.arrayAdd(added.suffix(limits.arrayElements)))
        }
        return reading
    }

    /// First the additions, then the removals, then the changes: an object stays if an update makes it equal to one
    /// that is removed.
    private func objectOperations(_ value: AttributeValue) throws(TrackError) -> [AttributeOperation] {
        var operations: [AttributeOperation] = []
        if let added = value[WireNames.objectsAdd] {
            let objects = try objects(list(added))
            _ = try sized(.array(objects))
            operations.append(.objectsAdd(objects))
        }
        if let matches = value[WireNames.objectsRemove] {
            let matches = try list(matches).map { (element) throws(TrackError) in try match(element) }
            operations.append(.objectsRemove(matches))
        }
        if let updates = value[WireNames.objectsUpdate] {
            let updates = try list(updates).map { (update) throws(TrackError) in
                guard case .object(let object) = update[WireNames.newObject] else {
                    throw .field("has an '$update' without '$new_object'")
                }
                _ = try sized(.object(object))
                return AttributeOperation.ObjectUpdate(
                    match: try match(update), object: try nested.members(object, depth: 2))
            }
            operations.append(.objectsUpdate(updates, merging: merging))
        }
        return operations
    }

    private func match(_ element: AttributeValue) throws(TrackError) -> AttributeValue.Member {
        guard case .string(let key)? = element[WireNames.identifierKey],
            let value = element[WireNames.identifierValue], value != .null
        else { throw .field("needs '$identifier_key', which is text, and '$identifier_value' for each object") }
        return .init(Name(key), try nested.checked(value))
    }

    private func list(_ value: AttributeValue) throws(TrackError) -> [AttributeValue] {
        guard case .array(let values) = value else { throw .field("has an operation whose operand is no array") }
        return values
    }

    private func sized(_ value: AttributeValue) throws(TrackError) -> AttributeValue {
        if reader.isLarger(value, than: limits.bytesPerNestedValue) {
            throw .field("is larger than \(TrackLimits.shown(bytes: limits.bytesPerNestedValue))")
        }
        return value
    }
}

/// The rules for what is inside an array or an object (spec/rest-api 1.2, 1.5): one wrong value spoils the whole field.
struct NestedValue {
    let limits: TrackLimits
    /// Tells whether it belongs to an attribute, whose rules are stricter than those for properties.
    let isAttribute: Bool

    /// `value` with `{"$time": …}` made a date.
    func checked(_ value: AttributeValue, depth: Int = 1) throws(TrackError) -> AttributeValue {
        guard depth <= limits.depth else { throw .field("is nested deeper than \(limits.depth)") }
        switch value {
        case .null:
            if isAttribute { throw .field("has a null inside") }
            return value
        case .string(let text):
            if text.isLonger(than: limits.charactersPerString) {
                throw .field("has text of more than \(limits.charactersPerString) characters")
            }
            return value
        case .array(let values):
            return .array(
                try values.map { (element) throws(TrackError) in try checked(element, depth: depth + 1) })
        case .object(let members):
            if members.count == 1, members[0].key == WireNames.timeValue {
                return .date(try time(members[0].value))
            }
            return .object(try self.members(members, depth: depth))
        default: return value
        }
    }

    /// The members of an object, each checked.
    func members(_ members: [AttributeValue.Member], depth: Int = 1) throws(TrackError) -> [AttributeValue.Member] {
        try members.map { (member) throws(TrackError) in
            try check(key: member.key.text)
            return .init(member.key, try checked(member.value, depth: depth + 1))
        }
    }

    private func time(_ value: AttributeValue) throws(TrackError) -> OccurredAt {
        guard let date = value.asText.flatMap(ReservedField.date) else {
            throw .field("has a '$time' that is no time up to the year 3000")
        }
        return date
    }

    private func check(key: String) throws(TrackError) {
        if key.isEmpty || key.isLonger(than: limits.charactersPerName) {
            throw .field("has a key that is empty or longer than \(limits.charactersPerName) characters")
        }
        if isAttribute {
            let isBad = key.utf8.contains { [UInt8(ascii: " "), UInt8(ascii: "."), UInt8(ascii: "$")].contains($0) }
            if isBad { throw .field("has a key with a space, a '.' or a '$'") }
        } else if key.utf8.first == UInt8(ascii: "$") {
            throw .field("has a key that begins with '$'")
        }
    }
}
