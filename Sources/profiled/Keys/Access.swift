internal import HTTPTypes
internal import Hummingbird
internal import ProfileLogAPI

/// Decides who may do what.
struct Access: Sendable {
    let keys: KeyRing

    /// Nil if a request with this header may do what `permission` names; else what to answer.
    ///
    /// - Parameter olderKey: the key of a client who sends it as Braze's clients once did; see ``mayBeOlder(_:isNative:)``.
    func refusal(
        _ authorization: String?, olderKey: String? = nil, permission: String, isNative: Bool
    ) -> ServiceAnswer? {
        guard keys.isClosed else { return nil }
        let text = Self.bearer(authorization) ?? (mayBeOlder(authorization, isNative: isNative) ? olderKey : nil)
        guard let text, let key = keys.key(text) else { return Self.unknownKey(isNative: isNative) }
        if key.allows(permission) { return nil }
        return Refusal(
            status: 403, code: "not_allowed", error: "This key is not allowed to do this; nothing was done.",
            remedy: "Use a key that has the permission \(permission): `profiled keys add --permissions` makes one."
        ).answer(isNative: isNative)
    }

    /// As the other one, for an endpoint of the API.
    func refusal(_ authorization: String?, olderKey: String? = nil, _ endpoint: Endpoint) -> ServiceAnswer? {
        guard let permission = endpoint.permission else { return nil }
        return refusal(authorization, olderKey: olderKey, permission: permission, isNative: endpoint.isNative)
    }

    /// Whether the key of a request may be its `api_key`, in the URL or in the body: in Braze's format, without the header.
    func mayBeOlder(_ authorization: String?, isNative: Bool) -> Bool {
        !isNative && authorization == nil && keys.isClosed
    }

    /// The `api_key` of a query.
    static func key(inQuery query: [(name: String, value: String)]?) -> String? {
        query?.first { $0.name == "api_key" }?.value
    }

    private static func bearer(_ authorization: String?) -> String? {
        guard let authorization else { return nil }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1].drop { $0 == " " })
    }

    /// Braze's words, without the key, which its own answer repeats.
    private static func unknownKey(isNative: Bool) -> ServiceAnswer {
        var answer = Refusal(
            status: 401, code: "invalid_key", error: "Invalid API key",
            remedy:
                "Send a key that is valid as `Authorization: Bearer KEY`; `profiled keys list` names those that are."
        ).answer(isNative: isNative)
        answer.headers = [HTTPField(name: .wwwAuthenticate, value: "Bearer")]
        return answer
    }
}
