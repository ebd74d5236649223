extension Endpoint {
    /// The members of the bodies in Braze's format, by endpoint, as far as they mean something here.
    static let brazeWrites: [String: [EndpointInput]] = [
        "POST /users/alias/new": lists("user_aliases"),
        "POST /users/alias/update": lists("alias_updates"),
        "POST /users/identify": lists("aliases_to_identify", "emails_to_identify", "phone_numbers_to_identify"),
        "POST /users/merge": [EndpointInput("merge_updates", .array, isRequired: true)],
        "POST /users/external_ids/rename": [EndpointInput("external_id_renames", .array, isRequired: true)],
        "POST /users/external_ids/remove": [EndpointInput("external_ids", .array, isRequired: true)],
        "POST /users/delete": lists(
            "external_ids", "user_aliases", "braze_ids", "email_addresses", "phone_numbers"),
        "POST /users/track/bulk": lists("attributes", "events", "purchases"),
        "POST /subscription/status/set": [
            EndpointInput("subscription_group_id", isRequired: true),
            EndpointInput("subscription_state", isRequired: true),
        ] + ["external_id", "email", "phone"].map { EndpointInput($0, .any) },
        "POST /v2/subscription/status/set": [EndpointInput("subscription_groups", .array, isRequired: true)],
        "POST /users/export/segment": [
            EndpointInput("segment_id", isRequired: true), EndpointInput("fields_to_export", .array, isRequired: true),
            EndpointInput("custom_attributes_to_export", .array), EndpointInput("output_format"),
            EndpointInput("callback_endpoint"),
        ],
    ]

    private static func lists(_ names: String...) -> [EndpointInput] { names.map { EndpointInput($0, .array) } }

    /// Whether a request may carry an `Idempotency-Key`.
    public var takesIdempotencyKey: Bool {
        guard method == .post else { return false }
        return isNative ? inputs?.contains { $0.name == "key" } ?? false : !path.hasPrefix("/users/export/")
    }

    /// What it answers with, as in `Content-Type`.
    public var mediaTypes: [String] {
        path.hasPrefix("/exports/") ? ["application/zip", "application/gzip"] : ["application/json"]
    }
}
