internal import Foundation

/// Where a long output goes: standard output, or a file that has its name only when it is complete.
struct OutputFile {
    /// Where to write.
    let descriptor: Int32
    private let path: String?
    /// Its name until it is complete, and the final one; nil for what is not a regular file.
    private let names: (unfinished: String, complete: String)?

    /// Opens a file for `path`, or standard output for nil. With a file, Ctrl-C stops the write at a good place.
    init(_ path: String?) throws {
        guard let path, !Self.isStandardOutput(path) else {
            (self.path, descriptor, names) = (nil, STDOUT_FILENO, nil)
            return
        }
        self.path = path
        Interrupt.watch()
        var status = stat()
        let isThere = stat(path, &status) == 0
        guard isThere || errno == ENOENT else { throw Self.unwritable(path) }
        // A file that its user may not write may not be replaced either.
        guard !isThere || access(path, W_OK) == 0 else { throw Self.unwritable(path) }
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            names = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        } else {
            // A link stays one: its target is written.
            let target = Self.followingLinks(path)
            // Short, for a file's name ends at 255 bytes.
            let unfinished = "\(target).\(Int.random(in: 0..<10_000_000)).unfinished"
            names = (unfinished, target)
            descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isThere ? 0o600 : 0o644)
        }
        guard descriptor >= 0 else { throw Self.unwritable(path) }
        guard isThere, names != nil else { return }
        // Root keeps the owner, others the group if they belong to it; the mode comes last, as a change of owner clears
        // parts of it. Another group gets none of the old group's rights.
        let hasGroup =
            fchown(descriptor, status.st_uid, status.st_gid) == 0 || fchown(descriptor, uid_t.max, status.st_gid) == 0
        fchmod(descriptor, status.st_mode & (hasGroup ? 0o777 : 0o707))
    }

    /// Whether `path` is a name of standard output. Opened by it, the file there would be written from its start.
    static func isStandardOutput(_ path: String) -> Bool {
        ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(path)
    }

    /// The file that the links of `path` lead to; it may not exist yet.
    private static func followingLinks(_ path: String) -> String {
        if let name = realpath(path, nil) {
            defer { free(name) }
            return String(cString: name)
        }
        var path = path
        while let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
            path = next.hasPrefix("/") ? next : folder + next
        }
        return path
    }

    private static func unwritable(_ path: String) -> Failure {
        Failure(
            "The file \(path) cannot be written: \(String(cString: strerror(errno))).",
            remedy: "Check the path and the folder's permissions.")
    }

    /// Runs `body`, which writes everything and calls `goOn` now and then; an unfinished file is removed.
    func write<Result>(_ body: (_ goOn: () throws -> Void) async throws -> Result) async throws -> Result {
        do {
            let result = try await body {
                if path == nil || !Interrupt.isRequested { return }
                throw Failure(
                    "Stopped by \(Interrupt.name); no file was written.", remedy: "Run it again.",
                    status: Interrupt.status)
            }
            guard let path else { return result }
            guard close(descriptor) == 0 else { throw Self.unwritable(path) }
            if let names, rename(names.unfinished, names.complete) != 0 { throw Self.unwritable(path) }
            return result
        } catch {
            if let names { unlink(names.unfinished) }
            throw error
        }
    }
}
