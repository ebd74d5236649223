internal import Glibc

/// Which file it is, whatever path leads to it.
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let bytes: UInt64

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        bytes = UInt64(status.st_size)
    }

    static func == (left: FileIdentity, right: FileIdentity) -> Bool {
        left.device == right.device && left.inode == right.inode
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
    }
}
