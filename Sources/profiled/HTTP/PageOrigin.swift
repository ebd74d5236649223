internal import ProfileLogAPI

/// Refuses what a browser sends for the page of another site: without keys, being on this machine is all that a client must prove, and every
/// page that is open there could prove it.
struct PageOrigin: Sendable {
    let keys: KeyRing
    /// The address that the service listens on.
    let serviceHost: String

    /// What to answer if the request comes from such a page; nil if not.
    ///
    /// - Parameter host: what the client calls the service, with the port.
    func refusal(_ asked: RequestHeaders, host: String?, isWrite: Bool, path: String) -> APIAnswer? {
        guard let host else { return nil }
        if isWrite, let origin = asked.origin, origin != "http://\(host)", origin != "https://\(host)" {
            return API.answerToForeignOrigin(path: path)
        }
        // A page can have its own name lead to this machine, and then asks as if it were of this service (DNS rebinding). Of browsers alone:
        // they always say which languages are wanted, and others may call the service what they like.
        if !keys.isClosed, asked.acceptLanguage != nil, !isOwn(host) { return API.answerToForeignHost(path: path) }
        return nil
    }

    /// Whether this is an address, or a name that only this machine or its network gives.
    private func isOwn(_ host: String) -> Bool {
        if host.hasPrefix("[") { return true }
        let name = host.prefix { $0 != ":" }.lowercased()
        return name == serviceHost.lowercased() || !name.contains(".") || name.hasSuffix(".localhost")
            || name.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
