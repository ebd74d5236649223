internal import CZlib
internal import ProfileLogRequests
internal import Synchronization

/// Packing with gzip, of answers and of the console's files.
enum Gzip {
    /// The level for what is packed for one client: any level takes most of JSON away.
    static let fastest: Int32 = 1
    /// The level for what is packed once.
    static let smallest: Int32 = 9

    /// `bytes` as a gzip file; nil if that would not be smaller, or if there is no memory for it.
    static func packed(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
        guard let packed = GzipPacker(level: level)?.pack(bytes, isLast: true) else { return nil }
        return packed.count < bytes.count ? packed : nil
    }

    private static let endOfTag = "-gzip\""

    /// The `ETag` of the packed form of what has `plain`: strong tags of two forms differ (RFC 9110, 8.8.3).
    static func tag(ofPacked plain: String) -> String { "\(plain.dropLast())\(endOfTag)" }

    /// The `ETag` of the plain form, of which `tag` is either form's.
    static func tag(ofPlain tag: String) -> String {
        tag.hasSuffix(endOfTag) ? "\(tag.dropLast(endOfTag.count))\"" : tag
    }
}

/// A gzip file that is made part by part.
private final class GzipPacker {
    private static let mostRoom = 64 << 10

    /// Stays at one address: zlib's state points back to it.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var hasBegun = false

    /// Begins a file; nil if there is no memory for it.
    init?(level: Int32) {
        stream.initialize(to: z_stream())
        hasBegun = gzip_pack_begin(stream, level) == Z_OK
        if !hasBegun { return nil }
    }

    deinit {
        if hasBegun { deflateEnd(stream) }
        stream.deallocate()
    }

    /// The packed form of `part`, as far as a reader needs it to have all of `part`. With the last one the file ends.
    func pack(_ part: [UInt8], isLast: Bool) -> [UInt8] {
        var source = part
        var room = [UInt8](
            repeating: 0, count: min(Self.mostRoom, Int(deflateBound(stream, uLong(part.count))) + 16))
        var packed: [UInt8] = []
        source.withUnsafeMutableBufferPointer { source in
            room.withUnsafeMutableBufferPointer { room in
                (stream.pointee.next_in, stream.pointee.avail_in) = (source.baseAddress, uInt(source.count))
                repeat {
                    (stream.pointee.next_out, stream.pointee.avail_out) = (room.baseAddress, uInt(room.count))
                    deflate(stream, isLast ? Z_FINISH : Z_SYNC_FLUSH)
                    packed.append(contentsOf: room.prefix(room.count - Int(stream.pointee.avail_out)))
                } while stream.pointee.avail_out == 0
            }
        }
        return packed
    }
}

/// A text that is packed while it is sent: each part can be unpacked when it comes.
private final class PackedStream: APIAnswer.Stream {
    let mediaType: String
    private let plain: any APIAnswer.Stream
    /// The packer; nil after the end.
    private let packer: Mutex<GzipPacker?>

    /// Begins to pack `plain`; nil if there is no memory for it.
    init?(_ plain: any APIAnswer.Stream) {
        guard let packer = GzipPacker(level: Gzip.fastest) else { return nil }
        self.packer = Mutex(packer)
        self.plain = plain
        mediaType = plain.mediaType
    }

    func next() throws -> [UInt8]? {
        try packer.withLock { packer in
            guard let open = packer else { return nil }
            if let part = try plain.next() { return open.pack(part, isLast: false) }
            packer = nil
            return open.pack([], isLast: true)
        }
    }
}

extension APIAnswer {
    /// A shorter answer gains nothing.
    private static let fewestBytes = 1 << 10

    /// Tells whether gzip may make it smaller. A file is packed already; the console has chosen its form itself.
    private var isWorthPacking: Bool {
        guard file == nil, !headers.contains(where: { $0.name == "Vary" }) else { return false }
        return stream != nil || body.count >= Self.fewestBytes
    }

    /// The answer for a client that asks with `asked`: packed, if the client unpacks gzip.
    func packed(for asked: RequestHeaders) async -> APIAnswer {
        guard isWorthPacking else { return self }
        var answer = self
        answer.headers.append((name: "Vary", value: "Accept-Encoding"))
        guard asked.acceptsGzip else { return answer }
        if let stream {
            guard let packed = PackedStream(stream) else { return answer }
            answer.stream = packed
        } else {
            guard let packed = await Self.packed(body) else { return answer }
            answer.body = packed
        }
        answer.headers.append((name: "Content-Encoding", value: "gzip"))
        answer.etag = etag.map { Gzip.tag(ofPacked: $0) }
        return answer
    }

    private static func packed(_ body: [UInt8]) async -> [UInt8]? {
        if body.count < APIRequest.bytesThatTakeLong { return Gzip.packed(body, level: Gzip.fastest) }
        // On another thread, as it would delay the event loop.
        return await withTaskExecutorPreference(globalConcurrentExecutor) {
            Gzip.packed(body, level: Gzip.fastest)
        }
    }
}

extension RequestHeaders {
    /// Tells whether the client unpacks gzip, and does not prefer what is not packed (RFC 9110, 12.5.3).
    var acceptsGzip: Bool {
        guard let header = self[.acceptEncoding] else { return false }
        var weights: [String: Double] = [:]
        for coding in header.lowercased().split(separator: ",") {
            let parts = coding.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let name = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }
            weights[name] = weight.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
        }
        let gzip = weights["gzip"] ?? weights["x-gzip"] ?? weights["*"] ?? 0
        return gzip > 0 && gzip >= weights["identity"] ?? 0
    }
}
