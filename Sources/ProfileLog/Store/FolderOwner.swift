internal import Glibc

/// The owner of files that root makes in a folder of another user: that user. Otherwise a command that root runs on the
/// store of a service leaves a `lock.mdb` that the service may not open.
package enum FolderOwner {
    /// Opens `file` with `flags`, and makes it with `mode` if it does not exist. Returns the descriptor, or -1 with the
    /// reason in `errno`.
    package static func open(_ file: String, _ flags: Int32, _ mode: UInt32, in folder: String) -> Int32 {
        let made = Glibc.open(file, flags | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        if made < 0 {
            if geteuid() != 0 { return Glibc.open(file, flags | O_CREAT | O_CLOEXEC, mode) }
            // Where the folder's owner has put a link that leads nowhere, root must not make the file that it names.
            return errno == EEXIST ? Glibc.open(file, flags | O_CLOEXEC) : made
        }
        give(made, in: folder)
        return made
    }

    /// Gives a file that this process made in `folder` to the folder's owner and group, if root made it.
    ///
    /// Only for a file that did not exist (`O_EXCL`): the folder's owner may have put a link there, to a file of root.
    package static func give(_ descriptor: Int32, in folder: String) {
        guard geteuid() == 0, let folder = FileIdentity(folder), folder.owner != 0 else { return }
        _ = fchown(descriptor, folder.owner, folder.group)
    }

    /// The name of a user of this machine, or `user` with the number if it has none.
    package static func name(of number: UInt32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let place = buffer.baseAddress,
                getpwuid_r(number, &entry, place, buffer.count, &found) == 0, found != nil, let name = entry.pw_name
            else { return "user \(number)" }
            return String(cString: name)
        }
    }
}

extension StorageError {
    /// The refusal to write in the folder `path`, with the owner of the first of `files` that this process may not
    /// write, or of the folder.
    static func notWritable(_ path: String, _ files: String...) -> StorageError {
        let file = files.first { FileIdentity($0) != nil && access($0, R_OK | W_OK) != 0 }
        guard let owner = FileIdentity(file ?? path)?.owner, owner != geteuid() else {
            return .notWritable(path: path, whose: nil)
        }
        let what = file?.split(separator: "/").last.map { "its \($0)" } ?? "the folder"
        return .notWritable(
            path: path,
            whose: "\(what) belongs to \(FolderOwner.name(of: owner)), and you are \(FolderOwner.name(of: geteuid()))")
    }
}
