internal import Glibc

/// The space of a disk, for users without special rights (`statvfs`).
package struct DiskSpace: Hashable, Sendable {
    /// Bytes that may still be written.
    package let free: UInt64
    /// Bytes of the disk.
    package let size: UInt64

    /// The disk on which `path` is; nil if the system does not tell.
    package init?(path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        size = UInt64(status.f_blocks) * UInt64(status.f_frsize)
    }
}
