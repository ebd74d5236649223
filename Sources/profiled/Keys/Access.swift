internal import HTTPTypes
internal import Hummingbird
internal import ProfileLogRequests

/// Decides who may do what.
struct Access: Sendable {
    let keys: KeyRing
    /// The address that the service listens on.
    let serviceHost: String

    // MARK: - Keys

    /// Nil if a request with this header may do what `permission` names; else why not.
    ///
    /// - Parameter olderKey: the key of a client that sends it as Braze's clients once did; see
    ///   ``mayBeOlder(_:isNative:)``.
    func refusal(_ authorization: String?, olderKey: String? = nil, permission: String, isNative: Bool) -> Refusal? {
        guard keys.isClosed else { return nil }
        let text = Self.bearer(authorization) ?? (mayBeOlder(authorization, isNative: isNative) ? olderKey : nil)
        guard let text, let key = keys.key(text) else { return Self.unknownKey }
        if key.allows(permission) { return nil }
        return Refusal(
            status: 403, code: "not_allowed", error: "This key is not allowed to do this; nothing was done.",
            remedy: "Use a key that has the permission \(permission): `profiled keys add --permissions` makes one.")
    }

    /// The same for an endpoint of the API.
    func refusal(_ authorization: String?, olderKey: String? = nil, _ endpoint: Endpoint) -> Refusal? {
        guard let permission = endpoint.permission else { return nil }
        return refusal(authorization, olderKey: olderKey, permission: permission, isNative: endpoint.isNative)
    }

    /// Whether the key of a request may be its `api_key`, in the URL or in the body: in Braze's format, without the
    /// header.
    func mayBeOlder(_ authorization: String?, isNative: Bool) -> Bool {
        !isNative && authorization == nil && keys.isClosed
    }

    private static func bearer(_ authorization: String?) -> String? {
        guard let authorization else { return nil }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1].drop { $0 == " " })
    }

    /// Braze's words, without the key, which its own answer repeats.
    private static let unknownKey = Refusal(
        status: 401, code: "invalid_key", error: "Invalid API key",
        remedy: "Send a key that is valid as `Authorization: Bearer KEY`; `profiled keys list` names those that are.",
        headers: [HTTPField(name: .wwwAuthenticate, value: "Bearer")])

    // MARK: - Pages of other sites

    /// Refuses a request that a browser sends for the page of another site; nil if it is none.
    ///
    /// Without keys a client needs only to be on this machine, and every page that is open there is.
    ///
    /// - Parameter host: what the client calls the service, with the port.
    func refusalOfForeignPage(_ asked: RequestHeaders, host: String?, isWrite: Bool, path: String) -> APIAnswer? {
        guard let host else { return nil }
        if isWrite, let origin = asked.origin, origin != "http://\(host)", origin != "https://\(host)" {
            return Self.foreignOrigin.answer(at: path)
        }
        // A page can have its own name lead to this machine, and then asks as if it were of this service (DNS
        // rebinding). Only browsers send Accept-Language; other clients may call the service as they like.
        if !keys.isClosed, asked.acceptLanguage != nil, !isOwn(host) { return Self.foreignHost.answer(at: path) }
        return nil
    }

    private static let foreignOrigin = APIProblem(
        status: 403, code: "foreign_origin", error: "A page of another site may not write here; nothing was stored.",
        remedy: "Send the request without the header Origin, or from a page of this service.", place: "Origin")
    private static let foreignHost = APIProblem(
        status: 403, code: "foreign_origin",
        error: "A browser asks for another host, and without keys nothing says whose page it is; nothing was done.",
        remedy: "Ask for the service by its address, or as localhost, or make a key with `profiled keys add`.",
        place: "Host")

    /// Whether this is an address, or a name that only this machine or its network gives.
    private func isOwn(_ host: String) -> Bool {
        if host.hasPrefix("[") { return true }
        let name = host.prefix { $0 != ":" }.lowercased()
        return name == serviceHost.lowercased() || !name.contains(".") || name.hasSuffix(".localhost")
            || name.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
