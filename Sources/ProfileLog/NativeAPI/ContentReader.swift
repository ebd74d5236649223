internal import ProfileLogRequests

/// Reads what is saved or logged: the one meaning of names and values in requests, batches, scenarios, imports and
/// fixtures. Braze's endpoints have forms of their own.
enum ContentReader {
    static func properties(_ members: [AttributeValue.Member]) throws(APIError) -> [AttributeValue.Member] {
        if members.allSatisfy(\.value.isScalar) { return members }
        var read: [AttributeValue.Member] = []
        read.reserveCapacity(members.count)
        for member in members {
            let value = try APIError.at("properties.\(member.key.text)") { () throws(JSONFormError) in
                try JSONValues.value(member.value)
            }
            read.append(.init(member.key, value))
        }
        return read
    }

    /// The changes that `attributes` asks for, as lists that become events one after the other: each attribute is in a
    /// list once.
    static func changes(
        _ attributes: [AttributeValue.Member], merging: Bool = false
    ) throws(APIError) -> [[AttributeChange]] {
        var merging = merging
        for member in attributes where member.key == JSONOperations.mergeObjects {
            guard case .bool(let flag) = member.value else {
                throw .invalid(member.key.text, "must be true or false")
            }
            merging = merging || flag
        }
        var steps: [[AttributeChange]] = [[]]
        steps[0].reserveCapacity(attributes.count)
        for member in attributes where member.key != JSONOperations.mergeObjects {
            switch member.value {
            case .bool, .int, .double, .string: steps[0].append(AttributeChange(member.key, .set(member.value)))
            case .null: steps[0].append(AttributeChange(member.key, .unset))
            case .array, .object, .date:
                let operations = try APIError.at("attributes.\(member.key.text)") { () throws(JSONFormError) in
                    try JSONOperations.operations(member.value, merging: merging)
                }
                for (step, operation) in operations.enumerated() {
                    if step == steps.count { steps.append([]) }
                    steps[step].append(AttributeChange(member.key, operation))
                }
            }
        }
        if steps[0].isEmpty { throw .invalid("attributes", "must not be empty") }
        return steps
    }

    /// - Parameter asItIs: whether it was stored before, on a device or in a log: then no rule is applied to it again.
    static func userAttribute(
        _ name: String, _ value: AttributeValue, asItIs: Bool = false
    ) throws(APIError) -> UserAttributeChange {
        guard let attribute = StandardAttribute(name: name) else { throw .unknownAttribute(name) }
        let read = try APIError.at("value") { () throws(JSONFormError) in try JSONValues.value(value) }
        return asItIs ? UserAttributeChange(attribute, read) : try UserAttributeChange(attribute, requested: read)
    }

    /// Refuses what is no currency, or too much money to be added up.
    static func checked(_ purchase: Purchase) throws(APIError) -> Purchase {
        guard CurrencyCodes.all.contains(purchase.currency) else {
            throw .invalid("currency", "must be a currency of ISO 4217, in three capital letters")
        }
        guard Purchase.holdsRevenue(purchase.price, times: purchase.quantity) else {
            throw .invalid("price", "is too large to be added up")
        }
        return purchase
    }
}

extension AttributeValue {
    /// Tells whether the value is of the kind that it looks like: no array and no object.
    fileprivate var isScalar: Bool {
        switch self {
        case .null, .bool, .int, .double, .string, .date: true
        case .array, .object: false
        }
    }
}
