internal import Foundation

/// A temporary folder for the stores of one service: its own, and removed when the service ends.
///
/// A file in it is locked for as long as the process lives. So a folder whose process was killed can be told from one in use, and
/// is removed by the next service that makes one.
final class EphemeralFolder: Sendable {
    private static let prefix = "profiled-ephemeral-"
    private static let lockName = "in-use"

    let path: String
    private let lock: Int32

    init() throws(StartFailure) {
        let parent = FileManager.default.temporaryDirectory.path
        Self.removeAbandoned(in: parent)
        var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Self.failure(parent) }
        path = template.withUnsafeBufferPointer {
            String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        // Locked before it has its name: whoever finds it finds it locked.
        let unnamed = "\(path)/\(Self.lockName)-soon"
        lock = open(unnamed, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0, rename(unnamed, "\(path)/\(Self.lockName)") == 0 else {
            throw Self.failure(parent)
        }
    }

    /// Removes the folder with all that is in it.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
        close(lock)
    }

    private static func failure(_ parent: String) -> StartFailure {
        StartFailure(
            "No temporary folder can be made in \(parent): \(String(cString: strerror(errno))).",
            remedy: "Free some space, or name another folder in the environment variable TMPDIR.")
    }

    private static func removeAbandoned(in parent: String) {
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
