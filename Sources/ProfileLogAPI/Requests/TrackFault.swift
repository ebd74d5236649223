/// What is wrong with an object of a track request, or with one field of it. Never shows a value.
enum TrackFault: Error {
    /// The object is refused; the text is the `type` of its entry in `errors` (spec/rest-api 1.9). If it has names that
    /// the sender chose, `kept` says the same without them, for the log.
    case object(String, kept: String? = nil)
    /// The field is skipped, the rest of the object is taken; the text is the `reason` of its entry in `dropped`.
    case field(String)

    static let identifierMissing = TrackFault.object(
        "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required")
    static let invalidEmail = TrackFault.object("The value provided for the 'email' field is not a valid email.")
    static let invalidProperties = TrackFault.object("Invalid 'properties' field")

    static func required(_ field: String) -> TrackFault { .object("'\(field)' is required") }
    static func notValid(_ field: String) -> TrackFault { .object("'\(field)' is not valid") }
}

/// The log refuses an object. The place may name an attribute.
struct RefusedByLog: Error {
    var place: String
    var reason: String
}

/// An object that was refused, as shown in `errors`.
struct TrackError: Hashable {
    var type: String
    /// The same as the log keeps it: without names that the sender chose.
    var kept: String
    var array: TrackArray
    var index: Int
}

/// What was taken from a request and not stored, as shown in `dropped`.
struct TrackDrop: Hashable {
    var reason: String
    var array: TrackArray
    var index: Int
    /// The field that was skipped; nil if it is the whole object.
    var field: Field?

    enum Field: Hashable {
        case named(String)
        /// Its place among the request's `SentNames`.
        case at(Int)
    }
}
