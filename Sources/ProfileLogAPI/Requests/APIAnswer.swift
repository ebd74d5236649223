internal import ProfileLog

/// The answer to an `APIRequest`.
public struct APIAnswer: Sendable {
    /// The HTTP status.
    public var status: Int
    /// A JSON object, without a line feed at its end.
    public var body: [UInt8]
    /// How many events the user in question has, in quotes, as in the header `ETag`.
    public var etag: String?
    /// The methods that the path knows, for the header `Allow`; with status 405 only.
    public var allow: String?
    /// Where the pages before and after this one are, as in the header `Link`; nil if there are none.
    public var link: String?
    /// A file that is sent in place of `body`; nil for an answer in JSON.
    public var file: File?
    /// What went wrong, in one word for programs: the member `code`; nil for a success.
    public var code: String?

    /// A file, which the sender should open at once: it does not stay for ever.
    public struct File: Sendable {
        /// Where it is.
        public var path: String
        /// As in the header `Content-Type`.
        public var mediaType: String
    }

    /// Makes an answer.
    public init(status: Int, body: [UInt8], etag: String? = nil, allow: String? = nil, code: String? = nil) {
        self.status = status
        self.body = body
        self.etag = etag
        self.allow = allow
        self.code = code
    }

    /// Whether the request was done.
    public var isSuccess: Bool { status < 400 }

    /// Status 200, with the members that `write` writes into an object.
    static func ok(version: Version? = nil, _ write: (inout JSONWriter) throws -> Void) rethrows -> APIAnswer {
        var writer = JSONWriter()
        writer.beginObject()
        try write(&writer)
        writer.endObject()
        return APIAnswer(status: 200, body: writer.bytes, etag: version.map { "\"\($0.rawValue)\"" })
    }
}
