public import Foundation

/// Folders for the stores and files of tests.
public enum TestFolders {
    /// The path of a new folder whose name begins with `prefix`. The folder is not made.
    public static func new(_ prefix: String) -> URL { parent.appending(path: "\(prefix)-\(UUID().uuidString)") }

    /// The folder of this process. It lies in memory where there is enough, unless `TMPDIR` names a place.
    ///
    /// No test cuts the power, and a killed process loses nothing that the system has taken from it. A disk would add
    /// only the time of its syncs, which is nine tenths of the time of all tests.
    public static let parent: URL = {
        let memory = "/dev/shm"
        var status = statvfs()
        let isLarge = statvfs(memory, &status) == 0 && UInt64(status.f_bavail) * UInt64(status.f_frsize) >= 2 << 30
        let isAsked = ProcessInfo.processInfo.environment["TMPDIR"] != nil
        guard isLarge, !isAsked, access(memory, W_OK) == 0 else { return FileManager.default.temporaryDirectory }
        // What a process that crashed left there would fill the memory.
        let prefix = "profilelog-tests-"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: memory)) ?? [] where name.hasPrefix(prefix) {
            guard let process = pid_t(name.dropFirst(prefix.count)), kill(process, 0) != 0, errno == ESRCH else {
                continue
            }
            try? FileManager.default.removeItem(atPath: "\(memory)/\(name)")
        }
        let own = "\(memory)/\(prefix)\(getpid())"
        return mkdir(own, 0o755) == 0 || errno == EEXIST ? URL(filePath: own) : FileManager.default.temporaryDirectory
    }()
}
