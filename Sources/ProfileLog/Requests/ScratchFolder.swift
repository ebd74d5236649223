internal import Foundation

/// A temporary folder for one process, whose owner alone may look into it; removed with the value, or with `remove`.
///
/// A file in it is locked for as long as the process lives. So a folder whose process was killed can be told from one
/// in use, and is removed by the next process that makes one with the same prefix: it holds persons' data.
package final class ScratchFolder: Sendable {
    /// The reason why no folder could be made.
    package struct FolderError: Error {
        package let parent: String
        /// The system's code.
        package let code: Int32

        package var description: String {
            "No temporary folder can be made in \(parent): \(String(cString: strerror(code)))."
        }
        package var remedy: String {
            "Free some space, or name another folder in the environment variable TMPDIR."
        }
    }

    package let path: String
    private let lock: Int32
    private static let lockName = "in-use"

    /// Makes a folder in `parent`, whose name begins with `prefix`.
    package init(
        prefix: String, in parent: String = FileManager.default.temporaryDirectory.path
    ) throws(FolderError) {
        Self.removeAbandoned(prefix, in: parent)
        var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw FolderError(parent: parent, code: errno) }
        path = template.withUnsafeBufferPointer {
            String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        // Locked before it has its name, so that other processes find it locked.
        let unnamed = "\(path)/\(Self.lockName)-soon"
        lock = open(unnamed, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0, rename(unnamed, "\(path)/\(Self.lockName)") == 0 else {
            throw FolderError(parent: parent, code: errno)
        }
    }

    /// Makes a folder in memory if the system has one and `TMPDIR` names no other place: for a store that is not kept,
    /// and whose writes would each wait for the sync of a disk.
    package static func inMemory(prefix: String) throws(FolderError) -> ScratchFolder {
        let isPlaced = ProcessInfo.processInfo.environment["TMPDIR"]?.isEmpty == false
        if !isPlaced, let folder = try? ScratchFolder(prefix: prefix, in: "/dev/shm") { return folder }
        return try ScratchFolder(prefix: prefix)
    }

    deinit {
        remove()
        if lock >= 0 { close(lock) }
    }

    /// Removes the folder with its content.
    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    private static func removeAbandoned(_ prefix: String, in parent: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let folder = "\(parent)/\(name)"
            // Without the file, its process is just making it.
            let lock = open("\(folder)/\(lockName)", O_RDWR | O_CLOEXEC)
            guard lock >= 0 else { continue }
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(atPath: folder) }
            close(lock)
        }
    }
}
