internal import CZlib
internal import ProfileLogRequests

/// A coding of bodies, as `Content-Encoding` names it, that the service unpacks.
enum BodyCoding: String {
    case gzip
    /// With zlib's header (RFC 9110, 8.4.1.2).
    case deflate

    /// A body may unpack to so many times its bytes. More comes from no client that means well.
    static let maxRatio = 100
    /// A body may unpack to so many bytes whatever the ratio: few events that are alike pack better than most.
    static let bytesOfAnyRatio = 64 << 10

    /// The coding that `header` names; nil if it names none. Throws if the service does not know it.
    init?(_ header: String?) throws(APIError) {
        let names = (header ?? "").lowercased().split(separator: ",")
            .map { $0.filter { $0 != " " && $0 != "\t" } }.filter { !$0.isEmpty && $0 != "identity" }
        guard let name = names.first else { return nil }
        if names.count > 1 { throw .severalEncodings }
        guard let coding = BodyCoding(rawValue: name == "x-gzip" ? "gzip" : name) else { throw .contentEncoding }
        self = coding
    }

    /// The most bytes that a body of `packed` bytes may unpack to.
    static func limit(packed: Int) -> Int {
        min(APIRouter.maxBodyBytes, max(bytesOfAnyRatio, packed * maxRatio))
    }

    /// Unpacks a whole body. `take` is called with a number of bytes before they take memory, and may throw. Throws
    /// ``APIError`` for more bytes than ``limit(packed:)``, and for what is not one whole stream and nothing else.
    func unpacked(_ packed: [UInt8], _ take: (Int) throws -> Void) throws -> [UInt8] {
        // At one address: zlib's state points back to it.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        defer { stream.deallocate() }
        stream.initialize(to: z_stream())
        guard (self == .gzip ? gzip_begin(stream) : zlib_begin(stream)) == Z_OK else { throw APIError.noRoom }
        defer { inflateEnd(stream) }
        let most = Self.limit(packed: packed.count)
        var source = packed
        var room = [UInt8](repeating: 0, count: 64 << 10)
        var bytes: [UInt8] = []
        try source.withUnsafeMutableBufferPointer { source in
            (stream.pointee.next_in, stream.pointee.avail_in) = (source.baseAddress, uInt(source.count))
            var isAtEnd = false
            while !isAtEnd {
                let code = room.withUnsafeMutableBufferPointer { room in
                    (stream.pointee.next_out, stream.pointee.avail_out) = (room.baseAddress, uInt(room.count))
                    return inflate(stream, Z_NO_FLUSH)
                }
                let count = room.count - Int(stream.pointee.avail_out)
                if bytes.count + count > most { throw APIError.unpacksTooLarge(packed: packed.count, most: most) }
                try take(count)
                bytes.append(contentsOf: room[..<count])
                switch code {
                case Z_OK: continue
                case Z_STREAM_END: isAtEnd = true
                // Everything was read, and more should come.
                case Z_BUF_ERROR: throw APIError.wrongEncoding("ends before its \(rawValue) does")
                default: throw APIError.wrongEncoding("is no valid \(rawValue)")
                }
            }
            if stream.pointee.avail_in > 0 {
                throw APIError.wrongEncoding("has more bytes after the end of its \(rawValue)")
            }
        }
        return bytes
    }
}

extension APIError {
    private static let known = (name: "Accept-Encoding", value: "gzip, deflate")

    static let contentEncoding = APIError(
        status: 415, code: "unsupported_encoding",
        error: "The body is compressed in a way that is not known here; nothing was stored.",
        remedy: "Send it with Content-Encoding: gzip or deflate, or as it is, without that header.", headers: [known])

    static let severalEncodings = APIError(
        status: 415, code: "unsupported_encoding", error: "The body is compressed more than once; nothing was stored.",
        remedy: "Compress it once, with gzip or deflate.", headers: [known])

    /// `what` says how the body is not what its header says.
    static func wrongEncoding(_ what: String) -> APIError {
        APIError(
            status: 400, code: "invalid_encoding", error: "The body \(what); nothing was stored.",
            remedy: "Compress it again, or send it as it is, without the header Content-Encoding.")
    }

    /// A body of `packed` bytes that unpacks to more than the `most` that it may.
    static func unpacksTooLarge(packed: Int, most: Int) -> APIError {
        APIError(
            status: 413, code: "too_large",
            error: "The body of \(packed) bytes unpacks to more than \(most) bytes; nothing was stored.",
            remedy: most < APIRouter.maxBodyBytes
                ? "Send it as it is: a compressed body may unpack to \(BodyCoding.maxRatio) times its bytes."
                : "Send less at once.")
    }
}
