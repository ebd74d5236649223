internal import ProfileLogRequests

/// The meaning of inputs that several endpoints of the native API take, by their name: for the OpenAPI description.
/// docs/api.md describes the others.
enum InputWords {
    private static let moment =
        "a moment of the past: a position, version:N, a time, -3d, `yesterday 14:00`, `monday`, `14:00` (UTC) or now"
    private static let pastTime = "a time in RFC 3339; in a filter of events also `yesterday 14:00` or -3d"
    private static let user =
        "an external ID, alias:LABEL:NAME, braze:ID, email:ADDRESS, phone:NUMBER or device:ID"

    private static let ofReads = [
        "a": moment, "b": moment, "as_of": moment, "since": pastTime, "before": pastTime, "user": user,
        "after": "continues after this place of the list: where the answer before ended",
        "count": "gives the number of users alone",
        "cursor": "continues after this place of the list: the `cursor` of the answer before",
        "device": "the ID of a device",
        "field": "the name of an attribute; a dot leads into an object",
        "kind": "kinds of events, or of names, with commas between them",
        "limit": "the most entries of an answer",
        "name": "the name of an event or attribute",
        "parts": "`times`: when events happened and what became of them, as columns without values",
        "order": "whether the history counts as it was recorded (the default) or as it occurred",
        "prefix": "the beginning of what is listed; of users, of an external ID, another USER or an address",
        "reverse": "lists the last one first",
        "timeout": "the most seconds for `wait_for`: 10 by default, at most 30",
        "wait_for": "answers when the log has reached this position: the `cursor` of a write, or a number",
        "where": "a condition on profiles, as in `custom.score > 10`",
    ]

    private static let ofWrites = [
        "user": user,
        "actor": "who asks for it; stored with the event",
        "device": "the ID of a device; phone by default",
        "expect": "the number of events that the user must have, or none; else 412, and nothing is stored",
        "key": "makes a retry safe: the same request under the same key is stored once",
        "process": "the process of the app that saves",
        "reason": "why; stored with the event",
        "source": "what sends it: app, extension, rest, import or cli",
        "time": "when it happened, by the sender's clock; by default, when it is recorded",
    ]

    /// The meaning of an input of `endpoint`; nil if its name says it, or Braze's documentation.
    static func description(of input: EndpointInput, _ endpoint: Endpoint) -> String? {
        guard endpoint.isNative else { return nil }
        return (endpoint.method == .get ? ofReads : ofWrites)[input.name]
    }
}
