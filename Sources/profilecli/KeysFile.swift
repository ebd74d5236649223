internal import Foundation
internal import ProfileLog

/// The file in a store's folder with the hashes of the service's keys, which `profiled` writes and reads.
enum KeysFile {
    /// Copies the file of the store in `source` into the folder `target`, for its owner only, unless there is one:
    /// a copy of a store is not more open than the store. Returns whether the target has keys now.
    static func copy(from source: String, into target: String) throws -> Bool {
        let (from, to) = (source + "/keys.json", target + "/keys.json")
        var status = stat()
        if lstat(to, &status) == 0 { return true }
        guard stat(from, &status) == 0 else {
            if errno == ENOENT { return false }
            throw failure(from)
        }
        guard let keys = FileManager.default.contents(atPath: from) else { throw failure(from) }
        if mkdir(target, 0o700) != 0, errno != EEXIST { throw failure(target) }
        let new = to + ".new-\(getpid())"
        unlink(new)
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(to) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: keys)
            try file.synchronize()
            guard rename(new, to) == 0 else { throw failure(to) }
        } catch {
            let failure = error as? CommandError ?? failure(to)
            unlink(new)
            throw failure
        }
        return true
    }

    private static func failure(_ path: String) -> CommandError {
        CommandError(
            "The keys of the service cannot be copied: \(path): \(String(cString: strerror(errno))).",
            remedy: "Nothing was copied. Check the permissions and the space there, and run the same command again.")
    }
}
