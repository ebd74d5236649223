/// What a body is, as far as the service must know before it is read as JSON.
enum BodyForm {
    /// The mark that some programs put before UTF-8.
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The body without a byte order mark.
    static func withoutMark(_ body: [UInt8]) -> [UInt8] {
        body.starts(with: mark) ? Array(body.dropFirst(mark.count)) : body
    }

    /// Why a body with this `Content-Encoding` is not read; nil if it is.
    static func refusal(ofEncoding encoding: String?) -> Refusal? {
        guard let encoding, encoding.lowercased() != "identity", !encoding.isEmpty else { return nil }
        return Refusal(
            status: 415, code: "unsupported_encoding", error: "The body is compressed; nothing was stored.",
            remedy: "Send it as it is, without the header Content-Encoding.")
    }

    /// Why a body with this `Transfer-Encoding` is not read; nil if it is, or if it is no HTTP, as without `chunked` at the end.
    static func refusal(ofTransfer encoding: String?) -> Refusal? {
        guard let codings = encoding?.lowercased(), codings != "chunked", codings.hasSuffix("chunked") else {
            return nil
        }
        return Refusal(
            status: 501, code: "unsupported_encoding",
            error: "The body has a transfer coding that is not known here; nothing was stored.",
            remedy: "Send it with Content-Length, or in chunks and nothing else.")
    }

    /// Why a body of this `Content-Type` is not read; nil if it is. The type alone says nothing: curl calls all that it sends a form.
    static func refusal(of body: [UInt8], _ type: String?) -> Refusal? {
        guard let type = type?.lowercased() else { return nil }
        let isForm =
            type.hasPrefix("application/x-www-form-urlencoded") && beginsLikeForm(body)
            || type.hasPrefix("multipart/") && body.starts(with: "--".utf8)
        guard isForm else { return nil }
        return Refusal(
            status: 415, code: "unsupported_type", error: "The body is a form; nothing was stored.",
            remedy: "Send a JSON object, as application/json.")
    }

    /// Whether the body begins with a name and `=`.
    private static func beginsLikeForm(_ body: [UInt8]) -> Bool {
        guard let end = body.prefix(256).firstIndex(of: UInt8(ascii: "=")), end > 0 else { return false }
        return body[..<end].allSatisfy { byte in
            let scalar = Unicode.Scalar(byte)
            return scalar.properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte)
                || "_-.%[]".utf8.contains(byte)
        }
    }
}
