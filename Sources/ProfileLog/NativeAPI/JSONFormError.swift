internal import ProfileLogRequests

/// Why JSON does not say what it must, as a clause without its subject: who asked knows the name of the place.
package struct JSONFormError: Error, Hashable, Sendable {
    /// The clause, as in "has an `inc` that is no integer". Shows no value.
    package let reason: String

    init(_ reason: String) { self.reason = reason }
}

extension APIProblem {
    /// What `read` gives; a `JSONFormError` that it throws is about `place`.
    static func at<Value>(_ place: @autoclosure () -> String, _ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch let error as JSONFormError {
            throw invalid(place(), error.reason)
        }
    }
}
