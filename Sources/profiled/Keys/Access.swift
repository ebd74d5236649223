internal import ProfileLogRequests

struct Access: Sendable {
    let keys: KeyRing
    let serviceHost: String
    /// The origin at which clients reach the service through a proxy, which may call it by another name; nil without
    /// `--base-url`.
    let publicOrigin: String?
    let crossOrigins: CrossOrigins
    let speaksTLS: Bool

    // MARK: - Keys

    /// Returns nil if a request with this header may do what `permission` names, or if that is nil and its key is
    /// valid; else why not. `olderKey` is the key of a client that sends it as Braze's clients once did. `client` are
    /// the names in its certificate: they count if it sends no key.
    func refusal(
        _ authorization: String?, olderKey: String? = nil, permission: String?, isNative: Bool, client: [String]
    ) -> APIError? {
        guard keys.isClosed else { return nil }
        let text = Self.bearer(authorization) ?? (Self.mayBeOlder(authorization, isNative: isNative) ? olderKey : nil)
        guard let key = self.key(sent: text, client) else { return Self.unknownKey }
        guard let permission, !key.allows(permission) else { return nil }
        return APIError(
            status: 403, code: "not_allowed", error: "This key is not allowed to do this; nothing was done.",
            remedy: "Use a key that has the permission \(permission): `profiled keys add --permissions` makes one.")
    }

    func refusal(
        _ authorization: String?, olderKey: String? = nil, client: [String], _ endpoint: Endpoint
    ) -> APIError? {
        guard endpoint.needsKey else { return nil }
        return refusal(
            authorization, olderKey: olderKey, permission: endpoint.permission, isNative: endpoint.isNative,
            client: client)
    }

    /// The key of a request with this header; nil if requests need none. Throws if it is not valid.
    func key(_ authorization: String?, client: [String]) throws(APIError) -> SentKey? {
        guard keys.isClosed else { return nil }
        guard let key = self.key(sent: Self.bearer(authorization), client) else { throw Self.unknownKey }
        return SentKey(name: key.name, permissions: key.permissions)
    }

    /// The key that was sent; if none was, the one that the client's certificate names.
    private func key(sent text: String?, _ client: [String]) -> StoredKey? {
        if let text { return keys.key(text) }
        return keys.key(named: client)
    }

    /// Tells whether the key may be the `api_key` in URL or body: only in Braze's format, without the header.
    static func mayBeOlder(_ authorization: String?, isNative: Bool) -> Bool { !isNative && authorization == nil }

    private static func bearer(_ authorization: String?) -> String? {
        guard let authorization else { return nil }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1].drop { $0 == " " })
    }

    /// Braze's words, without the key, which its own answer repeats.
    private static let unknownKey = APIError(
        status: 401, code: "invalid_key", error: "Invalid API key",
        remedy: "Send a key that is valid as `Authorization: Bearer KEY`; `profiled keys list` names those that are.",
        headers: [("WWW-Authenticate", "Bearer")])

    // MARK: - Pages of other sites

    /// Refuses a request that a browser sends for the page of another site: without keys, every page that is open on
    /// this machine could write. `host` is what the client calls the service, with the port.
    func refuseForeignPage(_ asked: RequestHeaders, host: String?, isWrite: Bool) throws(APIError) {
        guard let host, !crossOrigins.allow(asked[.origin]) else { return }
        if isWrite, let origin = asked[.origin], !isOwn(origin: origin, host), origin != publicOrigin {
            throw Self.foreignOrigin
        }
        if !keys.isClosed { try refuseForeignHost(asked, host) }
    }

    /// Refuses DNS rebinding, where no key is needed: a page's own name may lead to this machine.
    func refuseForeignHost(_ asked: RequestHeaders, _ host: String?) throws(APIError) {
        if let host, asked.isFromBrowser, !isOwn(host) { throw Self.foreignHost }
    }

    private static let foreignOrigin = APIError(
        status: 403, code: "foreign_origin", error: "A page of another site may not write here; nothing was stored.",
        remedy:
            "Send the request without the header Origin, or from a page of this service; --cors names other origins.",
        place: "Origin")
    private static let foreignHost = APIError(
        status: 403, code: "foreign_origin",
        error: "A browser, or a program with its headers, asks for another host, and without keys nothing says whose "
            + "page it is; nothing was done.",
        remedy: "Ask for the service by its address, or as localhost, or make a key with `profiled keys add`.",
        place: "Host")

    /// Tells whether this is the service's own page. Without TLS here a proxy may speak it; with TLS a page that came
    /// without it is from someone on the way.
    private func isOwn(origin: String, _ host: String) -> Bool {
        origin == "https://\(host)" || !speaksTLS && origin == "http://\(host)"
    }

    /// Tells whether this is an address, or a name that only this machine or its network gives.
    private func isOwn(_ host: String) -> Bool {
        if host.hasPrefix("[") { return true }
        let name = host.prefix { $0 != ":" }.lowercased()
        return name == serviceHost.lowercased() || !name.contains(".") || name.hasSuffix(".localhost")
            || name.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".") }
    }
}

/// A key in the body of a request, as the `api_key` of one that has no other. Found without parsing JSON, as its sender
/// is not yet known; the endpoint reports mistakes in the body to a client with a key.
enum BodyKey {
    /// The text of the body's member `name`; nil if there is none, or if its name or text has escapes, as no key has.
    static func find(_ name: String = "api_key", in body: [UInt8]) -> String? {
        let name = Array("\"\(name)\"".utf8)
        var depth = 0
        var next = 0
        while next < body.count {
            let begin = next
            next += 1
            switch body[begin] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                next = endOfString(at: begin, in: body)
                guard depth == 1, body[begin..<next].elementsEqual(name) else { break }
                // A key follows the opening bracket or a comma; what follows a colon is a value.
                let before = body[..<begin].last { !isBlank($0) }
                if before == UInt8(ascii: ",") || before == UInt8(ascii: "{") { return text(after: next, in: body) }
            default: break
            }
        }
        return nil
    }

    /// The string after a colon at `place`.
    private static func text(after place: Int, in body: [UInt8]) -> String? {
        guard let colon = body[place...].firstIndex(where: { !isBlank($0) }), body[colon] == UInt8(ascii: ":"),
            let begin = body[(colon + 1)...].firstIndex(where: { !isBlank($0) }), body[begin] == UInt8(ascii: "\"")
        else { return nil }
        let end = endOfString(at: begin, in: body)
        guard end > begin + 1 else { return nil }
        let text = body[(begin + 1)..<(end - 1)]
        return text.contains(UInt8(ascii: "\\")) ? nil : String(validating: text, as: UTF8.self)
    }

    /// The place after the string that begins at `begin`; the end of the body if the string does not end.
    static func endOfString(at begin: Int, in body: [UInt8]) -> Int {
        var next = begin + 1
        while next < body.count, body[next] != UInt8(ascii: "\"") { next += body[next] == UInt8(ascii: "\\") ? 2 : 1 }
        return min(next + 1, body.count)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
