internal import Foundation
internal import ProfileLog
internal import Synchronization

/// Standard output: data only, and no error when the reader has gone.
///
/// All text goes through here, and a line of it holds nothing that must not be printed (`String.oneLine`): a name that
/// a client chose cannot write into a terminal. JSON stays the same JSON, for what is shown is its escape.
enum Output {
    /// The reader of standard output has closed it: the program ends quietly.
    struct ReaderHasGone: Error {}

    /// Bytes of the output, or of a file in its place, could not be written.
    struct CannotWrite: Error {
        let code: Int32

        var reason: String { code == EBADF ? "it is closed" : String(cString: strerror(code)) }

        var remedy: String {
            [ENOSPC, EDQUOT, EFBIG].contains(code)
                ? "Free some space or write elsewhere, and run the same command again."
                : "Write elsewhere, and run the same command again."
        }
    }

    /// Opens those of the three standard descriptors that a parent closed: else a store's file could get the number of
    /// standard output, and be written to. What was closed still refuses reading and writing.
    static func holdStandardDescriptors() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", mode)  // takes the lowest free number: this one
        }
    }

    static func print(_ line: String) throws { try print([line]) }

    static func print(_ lines: [String]) throws {
        if !lines.isEmpty { try write(Array(shown(lines).utf8)) }
    }

    /// Prints `lines`, the answer to a write. If that fails, the error says what was `done`, as in `Stored at position
    /// 7`: the same command would store it a second time.
    static func print(_ lines: [String], after done: String?) throws {
        do {
            try print(lines)
        } catch let error as CannotWrite {
            guard let done else { throw error }
            throw CommandError(
                "\(done); only the answer could not be written (\(error.reason)).",
                remedy: "Do not run it again: `profilecli tail` shows what is stored.", status: .unwritable)
        }
    }

    static func answer(_ line: String, to answer: JSONObject) throws { try self.answer([line], to: answer) }

    static func answer(_ lines: [String], to answer: JSONObject) throws {
        let isNews = !answer.flag("repeated") && answer["changed"].flag != false && answer["left"].flag != false
        try print(lines, after: isNews ? answer["position"].integer.map { "Stored at position \($0)" } : nil)
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32 = STDOUT_FILENO) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            let code = errno
            if code == EINTR { continue }
            if code == EPIPE { throw ReaderHasGone() }
            throw CannotWrite(code: code)
        }
    }

    static func message(_ line: String) { try? write(Array(shown([line]).utf8), to: STDERR_FILENO) }

    /// Prints an answer's note about itself. The pages of one list may have the same note: it is printed once.
    static func note(_ sentence: String) {
        if notes.withLock({ $0.insert(sentence).inserted }) { message(sentence.oneLine) }
    }

    private static let notes = Mutex<Set<String>>([])

    /// `lines` as they are printed.
    static func shown(_ lines: [String]) -> String {
        lines.reduce(into: "") { text, line in
            let parts = line.components(separatedBy: Style.mark).map(\.oneLine)
            text += parts.joined(separator: "\u{1B}[") + "\n"
        }
    }

    /// Writes `lines`, each of which ends in a line feed. A file gets the bytes as they are. On standard output JSON is
    /// escaped further, and CSV, which has no escapes, is made printable for a terminal only.
    static func write(lines: [UInt8], isJSON: Bool = true, to descriptor: Int32 = STDOUT_FILENO) throws {
        guard descriptor == STDOUT_FILENO, isJSON || Terminal.isOutput,
            lines.contains(where: { $0 > 0x7E || $0 < 0x20 && $0 != 0x0A })
        else { return try write(lines, to: descriptor) }
        var shown: [UInt8] = []
        shown.reserveCapacity(lines.count)
        for var line in lines.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if !isJSON, line.last == 0x0D { line.removeLast() }
            if line.allSatisfy({ 0x20...0x7E ~= $0 }) {
                shown += line
            } else {
                shown += String(decoding: line, as: UTF8.self).printable().utf8
            }
            shown.append(0x0A)
        }
        shown.removeLast()
        try write(shown, to: descriptor)
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

/// The reader of standard output, where that is a pipe.
enum Reader {
    /// Lets the program end from now on as soon as the reader has gone, also while there is nothing to write.
    static func endProcessWhenGone() {
        startThread("output-reader") {
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            let gone = Int16(POLLERR | POLLHUP)
            while poll(&output, 1, -1) >= 0 || errno == EINTR {
                if output.revents & gone != 0 { endProcess(ExitStatus.done.rawValue) }
                if output.revents & Int16(POLLNVAL) != 0 { return }
            }
        }
    }
}

/// The file of a long output: standard output, or a file that has its name only when it is complete.
struct OutputFile {
    let descriptor: Int32
    private let path: String?
    /// Its name until it is complete, and the final one; nil for what is not a regular file.
    private let names: (unfinished: String, complete: String)?

    /// Opens a file for `path`, or standard output for nil. With a file, Ctrl-C stops the write at a good place. A new
    /// file gets `mode`, less what the umask forbids; the default is for personal data, which only the owner may read.
    /// One that exists keeps its mode, owner and group.
    init(_ path: String?, mode: mode_t = 0o600) throws {
        guard let path, !Self.isStandardOutput(path) else {
            (self.path, descriptor, names) = (nil, STDOUT_FILENO, nil)
            return
        }
        self.path = path
        Interrupt.watch()
        var status = stat()
        let isThere = stat(path, &status) == 0
        // A file that its user may not write may not be replaced either.
        guard isThere ? access(path, W_OK) == 0 : errno == ENOENT else { throw Self.unwritable(path) }
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            names = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        } else {
            // A link stays one: its target is written.
            let target = Self.followingLinks(path)
            // Short, for a file's name ends at 255 bytes.
            let unfinished = "\(target).\(Int.random(in: 0..<10_000_000)).unfinished"
            names = (unfinished, target)
            descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isThere ? 0o600 : mode)
        }
        guard descriptor >= 0 else { throw Self.unwritable(path) }
        guard isThere, names != nil else { return }
        // Only root can keep the owner. Another group gets no rights. The mode comes last: a change of owner clears it.
        let hasGroup =
            fchown(descriptor, status.st_uid, status.st_gid) == 0 || fchown(descriptor, uid_t.max, status.st_gid) == 0
        fchmod(descriptor, status.st_mode & (hasGroup ? 0o777 : 0o707))
    }

    /// Tells whether `path` is a name of standard output. Opened by it, the file there would be written from its start.
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

    /// A failure that says by `errno` why the file cannot be written.
    static func unwritable(_ path: String) -> CommandError {
        CommandError(
            "The file \(path) cannot be written: \(String(cString: strerror(errno))).",
            remedy: "Check the path and the folder's permissions.")
    }

    /// Runs `body`, which writes everything and calls `goOn` now and then; an unfinished file is removed.
    func write<Result>(_ body: (_ goOn: () throws -> Void) async throws -> Result) async throws -> Result {
        do {
            let result = try await body {
                if path == nil || !Interrupt.isRequested { return }
                throw CommandError(
                    "Stopped by \(Interrupt.name); no file was written.", remedy: "Run it again.",
                    status: Interrupt.status)
            }
            guard let path else { return result }
            if let names, rename(names.unfinished, names.complete) != 0 { throw Self.unwritable(path) }
            guard close(descriptor) == 0 else { throw Self.unwritable(path) }
            return result
        } catch {
            if let names { unlink(names.unfinished) }
            throw error
        }
    }
}
