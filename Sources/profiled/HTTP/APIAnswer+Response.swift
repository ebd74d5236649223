internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProfileLogRequests

/// Answers as HTTP responses.
extension APIAnswer {
    init(_ status: Int, _ json: AttributeValue) { self.init(status: status, body: Array(json.json.utf8)) }

    /// The answer to `OPTIONS`: the methods, and no body.
    init(allowing methods: String) {
        self.init(status: 204, body: [], allow: methods + ", OPTIONS")
    }

    /// Bytes that are written at once, for each of which ``ConnectionHandler`` gives the client time.
    private static let bytesAtOnce = 256 << 10

    /// The response, with `more` headers. `ending` is the connection of a client that asked before it sent the body,
    /// and is refused: it need not send the body, and its next bytes would be read as the body.
    func response(_ more: [HTTPField], ending: ConnectionContext? = nil) throws(APIError) -> Response {
        if let file { return try Self.response(file, more) }
        let body = ByteBuffer(bytes: body)
        var fields = Self.fields(type: mediaType, more + ownHeaders)
        if ending != nil { fields[.connection] = "close" }
        guard body.readableBytes > Self.bytesAtOnce || ending != nil else {
            return Response(status: .init(code: status), headers: fields, body: ResponseBody(byteBuffer: body))
        }
        let parts = ResponseBody(contentLength: body.readableBytes) { writer in
            for part in Self.slices(body) { try await writer.write(part) }
            try await writer.finish(nil)
            await ending?.endOutput()
        }
        return Response(status: .init(code: status), headers: fields, body: parts)
    }

    private var ownHeaders: [HTTPField] {
        var fields: [HTTPField] = []
        if let etag { fields.append(HTTPField(name: .eTag, value: etag)) }
        if let allow {
            // A path that answers GET answers HEAD too.
            let methods = allow.split(separator: ", ").map { $0 == "GET" ? "GET, HEAD" : $0 }
            fields.append(HTTPField(name: .allow, value: methods.joined(separator: ", ")))
        }
        if let link { fields.append(HTTPField(name: .link, value: link)) }
        if status == 429 || ["busy", "export_outdated"].contains(code) {
            fields.append(HTTPField(name: .retryAfter, value: "1"))
        }
        return fields + headers.map { HTTPField(name: .init(known: $0.name), value: $0.value) }
    }

    /// A response with a file, which is read while it is sent.
    private static func response(_ file: File, _ headers: [HTTPField]) throws(APIError) -> Response {
        // Opened at once: its name may be gone when it is read.
        guard let handle = FileHandle(forReadingAtPath: file.path), let length = try? handle.seekToEnd() else {
            throw APIError(
                status: 404, code: "unknown_export", error: "This export is no longer there.",
                remedy: "Ask for the segment again.")
        }
        let body = ResponseBody(contentLength: Int(length)) { writer in
            defer { try? handle.close() }
            try handle.seek(toOffset: 0)
            try await withTaskExecutorPreference(SlowPath.reads) {
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
    func response(
        _ headers: [HTTPField], _ stream: any Stream, _ reads: Reads, _ connection: ConnectionContext
    ) -> Response {
        let body = ResponseBody { writer in
            while let part = try await reads.part(while: { connection.isOpen }, { try stream.next() }) {
                for slice in Self.slices(ByteBuffer(bytes: part)) { try await writer.write(slice) }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: Self.fields(type: stream.mediaType, headers + ownHeaders), body: body)
    }

    /// Parts of `body` that are written one after the other; they share its memory.
    private static func slices(_ body: ByteBuffer) -> [ByteBuffer] {
        stride(from: body.readerIndex, to: body.writerIndex, by: bytesAtOnce).compactMap { begin in
            body.getSlice(at: begin, length: min(bytesAtOnce, body.writerIndex - begin))
        }
    }

    static func fields(type: String, _ more: [HTTPField]) -> HTTPFields {
        var fields = HTTPFields()
        fields[.contentType] = type
        fields[.cacheControl] = "no-store"
        for field in more {
            // Several parts of the service may add to this one.
            let others = field.name == .vary ? fields[.vary].map { "\($0), " } : nil
            fields[field.name] = (others ?? "") + field.value
        }
        return fields
    }
}

extension HTTPField.Name {
    static let link = Self(known: "Link")
    static let xRequestID = Self(known: "X-Request-Id")

    init(known name: String) {
        guard let name = Self(name) else { preconditionFailure("\(name) is not a name of a header.") }
        self = name
    }
}

/// The reason why the service itself refuses a request, before the API sees it.
extension APIError {
    private static let close = (name: "Connection", value: "close")

    // MARK: - Bodies

    static let transferCoding = APIError(
        status: 501, code: "unsupported_encoding",
        error: "The body has a transfer coding that is not known here; nothing was stored.",
        remedy: "Send it with Content-Length, or in chunks and nothing else.")

    static let form = APIError(
        status: 415, code: "unsupported_type", error: "The body is a form; nothing was stored.",
        remedy: "Send a JSON object, as application/json.")

    static let bodyTooLarge = tooLarge("The body", bytes: APIRouter.maxBodyBytes)

    static let tooManyValues = APIError(
        status: 413, code: "too_large",
        error: "The body has more than \(BodyReader.maxValues) values; nothing was stored.",
        remedy: "Send less at once.")

    static let tooSlow = APIError(
        status: 408, code: "too_slow", error: "The body did not arrive in time; nothing was stored.",
        remedy: "Send it again, in one go.", headers: [close])

    static let cutOff = APIError(
        status: 400, code: "cut_off", error: "The connection ended before the body did; nothing was stored.",
        remedy: "Send the request again.", headers: [close])

    static let noRoom = APIError(
        status: 429, code: "overloaded", error: "Too many large requests are being read; nothing was stored.",
        remedy: "Try again in a moment.")

    // MARK: - The rest

    static let wrongMethodOfService = APIError(
        status: 405, code: "wrong_method", error: "This path does not know this method.", remedy: "Send GET.",
        allow: "GET")

    static let notForOperators = APIError(
        status: 404, code: "unknown_path", error: "This port has the health and the metrics of the service alone.",
        remedy: "Ask for /health, /health/live, /health/ready or /metrics here, and for the rest at the service's port."
    )

    static let forOperators = APIError(
        status: 404, code: "unknown_path", error: "This path is at the port that --admin-port names.",
        remedy: "Ask for it there.")

    static let tooManyStreams = APIError(
        status: 503, code: "too_many_streams", error: "As many streams of events are open as the service allows.",
        remedy: "Close one, or start the service with a higher --max-streams.", headers: [("Retry-After", "5")])

    static let tooManyConnections = APIError(
        status: 503, code: "too_many_connections",
        error: "This address has as many connections as the service allows, and all of them are in use.",
        remedy: "Use fewer at once, or start the service with a higher --max-connections-per-address.")
}
