internal import ProfileLogSnippets

/// The answer to an `APIRequest`.
package struct APIAnswer: Sendable {
    package var status: Int
    /// A JSON object, without a line feed at its end, unless `mediaType` says otherwise.
    package var body: [UInt8]
    /// As in the header `Content-Type`.
    package var mediaType = "application/json"
    /// The number of events of the user in question, in quotes, as in the header `ETag`.
    package var etag: String?
    /// The methods that the path knows, for the header `Allow`; with status 405 only.
    package var allow: String?
    /// The addresses of the pages before and after this one, as in the header `Link`; nil if there are none.
    package var link: String?
    /// Further headers.
    package var headers: [(name: String, value: String)] = []
    /// A file that is sent in place of `body`; nil for an answer in JSON.
    package var file: File?
    /// A text that is read while it is sent, in place of `body`; nil for an answer in JSON.
    package var stream: (any Stream)?
    /// The error, in one word for programs: the member `code`; nil for a success.
    package var code: String?

    /// A file, which the sender should open at once: it does not stay for ever.
    package struct File: Sendable {
        package var path: String
        /// As in the header `Content-Type`.
        package var mediaType: String

        package init(path: String, mediaType: String) {
            self.path = path
            self.mediaType = mediaType
        }
    }

    /// A text of any length, in parts.
    package protocol Stream: Sendable {
        /// As in the header `Content-Type`.
        var mediaType: String { get }
        /// The next part; nil at the end. May read the disk.
        func next() throws -> [UInt8]?
    }

    package init(status: Int, body: [UInt8], etag: String? = nil, allow: String? = nil, code: String? = nil) {
        self.status = status
        self.body = body
        self.etag = etag
        self.allow = allow
        self.code = code
    }

    /// Tells whether the request was done.
    package var isSuccess: Bool { status < 400 }

    /// A success, with the members that `write` writes into an object.
    package static func ok(
        status: Int = 200, version: Version? = nil, _ write: (inout JSONWriter) throws -> Void
    ) rethrows -> APIAnswer {
        APIAnswer(
            status: status, body: try JSONWriter.bytes(ofObject: write), etag: version.map { "\"\($0.rawValue)\"" })
    }
}
