internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1
internal import ProfileLogAPI
internal import Synchronization

/// Reads the bodies of requests: none that is too large, none for ever, and not too many at once.
final class BodyReader: Sendable {
    /// What became of a body.
    enum Outcome: Sendable {
        case whole([UInt8])
        /// More bytes than any request may have.
        case tooLarge
        /// More values than any request may have.
        case tooManyValues
        /// It did not come in time.
        case tooSlow
        /// The connection ended before the body did.
        case cutOff
        /// The bodies that are being read take all the memory that there is for them.
        case noRoom
        /// It is no HTTP: the connection is of no further use.
        case unreadable(any Error)
    }

    private let deadlines: BodyDeadlines
    /// Bytes that all bodies together may still take.
    private let room: Atomic<Int>

    /// Gives each body `patience` to arrive, and all of them together so many bytes.
    init(patience: Duration, mostBytesAtOnce: Int) {
        deadlines = BodyDeadlines(patience: patience)
        room = Atomic(mostBytesAtOnce)
    }

    /// The body of `request`; refused by its length, if that is told, before a byte of it is read.
    func read(_ request: Request, _ asked: RequestHeaders, _ connection: ConnectionContext) async -> Outcome {
        let length = asked.contentLength.flatMap { Int($0) }
        if let length, length > API.maxBodyBytes { return .tooLarge }
        if asked.asksFirst { await connection.inviteBody() }
        let outcome = await deadlines.watch(connection) { await collect(request.body) }
        guard case .whole(let bytes) = outcome else { return outcome }
        if let length, bytes.count < length { return .cutOff }
        if bytes.count <= ValueCount.most { return outcome }
        // Elsewhere, for it holds up the event loop.
        let hasTooMany = await withTaskExecutorPreference(globalConcurrentExecutor) {
            ValueCount.exceeds(ValueCount.most, bytes)
        }
        return hasTooMany ? .tooManyValues : outcome
    }

    /// What arrives counts, and not what is announced: else an announcement alone would shut others out.
    private func collect(_ body: RequestBody) async -> Outcome {
        var bytes: [UInt8] = []
        var taken = 0
        defer { room.add(taken, ordering: .relaxed) }
        do {
            for try await part in body {
                taken += part.readableBytes
                guard room.subtract(part.readableBytes, ordering: .relaxed).newValue >= 0 else { return .noRoom }
                bytes.append(contentsOf: part.readableBytesView)
                if bytes.count > API.maxBodyBytes { return .tooLarge }
            }
            return .whole(bytes)
        } catch is BodyTooSlow {
            return .tooSlow
        } catch let error as HTTPParserError where error != .invalidEOFState {
            return .unreadable(error)
        } catch {
            return .cutOff
        }
    }
}
