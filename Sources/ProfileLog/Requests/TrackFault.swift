/// What is wrong with an object of a track request, or with one field of it. Never shows a value.
package enum TrackFault: Error {
    /// The object is refused; the text is the `type` of its entry in `errors` (spec/rest-api 1.9). If it has names that
    /// the sender chose, `kept` says the same without them, for the log.
    case object(String, kept: String? = nil)
    /// The field is skipped, the rest of the object is taken; the text is the `reason` of its entry in `dropped`.
    case field(String)

    package static let identifierMissing = TrackFault.object(
        "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required")
    package static let invalidEmail = TrackFault.object(
        "The value provided for the 'email' field is not a valid email.")
    package static let invalidProperties = TrackFault.object("Invalid 'properties' field")

    package static func required(_ field: String) -> TrackFault { .object("'\(field)' is required") }
    package static func notValid(_ field: String) -> TrackFault { .object("'\(field)' is not valid") }
}
