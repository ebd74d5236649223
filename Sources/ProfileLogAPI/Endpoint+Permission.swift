/// What a key must be allowed to do.
extension Endpoint {
    /// The name of the permission for this endpoint: `v1.read` or `v1.write`, and Braze's own name for what speaks its format.
    ///
    /// Nil for a file that an export has made: nobody guesses its name, and Braze's clients ask for it without a key.
    public var permission: String? {
        guard !isNative else { return method == .get ? "v1.read" : "v1.write" }
        guard !path.hasPrefix("/exports/") else { return nil }
        return Self.exceptions[path] ?? path.split(separator: "/").joined(separator: ".")
    }

    /// Whether it is part of the native API, and none of Braze's format.
    public var isNative: Bool { path.hasPrefix("/v1/") }

    /// Every permission that there is, without `all`; those for endpoints to come too, so that a key can be made for them now.
    public static let permissions: [String] = Array(
        Set(API.endpoints.compactMap(\.permission)).union(exceptions.values).union(brazeNames)
    ).sorted()

    /// Where Braze's name is not the path with dots.
    private static let exceptions = [
        "/v2/subscription/status/set": "subscription.status.set",
        "/subscription/user/status": "subscription.groups.get",
        "/events": "events.get", "/custom_attributes": "custom_attributes.get",
    ]

    private static let brazeNames: Set<String> = [
        "users.track", "users.track.sync", "users.track.bulk", "users.export.ids", "users.export.segment",
        "users.delete",
        "users.alias.new", "users.alias.update", "users.identify", "users.merge", "users.external_ids.rename",
        "users.external_ids.remove", "subscription.status.set", "subscription.status.get", "subscription.groups.get",
        "events.list", "events.get", "custom_attributes.get", "purchases.product_list", "v1.read", "v1.write",
    ]
}
