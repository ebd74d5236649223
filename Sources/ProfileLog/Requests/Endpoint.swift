/// One method on one path of the API.
package struct Endpoint: Sendable {
    package let method: APIRequest.Method
    /// The path; `{…}` in it is a place for a name.
    package let path: String
    /// What it is for, in a few words.
    package let summary: String
    /// What it takes, in its query with GET and in its body with POST.
    ///
    /// Endpoints in Braze's format ignore what they do not know, those of the native API refuse it.
    package let inputs: [EndpointInput]
    /// Whether it is part of the native API, and none of Braze's format.
    package let isNative: Bool
    /// Whether a request is answered in microseconds, its commit aside, unless it ``APIRequest/takesLong``.
    package let isBrief: Bool

    init(_ method: APIRequest.Method, _ path: String, _ summary: String, _ inputs: [EndpointInput]) {
        self.method = method
        self.path = path
        self.summary = summary
        self.inputs = inputs
        isNative = path.hasPrefix("/v1/")
        isBrief = path == "/users/track"
        permission = Self.permission(method, path)
    }

    /// The name of the permission for it: `v1.read` or `v1.write`, and Braze's own name for what speaks its format.
    ///
    /// Nil for a file that an export has made: its name cannot be guessed, and Braze's clients ask for it without a
    /// key.
    package let permission: String?

    private static func permission(_ method: APIRequest.Method, _ path: String) -> String? {
        if path.hasPrefix("/v1/") { return method == .get ? "v1.read" : "v1.write" }
        if path.hasPrefix("/exports/") { return nil }
        return exceptions[path] ?? path.split(separator: "/").joined(separator: ".")
    }

    /// Where Braze's name is not the path with dots.
    private static let exceptions = [
        "/v2/subscription/status/set": "subscription.status.set",
        "/subscription/user/status": "subscription.groups.get",
        "/transactional/v1/campaigns/{campaign_id}/send": "transactional.send",
        "/messages/scheduled_broadcasts": "messages.schedule_broadcasts", "/events": "events.get",
        "/custom_attributes": "custom_attributes.get",
    ]

    /// Whether a request may carry an `Idempotency-Key`.
    package var takesIdempotencyKey: Bool {
        guard method == .post else { return false }
        if isNative { return inputs.contains { $0.name == "key" } }
        return !path.hasPrefix("/users/export/") && path != "/sends/id/create"
    }

    /// What it answers with, as in `Content-Type`.
    package var mediaTypes: [String] {
        if path == "/v1/export" { return ["application/json", "application/jsonl", "text/csv"] }
        return path.hasPrefix("/exports/") ? ["application/zip", "application/gzip"] : ["application/json"]
    }
}

/// A parameter of an endpoint's query, or a member of its body.
package struct EndpointInput: Hashable, Sendable {
    /// What it holds, in the words of JSON Schema.
    package enum Kind: String, Sendable {
        case string, integer, number, boolean, object, array
        /// Any JSON value.
        case any
    }

    package let name: String
    package let kind: Kind
    package let isRequired: Bool
    /// The least and the largest value of a whole number; nil if it has other limits, or none.
    package let limits: ClosedRange<UInt64>?
    /// The whole number that counts without one.
    package let standard: UInt64?

    package init(
        _ name: String, _ kind: Kind = .string, isRequired: Bool = false, limits: ClosedRange<UInt64>? = nil,
        standard: UInt64? = nil
    ) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.limits = limits
        self.standard = standard
    }

    /// One that must be there.
    package static func required(_ name: String, _ kind: Kind = .string) -> EndpointInput {
        EndpointInput(name, kind, isRequired: true)
    }
}
