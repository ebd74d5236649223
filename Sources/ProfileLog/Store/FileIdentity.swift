internal import CFiles
internal import Glibc

/// Identifies a file by device and inode, independent of its path.
package struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let bytes: UInt64
    let mode: mode_t
    let owner: uid_t
    let group: gid_t

    /// The file at `path`; nil if there is none.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The file of an open descriptor.
    package init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        bytes = UInt64(status.st_size)
        mode = status.st_mode & 0o777
        (owner, group) = (status.st_uid, status.st_gid)
    }

    /// Tells whether this file is at `path`.
    ///
    /// `statx` reads the inode's number only. After a `stat`, which reads the times too, Linux (6.13 and later) gives
    /// the next write a time of its own, and the sync of each commit takes a third longer.
    func isAt(_ path: String) -> Bool {
        var (device, inode) = (UInt64(0), UInt64(0))
        return profilelog_identity(path, &device, &inode) == 0 && device == self.device && inode == self.inode
    }

    package static func == (left: FileIdentity, right: FileIdentity) -> Bool {
        left.device == right.device && left.inode == right.inode
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
    }
}

/// The two files of a store.
struct StoreFiles: Sendable {
    let data, lock: FileIdentity
    private let dataPath, lockPath: String

    /// Reads the files in the folder `path` now; nil if one is missing.
    init?(_ path: String) {
        (dataPath, lockPath) = (Environment.dataFile(in: path), Environment.lockFile(in: path))
        guard let data = FileIdentity(dataPath), let lock = FileIdentity(lockPath) else { return nil }
        (self.data, self.lock) = (data, lock)
    }

    /// Tells whether both are still at their paths.
    var areInPlace: Bool { data.isAt(dataPath) && lock.isAt(lockPath) }

    /// Tells whether both hold what LMDB writes first. The files of an open store always do.
    var areComplete: Bool { data.bytes > MetaPages.bytes && lock.bytes > 0 }
}
