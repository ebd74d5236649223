internal import Foundation

/// Where a long output goes: standard output, or a file that has its name only when it is complete.
struct OutputFile {
    /// Where to write.
    let descriptor: Int32
    private let path: String?
    /// Its name until it is complete, and the one that it has then; nil for what is no ordinary file.
    private let names: (unfinished: String, complete: String)?

    /// Opens a file for `path`, or standard output for nil. With a file, Ctrl-C is noted from now on, and no more.
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
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            names = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.unwritable(path) }
            return
        }
        // A link stays one, and what is written to is what it names.
        let target = Self.behindLinks(path)
        Self.removeLeft(of: target)
        let made = Self.make(for: target, mode: isThere ? 0o600 : 0o644)
        (names, descriptor) = ((made.name, target), made.descriptor)
        guard descriptor >= 0 else { throw Self.unwritable(path) }
        guard isThere else { return }
        // Who may not write the file itself may not replace it either.
        guard access(path, W_OK) == 0 else {
            let failure = Self.unwritable(path)
            discard()
            throw failure
        }
        // Root keeps the owner, others the group if it is one of theirs; the mode comes last, as a change of owner takes from it. Another
        // group gets nothing that the file's had.
        let hasGroup =
            fchown(descriptor, status.st_uid, status.st_gid) == 0 || fchown(descriptor, uid_t.max, status.st_gid) == 0
        fchmod(descriptor, status.st_mode & (hasGroup ? 0o777 : 0o707))
    }

    /// Whether `path` is standard output by a name. Opened by it, a file that stands there would be begun anew.
    static func isStandardOutput(_ path: String) -> Bool {
        ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(path)
    }

    /// The file that `path` names, behind links; it may not be there yet.
    private static func behindLinks(_ path: String) -> String {
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

    private static let suffix = ".unfinished"

    /// Makes a file that is to become `target`, under a name that no other has, and holds it. Without it, the descriptor is below 0.
    private static func make(for target: String, mode: mode_t) -> (name: String, descriptor: Int32) {
        while true {
            // Short, for a file's name ends at 255 bytes.
            let name = "\(target).\(Int.random(in: 0..<10_000_000))\(suffix)"
            let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            if descriptor < 0, errno == EEXIST { continue }
            guard descriptor >= 0 else { return (name, descriptor) }
            flock(descriptor, LOCK_EX)
            var status = stat()
            // Before it was held, another program may have taken it for one that was left.
            if fstat(descriptor, &status) != 0 || status.st_nlink > 0 { return (name, descriptor) }
            close(descriptor)
        }
    }

    /// Removes what programs that were killed have left of `target`: files that nobody holds. The number of a process would say nothing:
    /// in another container another one has it.
    private static func removeLeft(of target: String) {
        let url = URL(filePath: target)
        let folder = url.deletingLastPathComponent()
        let begin = url.lastPathComponent + "."
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(begin) && name.hasSuffix(suffix) {
            guard UInt64(name.dropFirst(begin.count).dropLast(suffix.count)) != nil else { continue }
            let path = folder.appending(path: name).path
            let left = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard left >= 0 else { continue }
            if flock(left, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
            close(left)
        }
    }

    private static func unwritable(_ path: String) -> Failure {
        Failure(
            "The file \(path) cannot be written: \(String(cString: strerror(errno))).",
            remedy: "Check the path and the folder's permissions.")
    }

    /// Runs `body`, which writes everything and calls `goOn` now and then; what it leaves unfinished is removed.
    func write(_ body: (_ goOn: () throws -> Void) async throws -> Void) async throws {
        do {
            try await body { if path != nil, Interrupt.isRequested { throw Self.stopped } }
            try finish()
        } catch {
            discard()
            throw error
        }
    }

    private static var stopped: Failure {
        Failure("Stopped by \(Interrupt.name); no file was written.", remedy: "Run it again.", status: Interrupt.status)
    }

    private func finish() throws {
        guard let path else { return }
        // Behind this the file is held until it has its name.
        let held = dup(descriptor)
        defer { close(held) }
        guard close(descriptor) == 0 else { throw Self.unwritable(path) }
        guard let names else { return }
        guard rename(names.unfinished, names.complete) == 0 else { throw Self.unwritable(path) }
    }

    private func discard() { if let names { unlink(names.unfinished) } }
}
