internal import Hummingbird
internal import ProfileLog
internal import ProfileLogAPI

/// Decides who may do what.
struct Access: Sendable {
    let keys: KeyRing

    /// Nil if a request with this header may do what `permission` names; else what to answer.
    ///
    /// - Parameter body: the body of a request in Braze's format, whose older clients send the key as its member `api_key`.
    func refusal(_ authorization: String?, body: [UInt8] = [], permission: String, isNative: Bool) -> ServiceAnswer? {
        guard keys.isClosed else { return nil }
        let text = Self.bearer(authorization) ?? (isNative || authorization != nil ? nil : Self.keyInBody(body))
        guard let text, let key = keys.key(text) else { return Self.unknownKey(isNative: isNative) }
        if key.allows(permission) { return nil }
        return Refusal(
            status: 403, code: "not_allowed", error: "This key is not allowed to do this; nothing was done.",
            remedy: "Use a key that has the permission \(permission): `profiled keys add --permissions` makes one."
        ).answer(isNative: isNative)
    }

    /// As the other one, for an endpoint of the API.
    func refusal(_ authorization: String?, body: [UInt8] = [], _ endpoint: Endpoint) -> ServiceAnswer? {
        guard let permission = endpoint.permission else { return nil }
        return refusal(authorization, body: body, permission: permission, isNative: endpoint.isNative)
    }

    /// Whether the key of a request in Braze's format may stand in its body.
    func needsBody(_ authorization: String?, isNative: Bool) -> Bool {
        !isNative && authorization == nil && keys.isClosed
    }

    private static func bearer(_ authorization: String?) -> String? {
        guard let authorization else { return nil }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1].drop { $0 == " " })
    }

    private static func keyInBody(_ body: [UInt8]) -> String? {
        guard case .object(let members) = try? JSON.parse(body) else { return nil }
        guard case .string(let key) = members.first(where: { $0.key == "api_key" })?.value else { return nil }
        return key
    }

    /// Braze's words, without the key, which its own answer repeats.
    private static func unknownKey(isNative: Bool) -> ServiceAnswer {
        var answer = Refusal(
            status: 401, code: "invalid_key", error: "Invalid API key",
            remedy:
                "Send a key that is valid as `Authorization: Bearer KEY`; `profiled keys list` names those that are."
        ).answer(isNative: isNative)
        answer.headers = [("WWW-Authenticate", "Bearer")]
        return answer
    }
}
