internal import ProfileLog

/// Values and attribute operations as an export writes them (docs/api.md): `{"$time":…}` is a date, `{"inc":1}` an increment, and so on.
enum ExportedValue {
    static func value(_ json: AttributeValue) throws(ImportLine.Refusal) -> AttributeValue {
        switch json {
        case .array(let values): return .array(try array(values))
        case .object(let members):
            if members.count == 1, members[0].key.text == "$time" {
                guard case .string(let text) = members[0].value, let date = OccurredAt(iso8601: text) else {
                    throw .init("a \"$time\" is no time as in 2026-01-31T23:59:59Z")
                }
                return .date(date)
            }
            return .object(try self.members(members))
        default: return json
        }
    }

    static func members(_ members: [AttributeValue.Member]) throws(ImportLine.Refusal) -> [AttributeValue.Member] {
        var read: [AttributeValue.Member] = []
        read.reserveCapacity(members.count)
        for member in members { read.append(.init(member.key, try value(member.value))) }
        return read
    }

    private static func array(_ values: [AttributeValue]) throws(ImportLine.Refusal) -> [AttributeValue] {
        var read: [AttributeValue] = []
        read.reserveCapacity(values.count)
        for element in values { read.append(try value(element)) }
        return read
    }

    /// The one operation that an export writes for an attribute of an event.
    static func operation(_ json: AttributeValue) throws(ImportLine.Refusal) -> AttributeOperation {
        if json == .null { return .unset }
        guard case .object(let members) = json, let first = members.first else { return .set(try value(json)) }
        let isMerging = members.count == 2 && json["_merge_objects"] == .bool(true)
        if let updates = json["$update"], members.count == 1 || isMerging {
            return .objectsUpdate(try objectUpdates(updates), merging: isMerging)
        }
        guard members.count == 1 else { return .set(try value(json)) }
        switch (first.key.text, first.value) {
        case ("inc", .int(let number)): return .increment(number)
        case ("add", .array(let values)): return .arrayAdd(try array(values))
        case ("remove", .array(let values)): return .arrayRemove(try array(values))
        case ("$merge", .object(let object)): return .objectMerge(try self.members(object))
        case ("$add", .array(let objects)): return .objectsAdd(try array(objects))
        case ("$remove", .array(let matches)):
            var read: [AttributeOperation.ObjectMatch] = []
            for element in matches { read.append(try match(element)) }
            return .objectsRemove(read)
        case ("$set", let set): return .set(try value(set))
        default: return .set(try value(json))
        }
    }

    private static func objectUpdates(
        _ updates: AttributeValue
    ) throws(ImportLine.Refusal) -> [AttributeOperation.ObjectUpdate] {
        var read: [AttributeOperation.ObjectUpdate] = []
        for element in updates.elements {
            guard case .object(let object) = element["$new_object"] else {
                throw .init("an \"$update\" has no \"$new_object\"")
            }
            read.append(.init(match: try match(element), object: try members(object)))
        }
        return read
    }

    private static func match(_ element: AttributeValue) throws(ImportLine.Refusal) -> AttributeOperation.ObjectMatch {
        guard case .string(let key) = element["$identifier_key"], let expected = element["$identifier_value"] else {
            throw .init("an operation on objects lacks \"$identifier_key\" or \"$identifier_value\"")
        }
        return .init(key: Name(key), value: try value(expected))
    }
}
