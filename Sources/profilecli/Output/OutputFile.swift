internal import Foundation

/// Where a long output goes: standard output, or a file that has its name only when it is complete.
struct OutputFile {
    /// Where to write.
    let descriptor: Int32
    private let path: String?
    /// Its name until it is complete; nil for what is no ordinary file.
    private let unfinished: String?

    /// Opens a file for `path`, or standard output for nil. With a file, Ctrl-C is noted from now on, and no more.
    init(_ path: String?) throws {
        self.path = path
        guard let path else {
            (descriptor, unfinished) = (STDOUT_FILENO, nil)
            return
        }
        Interrupt.watch()
        // A link stays one, and what is written to is what it names.
        let target = realpath(path, nil).map { name in
            defer { free(name) }
            return String(cString: name)
        }
        var status = stat()
        let isOrdinary = stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
        if isOrdinary { Self.removeLeft(of: target ?? path) }
        unfinished = isOrdinary ? "\(target ?? path).\(getpid())\(Self.suffix)" : nil
        descriptor = open(unfinished ?? path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Self.unwritable(path) }
        if isOrdinary { flock(descriptor, LOCK_EX | LOCK_NB) }
        // Who may not write the file itself may not replace it either.
        if isOrdinary, target != nil, access(path, W_OK) != 0 {
            let failure = Self.unwritable(path)
            discard()
            throw failure
        }
        guard isOrdinary, target != nil else { return }
        // Root keeps the owner, others the group if it is one of theirs; the mode comes last, as a change of owner takes from it.
        if fchown(descriptor, status.st_uid, status.st_gid) != 0 { fchown(descriptor, uid_t.max, status.st_gid) }
        fchmod(descriptor, status.st_mode & 0o7777)
    }

    private static let suffix = ".unfinished"

    /// Removes what programs that were killed have left of `target`: files of processes that are no more, and that nobody holds.
    private static func removeLeft(of target: String) {
        let url = URL(filePath: target)
        let folder = url.deletingLastPathComponent()
        let begin = url.lastPathComponent + "."
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(begin) && name.hasSuffix(suffix) {
            guard let process = pid_t(name.dropFirst(begin.count).dropLast(suffix.count)), process > 0,
                kill(process, 0) != 0, errno == ESRCH
            else { continue }
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
        guard close(descriptor) == 0 else { throw Self.unwritable(path) }
        guard let unfinished else { return }
        let target = String(unfinished.dropLast(".\(getpid())\(Self.suffix)".count))
        guard rename(unfinished, target) == 0 else { throw Self.unwritable(path) }
    }

    private func discard() { if let unfinished { unlink(unfinished) } }
}
