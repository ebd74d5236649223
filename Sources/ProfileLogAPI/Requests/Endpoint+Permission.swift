/// What a key must be allowed to do.
extension Endpoint {
    /// The permission for the endpoint of `method` at `path`.
    static func permission(_ method: APIRequest.Method, _ path: String) -> String? {
        guard !path.hasPrefix(nativePrefix) else { return method == .get ? "v1.read" : "v1.write" }
        guard !path.hasPrefix("/exports/") else { return nil }
        return exceptions[path] ?? path.split(separator: "/").joined(separator: ".")
    }

    /// Every permission that there is, without `all`; those for endpoints to come too, so that a key can be made for
    /// them now.
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
