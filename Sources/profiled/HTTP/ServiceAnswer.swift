internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProfileLogRequests

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

    /// A path that answers GET answers HEAD too.
    private static func withHead(_ methods: String) -> String {
        methods.split(separator: ", ").map { $0 == "GET" ? "GET, HEAD" : $0 }.joined(separator: ", ")
    }

    /// Bytes that are written at once: a client that takes so many in the time that ``ConnectionHandler`` gives gets
    /// the whole body.
    private static let bytesAtOnce = 256 << 10

    /// The response, with `more` headers.
    func response(_ more: [HTTPField]) -> Response {
        let body = ByteBuffer(bytes: body)
        return Response(
            status: .init(code: status), headers: Self.fields(type: type, headers + more),
            body: body.readableBytes > Self.bytesAtOnce ? Self.inParts(body) : ResponseBody(byteBuffer: body))
    }

    private static func inParts(_ body: ByteBuffer) -> ResponseBody {
        ResponseBody(contentLength: body.readableBytes) { writer in
            var rest = body
            while let part = rest.readSlice(length: min(rest.readableBytes, bytesAtOnce)), part.readableBytes > 0 {
                try await writer.write(part)
            }
            try await writer.finish(nil)
        }
    }

    /// The response to a client that asked before it sent the body, and is refused: the last one of its connection.
    ///
    /// Such a client need not send the body, and what it sends next would be taken for it.
    func lastResponse(_ more: [HTTPField], on connection: ConnectionContext) -> Response {
        let body = ByteBuffer(bytes: body)
        let ending = ResponseBody(contentLength: body.readableBytes) { writer in
            try await writer.write(body)
            try await writer.finish(nil)
            await connection.endOutput()
        }
        return Response(
            status: .init(code: status), headers: Self.fields(type: type, headers + more + [.close]), body: ending)
    }

    /// A response with a file, which is read while it is sent. Nil if the file is gone.
    static func response(_ file: APIAnswer.File, _ headers: [HTTPField]) -> Response? {
        // Opened at once: its name may be gone when it is read.
        guard let handle = FileHandle(forReadingAtPath: file.path), let length = try? handle.seekToEnd() else {
            return nil
        }
        let body = ResponseBody(contentLength: Int(length)) { writer in
            defer { try? handle.close() }
            try handle.seek(toOffset: 0)
            try await withTaskExecutorPreference(globalConcurrentExecutor) {
                var rest = Int(length)
                while rest > 0, let part = try handle.read(upToCount: min(rest, bytesAtOnce)), !part.isEmpty {
                    try await writer.write(ByteBuffer(bytes: part))
                    rest -= part.count
                }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: fields(type: file.mediaType, headers), body: body)
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

extension HTTPField {
    /// Ends the connection after this answer.
    static let close = HTTPField(name: .connection, value: "close")
}

extension HTTPField.Name {
    static let link = Self(known: "Link")
    static let xRequestID = Self(known: "X-Request-Id")

    /// A name that is part of the program.
    init(known name: String) {
        guard let name = Self(name) else { preconditionFailure("\(name) is no name of a header.") }
        self = name
    }
}
