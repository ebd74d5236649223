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
        unfinished = isOrdinary ? "\(target ?? path).\(getpid()).unfinished" : nil
        descriptor = open(unfinished ?? path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Self.unwritable(path) }
        // Who may not write the file itself may not replace it either.
        if isOrdinary, target != nil, access(path, W_OK) != 0 {
            let failure = Self.unwritable(path)
            discard()
            throw failure
        }
        if isOrdinary, target != nil { fchmod(descriptor, status.st_mode & 0o7777) }
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
        Failure("Stopped by Ctrl-C; no file was written.", remedy: "Run it again.", status: .interrupted)
    }

    private func finish() throws {
        guard let path else { return }
        guard close(descriptor) == 0 else { throw Self.unwritable(path) }
        guard let unfinished else { return }
        let target = String(unfinished.dropLast(".\(getpid()).unfinished".count))
        guard rename(unfinished, target) == 0 else { throw Self.unwritable(path) }
    }

    private func discard() { if let unfinished { unlink(unfinished) } }
}
