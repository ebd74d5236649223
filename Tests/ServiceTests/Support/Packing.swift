import CZlib
import Testing

/// Packs and unpacks with zlib.
enum Packing {
    static func gzip(_ text: String) throws -> [UInt8] { try gzip(Array(text.utf8)) }

    static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        defer { stream.deallocate() }
        stream.initialize(to: z_stream())
        try #require(gzip_pack_begin(stream, 6) == Z_OK)
        defer { deflateEnd(stream) }
        var source = bytes
        var packed = [UInt8](repeating: 0, count: Int(deflateBound(stream, uLong(bytes.count))))
        let code = source.withUnsafeMutableBufferPointer { source in
            packed.withUnsafeMutableBufferPointer { packed in
                (stream.pointee.next_in, stream.pointee.avail_in) = (source.baseAddress, uInt(source.count))
                (stream.pointee.next_out, stream.pointee.avail_out) = (packed.baseAddress, uInt(packed.count))
                return deflate(stream, Z_FINISH)
            }
        }
        try #require(code == Z_STREAM_END)
        return Array(packed.prefix(Int(stream.pointee.total_out)))
    }

    /// As `deflate` of HTTP: with zlib's header.
    static func deflated(_ text: String) throws -> [UInt8] {
        let source = Array(text.utf8)
        var count = compressBound(uLong(source.count))
        var packed = [UInt8](repeating: 0, count: Int(count))
        try #require(compress(&packed, &count, source, uLong(source.count)) == Z_OK)
        return Array(packed.prefix(Int(count)))
    }

    /// The content of a whole gzip file.
    static func ungzip(_ packed: [UInt8]) throws -> [UInt8] {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        defer { stream.deallocate() }
        stream.initialize(to: z_stream())
        try #require(gzip_begin(stream) == Z_OK)
        defer { inflateEnd(stream) }
        var source = packed
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 << 10)
        var code = Z_OK
        source.withUnsafeMutableBufferPointer { source in
            (stream.pointee.next_in, stream.pointee.avail_in) = (source.baseAddress, uInt(source.count))
            while code == Z_OK {
                code = room.withUnsafeMutableBufferPointer { room in
                    (stream.pointee.next_out, stream.pointee.avail_out) = (room.baseAddress, uInt(room.count))
                    return inflate(stream, Z_NO_FLUSH)
                }
                bytes.append(contentsOf: room[..<(room.count - Int(stream.pointee.avail_out))])
            }
        }
        try #require(code == Z_STREAM_END && stream.pointee.avail_in == 0)
        return bytes
    }
}
