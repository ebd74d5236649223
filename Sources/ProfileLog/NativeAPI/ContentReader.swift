internal import ProfileLogRequests

/// Reads what is saved or logged: the one meaning of names and values in requests, batches, scenarios, imports and
/// fixtures. Braze's endpoints have forms of their own.
enum ContentReader {
    static func properties(_ members: [AttributeValue.Member]) throws(APIError) -> [AttributeValue.Member] {
        do throws(DocumentError) { return try ContentJSON.properties(members) } catch { throw APIError(error) }
    }

    /// As ``ContentJSON/changes(_:merging:)``.
    static func changes(
        _ attributes: [AttributeValue.Member], merging: Bool = false
    ) throws(APIError) -> [[AttributeChange]] {
        do throws(DocumentError) {
            return try ContentJSON.changes(attributes, merging: merging)
        } catch {
            throw APIError(error)
        }
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

extension APIError {
    /// Runs `read`; a `JSONFormError` that it throws is about `place`.
    static func at<Value>(
        _ place: @autoclosure () -> String, _ read: () throws(JSONFormError) -> Value
    ) throws(APIError) -> Value {
        do throws(JSONFormError) {
            return try read()
        } catch {
            throw invalid(place(), error.reason, remedy: error.remedy ?? correctIt)
        }
    }
}
