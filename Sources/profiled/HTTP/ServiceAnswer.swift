internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProfileLogAPI

/// An answer of the service: one of the API with what HTTP adds to it.
struct ServiceAnswer: Sendable {
    var status: Int
    var body: [UInt8]
    var type = "application/json"
    /// What went wrong, in one word.
    var code: String?
    var headers: [HTTPField] = []

    init(status: Int, body: [UInt8], type: String = "application/json") {
        self.status = status
        self.body = body
        self.type = type
    }

    init(_ answer: APIAnswer) {
        status = answer.status
        body = answer.body
        code = answer.code
        if let etag = answer.etag { headers.append(HTTPField(name: .eTag, value: etag)) }
        if let allow = answer.allow { headers.append(HTTPField(name: .allow, value: Self.withHead(allow))) }
        if let link = answer.link { headers.append(HTTPField(name: .link, value: link)) }
        if answer.status == 429 || answer.code == "busy" { headers.append(HTTPField(name: .retryAfter, value: "1")) }
    }

    /// The answer to `OPTIONS`: the methods, and no body.
    init(allowing methods: String) {
        self.init(status: 204, body: [])
        headers.append(HTTPField(name: .allow, value: "\(Self.withHead(methods)), OPTIONS"))
    }

    /// What answers GET answers HEAD too.
    static func withHead(_ methods: String) -> String {
        methods.split(separator: ", ").map { $0 == "GET" ? "GET, HEAD" : $0 }.joined(separator: ", ")
    }

    /// Bytes of a body that are written at once: whoever takes so many in the time that `ConnectionEndHandler` gives gets all of it.
    static let bytesAtOnce = 256 << 10

    /// The response, with `more` headers.
    func response(_ more: [HTTPField]) -> Response {
        Response(
            status: .init(code: status), headers: Self.fields(type: type, headers + more),
            body: body.count > Self.bytesAtOnce ? parts : ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    private var parts: ResponseBody {
        let body = ByteBuffer(bytes: body)
        return ResponseBody(contentLength: body.readableBytes) { writer in
            var rest = body
            while let part = rest.readSlice(length: min(rest.readableBytes, Self.bytesAtOnce)), part.readableBytes > 0 {
                try await writer.write(part)
            }
            try await writer.finish(nil)
        }
    }

    /// The headers of every response.
    static func fields(type: String, _ more: [HTTPField]) -> HTTPFields {
        var fields = HTTPFields()
        fields[.contentType] = type
        fields[.cacheControl] = "no-store"
        for field in more { fields[field.name] = field.value }
        return fields
    }
}

extension HTTPField.Name {
    static let link = Self(known: "Link")
    static let xRequestID = Self(known: "X-Request-Id")

    /// A name that stands in the program.
    init(known name: String) {
        guard let name = Self(name) else { preconditionFailure("\(name) is no name of a header.") }
        self = name
    }
}
