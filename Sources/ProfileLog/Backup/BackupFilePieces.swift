internal import Glibc

/// The content of a file, in pieces: a file of a backup may be larger than the memory that a run should need.
final class BackupFilePieces {
    private let file: String
    private let descriptor: Int32
    /// The bytes of the file when it was opened.
    let size: Int
    private var offset = 0

    static let pieceBytes = 1 << 20

    /// Opens the file `name` in the folder `path`; nil if there is none. With `count`, a file of another size is
    /// refused.
    init?(of name: String, in path: String, count: Int? = nil) throws(BackupError) {
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .unreachable(path: file, code: errno)
        }
        do throws(BackupError) {
            size = try Self.size(descriptor, file, count)
        } catch {
            close(descriptor)
            throw error
        }
        (self.file, self.descriptor) = (file, descriptor)
    }

    deinit { close(descriptor) }

    private static func size(_ descriptor: Int32, _ file: String, _ count: Int?) throws(BackupError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreachable(path: file, code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .damaged(path: file, reason: "it is no regular file") }
        let size = Int(status.st_size)
        if let count, count != size {
            throw .damaged(path: file, reason: "it has \(size) bytes, and the manifest says \(count)")
        }
        return size
    }

    /// The next piece, of `most` bytes or what is left; nil at the end.
    func next(most: Int = BackupFilePieces.pieceBytes) throws(BackupError) -> [UInt8]? {
        let count = min(most, size - offset)
        if count <= 0 { return nil }
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let more = read(
                    descriptor, UnsafeMutableRawPointer(buffer.baseAddress)?.advanced(by: filled), count - filled)
                if more > 0 {
                    filled += more
                } else if more == 0 || errno != EINTR {
                    if more < 0 { failure = errno }
                    return
                }
            }
        }
        if failure != 0 { throw .unreachable(path: file, code: failure) }
        guard bytes.count == count else { throw .damaged(path: file, reason: "it was cut while it was read") }
        offset += count
        return bytes
    }
}
