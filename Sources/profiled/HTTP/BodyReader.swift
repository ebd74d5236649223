internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1
internal import ProfileLogRequests
internal import Synchronization

/// Reads the bodies of requests. Bounds each one in bytes and values, and all of them together in bytes;
/// ``ConnectionHandler`` bounds the time.
final class BodyReader: Sendable {
    /// The body, or why there is none.
    enum Outcome: Sendable {
        case whole([UInt8])
        case refused(Refusal)
        /// The body is no HTTP, and the connection is of no further use.
        case unreadable(any Error)
    }

    /// Values that one body may have.
    static let maxValues = 500_000

    /// Bytes that all bodies together may still take.
    private let room: Atomic<Int>

    init(maxBytesAtOnce: Int) { room = Atomic(maxBytesAtOnce) }

    /// The body of `request`; refused by its length, if that is told, before a byte of it is read.
    func read(_ request: Request, _ asked: RequestHeaders, _ connection: ConnectionContext) async -> Outcome {
        if let refusal = Self.refusal(of: asked) { return .refused(refusal) }
        let length = asked.contentLength.flatMap { Int($0) }
        if let length, length > APIRouter.maxBodyBytes { return .refused(.tooLarge) }
        if asked.asksFirst { await connection.inviteBody() }
        let outcome = await collect(request.body)
        guard case .whole(let bytes) = outcome else { return outcome }
        if let length, bytes.count < length { return .refused(.cutOff) }
        if Self.isForm(bytes, asked.contentType) { return .refused(.form) }
        if bytes.count <= Self.maxValues { return .whole(Self.withoutByteOrderMark(bytes)) }
        // On another thread, as it would hold up the event loop.
        let hasTooMany = await withTaskExecutorPreference(globalConcurrentExecutor) {
            Self.hasMoreValues(than: Self.maxValues, bytes)
        }
        return hasTooMany ? .refused(.tooManyValues) : .whole(Self.withoutByteOrderMark(bytes))
    }

    /// Counts bytes that arrived and not those announced: else an announcement alone would shut out other clients.
    private func collect(_ body: RequestBody) async -> Outcome {
        var bytes: [UInt8] = []
        var taken = 0
        defer { room.add(taken, ordering: .relaxed) }
        do {
            for try await part in body {
                taken += part.readableBytes
                guard room.subtract(part.readableBytes, ordering: .relaxed).newValue >= 0 else {
                    return .refused(.noRoom)
                }
                bytes.append(contentsOf: part.readableBytesView)
                if bytes.count > APIRouter.maxBodyBytes { return .refused(.tooLarge) }
            }
            return .whole(bytes)
        } catch is BodyTooSlow {
            return .refused(.tooSlow)
        } catch let error as HTTPParserError where error != .invalidEOFState {
            return .unreadable(error)
        } catch {
            return .refused(.cutOff)
        }
    }

    // MARK: - What a body may be

    /// Why a body with these headers is not read; nil if it is. A coding without `chunked` at its end is no HTTP.
    private static func refusal(of asked: RequestHeaders) -> Refusal? {
        let transfer = asked.transferEncoding?.lowercased() ?? "chunked"
        if transfer != "chunked", transfer.hasSuffix("chunked") { return .transferCoding }
        let encoding = asked.contentEncoding?.lowercased() ?? ""
        return encoding.isEmpty || encoding == "identity" ? nil : .contentEncoding
    }

    /// Whether the body is a form. The type alone says nothing: curl calls everything that it sends a form.
    private static func isForm(_ body: [UInt8], _ type: String?) -> Bool {
        guard let type = type?.lowercased() else { return false }
        if type.hasPrefix("multipart/") { return body.starts(with: "--".utf8) }
        guard type.hasPrefix("application/x-www-form-urlencoded"),
            let end = body.prefix(256).firstIndex(of: UInt8(ascii: "=")), end > 0
        else { return false }
        return body[..<end].allSatisfy { byte in
            let scalar = Unicode.Scalar(byte)
            return scalar.properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte)
                || "_-.%[]".utf8.contains(byte)
        }
    }

    /// Some programs put a mark before UTF-8.
    private static func withoutByteOrderMark(_ body: [UInt8]) -> [UInt8] {
        body.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(body.dropFirst(3)) : body
    }

    /// Whether JSON has more than `limit` values, without parsing it: a value may take fifty times its bytes in memory.
    /// Counts commas and opening brackets outside of strings.
    private static func hasMoreValues(than limit: Int, _ json: [UInt8]) -> Bool {
        var count = 1
        var isInString = false
        var isEscaped = false
        for byte in json {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"): count += 1
            default: break
            }
        }
        return count > limit
    }
}
