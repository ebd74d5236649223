internal import Foundation
internal import ProfileLog

/// Standard output: data only, and no error when the reader has gone.
enum Output {
    /// The reader of standard output has closed it: the program ends quietly.
    struct ReaderHasGone: Error {}

    /// Bytes of the output, or of a file in its place, could not be written.
    struct CannotWrite: Error {
        /// The system's code.
        let code: Int32

        /// The system's words for it.
        var reason: String { code == EBADF ? "it is closed" : String(cString: strerror(code)) }

        var remedy: String {
            [ENOSPC, EDQUOT, EFBIG].contains(code)
                ? "Free some space or write elsewhere, and run the same command again."
                : "Write elsewhere, and run the same command again."
        }
    }

    /// Opens those of the three standard descriptors that a parent closed, so that no file of ours gets their number: a
    /// store's file in the place of standard output would be written to. What was closed refuses reading and writing as
    /// before.
    static func holdStandardDescriptors() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", mode)  // takes the lowest free number: this one
        }
    }

    /// Writes `line` and a line feed.
    static func print(_ line: String) throws { try write(Array((line + "\n").utf8)) }

    /// Writes `lines`, each with a line feed, at once.
    static func print(_ lines: [String]) throws {
        if !lines.isEmpty { try print(lines.joined(separator: "\n")) }
    }

    /// Prints `lines`, the answer to a write. If they cannot be written, the failure says that the write was done all
    /// the same: run again, the command would store a second time.
    ///
    /// - Parameter done: what was done, as in `Stored at position 7`; nil if nothing was.
    static func print(_ lines: [String], after done: String?) throws {
        do {
            try print(lines)
        } catch let error as CannotWrite {
            guard let done else { throw error }
            throw Failure(
                "\(done); only the answer could not be written (\(error.reason)).",
                remedy: "Do not run it again: `profilecli tail` shows what is stored.", status: .unwritable)
        }
    }

    /// As `print`, for the API's answer to a write.
    static func answer(_ lines: [String], to answer: JSONObject) throws {
        let isNews = answer["repeated"].flag != true && answer["changed"].flag != false && answer["left"].flag != false
        try print(lines, after: isNews ? answer["position"].integer.map { "Stored at position \($0)" } : nil)
    }

    /// As `print`, for the API's answer to a write.
    static func answer(_ line: String, to answer: JSONObject) throws { try self.answer([line], to: answer) }

    /// Writes `bytes` to `descriptor`.
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

    /// Writes one line to standard error.
    static func message(_ line: String) { try? write(Array((line + "\n").utf8), to: STDERR_FILENO) }
}

/// `write`, which a method of `Output` hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

/// The reader of standard output, where that is a pipe.
enum Reader {
    /// From now on the program ends as soon as the reader has gone, also while there is nothing to write.
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
