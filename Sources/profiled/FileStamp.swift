internal import CoreFoundation
internal import Foundation

/// The version of a file: every change gives other numbers.
struct FileStamp: Equatable, Sendable {
    private let inode: UInt64
    private let seconds: Int
    private let nanoseconds: Int
    private let bytes: Int

    init(_ status: stat) {
        inode = UInt64(status.st_ino)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
        bytes = Int(status.st_size)
    }

    /// Looks at the file at `path`, or at the one that a link there leads to; nil if there is none.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
