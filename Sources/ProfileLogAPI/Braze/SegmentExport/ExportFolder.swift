internal import Foundation
internal import Glibc

/// A folder of this process in the temporary one: its owner alone may look into it, and a lock tells that the process lives.
///
/// What a process that was killed left is removed by the next one that makes such a folder: it holds persons' data.
final class ExportFolder: Sendable {
    let path: String
    private let lock: Int32

    private static let prefix = "profilelog-exports-"
    private static let lockName = "lock"

    /// Makes the folder in `parent`.
    init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        Self.removeAbandoned(in: parent)
        let folder = parent.appendingPathComponent(Self.prefix + UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        path = folder.path
        lock = open("\(path)/\(Self.lockName)", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        if lock >= 0 { close(lock) }
    }

    private static func removeAbandoned(in parent: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let folder = parent.appendingPathComponent(name).path
            let lock = open("\(folder)/\(lockName)", O_RDWR | O_CLOEXEC)
            // Without a lock file it is being made, or not ours.
            guard lock >= 0 else { continue }
            defer { close(lock) }
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(atPath: folder) }
        }
    }
}
