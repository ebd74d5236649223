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
    var code: String?
    var headers: [HTTPField] = []

    init(status: Int, body: [UInt8], type: String = "application/json") {
        (self.status, self.body, self.type) = (status, body, type)
    }

    init(_ status: Int, _ json: JSONLiteral) { self.init(status: status, body: json.bytes) }

    init(_ answer: APIAnswer) {
        status = answer.status
        body = answer.body
        code = answer.code
        if let etag = answer.etag { headers.append(HTTPField(name: .eTag, value: etag)) }
        if let allow = answer.allow { headers.append(HTTPField(name: .allow, value: Self.withHead(allow))) }
        if let link = answer.link { headers.append(HTTPField(name: .link, value: link)) }
        if answer.status == 429 || ["busy", "export_outdated"].contains(answer.code) {
            headers.append(HTTPField(name: .retryAfter, value: "1"))
        }
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

    /// Bytes that are written at once, for each of which ``ConnectionHandler`` gives the client time.
    private static let bytesAtOnce = 256 << 10

    /// The response, with `more` headers. `ending` is the connection of a client that asked before it sent the body,
    /// and is refused: it need not send the body, and its next bytes would be read as the body.
    func response(_ more: [HTTPField], ending: ConnectionContext? = nil) -> Response {
        let body = ByteBuffer(bytes: body)
        let headers = Self.fields(type: type, headers + more + (ending == nil ? [] : [.close]))
        guard body.readableBytes > Self.bytesAtOnce || ending != nil else {
            return Response(status: .init(code: status), headers: headers, body: ResponseBody(byteBuffer: body))
        }
        let parts = ResponseBody(contentLength: body.readableBytes) { writer in
            var rest = body
            while let part = rest.readSlice(length: min(rest.readableBytes, Self.bytesAtOnce)), part.readableBytes > 0 {
                try await writer.write(part)
            }
            try await writer.finish(nil)
            await ending?.endOutput()
        }
        return Response(status: .init(code: status), headers: headers, body: parts)
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

    /// A response with a text that is read while it is sent. An error on the way ends the connection, so that the
    /// client does not take a part for the whole.
    static func response(_ stream: any APIAnswer.Stream, _ headers: [HTTPField]) -> Response {
        let body = ResponseBody { writer in
            try await withTaskExecutorPreference(globalConcurrentExecutor) {
                while let part = try stream.next() {
                    var rest = ByteBuffer(bytes: part)
                    while let slice = rest.readSlice(length: min(rest.readableBytes, bytesAtOnce)),
                        slice.readableBytes > 0
                    { try await writer.write(slice) }
                }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: fields(type: stream.mediaType, headers), body: body)
    }

    static func fields(type: String, _ more: [HTTPField]) -> HTTPFields {
        var fields = HTTPFields()
        fields[.contentType] = type
        fields[.cacheControl] = "no-store"
        for field in more { fields[field.name] = field.value }
        return fields
    }
}

extension HTTPField {
    static let close = HTTPField(name: .connection, value: "close")
}

extension HTTPField.Name {
    static let link = Self(known: "Link")
    static let xRequestID = Self(known: "X-Request-Id")

    init(known name: String) {
        guard let name = Self(name) else { preconditionFailure("\(name) is not a name of a header.") }
        self = name
    }
}

/// Why the service itself refuses a request, before the API sees it.
struct Refusal: Error {
    var status: Int
    var code: String
    var error: String
    var remedy: String
    var headers: [HTTPField] = []

    /// In the form of the native API, or in Braze's, where the sentence is called `message`.
    func answer(isNative: Bool) -> ServiceAnswer {
        let key = isNative ? "error" : "message"
        var answer = ServiceAnswer(
            status, [key: .string(error), "remedy": .string(remedy), "code": .string(code)])
        (answer.code, answer.headers) = (code, headers)
        return answer
    }
}

// MARK: - Bodies

extension Refusal {
    static let contentEncoding = Refusal(
        status: 415, code: "unsupported_encoding", error: "The body is compressed; nothing was stored.",
        remedy: "Send it as it is, without the header Content-Encoding.")

    static let transferCoding = Refusal(
        status: 501, code: "unsupported_encoding",
        error: "The body has a transfer coding that is not known here; nothing was stored.",
        remedy: "Send it with Content-Length, or in chunks and nothing else.")

    static let form = Refusal(
        status: 415, code: "unsupported_type", error: "The body is a form; nothing was stored.",
        remedy: "Send a JSON object, as application/json.")

    static let tooLarge = Refusal(
        status: 413, code: "too_large",
        error: "The body is larger than \(APIRouter.maxBodyBytes) bytes; nothing was stored.",
        remedy: "Send less at once.")

    static let tooManyValues = Refusal(
        status: 413, code: "too_large",
        error: "The body has more than \(BodyReader.maxValues) values; nothing was stored.",
        remedy: "Send less at once.")

    static let tooSlow = Refusal(
        status: 408, code: "too_slow", error: "The body did not arrive in time; nothing was stored.",
        remedy: "Send it again, in one go.", headers: [.close])

    static let cutOff = Refusal(
        status: 400, code: "cut_off", error: "The connection ended before the body did; nothing was stored.",
        remedy: "Send the request again.", headers: [.close])

    static let noRoom = Refusal(
        status: 429, code: "overloaded", error: "Too many large requests are being read; nothing was stored.",
        remedy: "Try again in a moment.", headers: [HTTPField(name: .retryAfter, value: "1")])
}

// MARK: - The rest

extension Refusal {
    static let wrongMethod = Refusal(
        status: 405, code: "wrong_method", error: "This path does not know this method.", remedy: "Send GET.",
        headers: [HTTPField(name: .allow, value: "GET, HEAD")])

    static let fileGone = Refusal(
        status: 404, code: "unknown_export", error: "This export is no longer there.",
        remedy: "Ask for the segment again.")

    static let tooManyStreams = Refusal(
        status: 503, code: "too_many_streams", error: "As many streams of events are open as the service allows.",
        remedy: "Close one, or start the service with a higher --max-streams.",
        headers: [HTTPField(name: .retryAfter, value: "5")])

    static let tooManyConnections = Refusal(
        status: 503, code: "too_many_connections",
        error: "This address has as many connections as the service allows, and all of them are in use.",
        remedy: "Use fewer at once, or start the service with a higher --max-connections-per-address.")
}
