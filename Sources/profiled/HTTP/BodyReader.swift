internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1
internal import ProfileLogRequests
internal import Synchronization

/// Reads the bodies of requests, and unpacks those that are compressed. Bounds the bytes and values of each, and the
/// bytes of all together.
final class BodyReader: Sendable {
    static let maxValues = 500_000

    /// Bytes that all bodies together may still take.
    private let room: Atomic<Int>

    init(maxBytesAtOnce: Int) { room = Atomic(maxBytesAtOnce) }

    /// Makes room for so many bytes more at once, or fewer.
    func addRoom(_ bytes: Int) { room.add(bytes, ordering: .relaxed) }

    /// The body of `request`. Throws an `APIError`, or the parser's error for what is not HTTP.
    func read(_ request: Request, _ asked: RequestHeaders, _ connection: ConnectionContext) async throws -> [UInt8] {
        if Self.hasUnknownTransfer(asked) { throw APIError.transferCoding }
        let coding = try BodyCoding(asked[.contentEncoding])
        let length = asked[.contentLength].flatMap { Int($0) }
        if let length, length > APIRouter.maxBodyBytes { throw APIError.bodyTooLarge }
        if asked.asksFirst { await connection.inviteBody() }
        var taken = 0
        defer { room.add(taken, ordering: .relaxed) }
        var bytes = try await collect(request.body, &taken)
        if let length, bytes.count < length { throw APIError.cutOff }
        // Some programs send the header with every request.
        if let coding, !bytes.isEmpty { bytes = try await unpack(bytes, coding, &taken) }
        if Self.isForm(bytes, asked[.contentType]) { throw APIError.form }
        if bytes.count > Self.maxValues {
            // On another thread, as it would delay the event loop.
            let hasTooMany = await withTaskExecutorPreference(globalConcurrentExecutor) { Self.hasTooManyValues(bytes) }
            if hasTooMany { throw APIError.tooManyValues }
        }
        // Some programs put a byte order mark before UTF-8.
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// Takes room for bytes, and counts them in `taken`. Throws if there is none.
    private func take(_ count: Int, _ taken: inout Int) throws {
        taken += count
        if room.subtract(count, ordering: .relaxed).newValue < 0 { throw APIError.noRoom }
    }

    /// Few bytes may become many, which would delay the event loop.
    private func unpack(_ packed: [UInt8], _ coding: BodyCoding, _ taken: inout Int) async throws -> [UInt8] {
        try await withTaskExecutorPreference(globalConcurrentExecutor) {
            try coding.unpacked(packed) { try take($0, &taken) }
        }
    }

    /// Counts bytes that arrived and not those announced: else an announcement alone would block other clients.
    private func collect(_ body: RequestBody, _ taken: inout Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            for try await part in body {
                try take(part.readableBytes, &taken)
                bytes.append(contentsOf: part.readableBytesView)
                if bytes.count > APIRouter.maxBodyBytes { throw APIError.bodyTooLarge }
            }
            return bytes
        } catch let error as APIError {
            throw error
        } catch is BodyTooSlow {
            throw APIError.tooSlow
        } catch let error as HTTPParserError where error != .invalidEOFState {
            throw error
        } catch {
            throw APIError.cutOff
        }
    }

    // MARK: - What a body may be

    /// Tells whether a body has a coding before `chunked`. One without `chunked` at its end is not HTTP.
    private static func hasUnknownTransfer(_ asked: RequestHeaders) -> Bool {
        let transfer = asked[.transferEncoding]?.lowercased() ?? "chunked"
        return transfer != "chunked" && transfer.hasSuffix("chunked")
    }

    /// Tells whether the body is a form. The type alone says nothing: curl calls everything that it sends a form.
    private static func isForm(_ body: [UInt8], _ type: String?) -> Bool {
        guard let type = type?.lowercased() else { return false }
        if type.hasPrefix("multipart/") { return body.starts(with: "--".utf8) }
        guard type.hasPrefix("application/x-www-form-urlencoded"),
            let end = body.prefix(256).firstIndex(of: UInt8(ascii: "=")), end > 0
        else { return false }
        return body[..<end].allSatisfy { byte in
            byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
                || "_-.%[]".utf8.contains(byte)
        }
    }

    /// Tells whether JSON has more than `maxValues` values, without parsing it: a value may take fifty times its bytes
    /// in memory. Counts commas and opening brackets outside of strings.
    private static func hasTooManyValues(_ json: [UInt8]) -> Bool {
        var count = 1
        var next = 0
        while next < json.count {
            switch json[next] {
            case UInt8(ascii: "\""): next = BodyKey.endOfString(at: next, in: json) - 1
            case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"): count += 1
            default: break
            }
            next += 1
        }
        return count > maxValues
    }
}
