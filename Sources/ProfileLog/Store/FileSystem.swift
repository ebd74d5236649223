internal import CLMDB
internal import Glibc

/// The file system of a folder, as far as it matters to a store (`statfs`).
package struct FileSystem: Hashable, Sendable {
    /// The meaning of a file system for a store.
    package enum Kind: Sendable {
        /// A disk of this machine.
        case local
        /// Locks and maps do not hold there: no store is opened on it.
        case network
        /// Several machines share it, and LMDB's locks are of one.
        case shared
        /// Memory, which is gone when the machine stops.
        case memory
        /// The layer of a container: gone with it.
        case container
        /// A program of users makes it: its promises are that program's.
        case program
    }

    package let kind: Kind
    package let name: String

    /// The file system of `path`; nil if the system does not tell.
    package init?(path: String) {
        var status = statfs()
        guard statfs(path, &status) == 0 else { return nil }
        self.init(number: Int(status.f_type) & 0xFFFF_FFFF)
    }

    /// `number` is `f_type`, in 32 bits.
    init(number: Int) {
        (kind, name) = Self.known[number] ?? (.local, "file system \(String(number, radix: 16))")
    }

    private static let known: [Int: (Kind, String)] = [
        0x6969: (.network, "NFS"), 0xFF53_4D42: (.network, "CIFS"), 0x517B: (.network, "SMB"),
        0xFE53_4D42: (.network, "SMB"), 0x0102_1997: (.network, "9p"), 0x0BD0_0BD0: (.network, "Lustre"),
        0x00C3_6400: (.shared, "Ceph"), 0x0116_1970: (.shared, "GFS2"), 0x7461_636F: (.shared, "OCFS2"),
        0x5346_414F: (.shared, "AFS"), 0x0102_1994: (.memory, "tmpfs"), 0x8584_58F6: (.memory, "ramfs"),
        0x794C_7630: (.container, "overlay"), 0x6573_5546: (.program, "FUSE"), 0xEF53: (.local, "ext4"),
        0x5846_5342: (.local, "XFS"), 0x9123_683E: (.local, "Btrfs"), 0x2FC1_2FC1: (.local, "ZFS"),
        0xF2F5_2010: (.local, "F2FS"),
    ]
}
