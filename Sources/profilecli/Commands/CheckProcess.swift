internal import Foundation
internal import ProfileLog

/// The process of its own in which `check` reads the store: a broken page may end it, and its parent lives to say so.
enum CheckProcess {
    /// How it ended.
    enum Ending {
        /// It has said all there is to say.
        case exited(status: Int32)
        /// A page was broken, and this is what it had begun to read; nil while it opened the store.
        case brokenPage(LogProgress?)
    }

    /// Its exit status after a broken page.
    static let brokenPageStatus: Int32 = 3

    /// Runs this program again with `arguments` and `--progress-to`, on the same terminal, and waits for its end.
    static func run(_ arguments: [String]) throws -> Ending {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw cannotStart(errno) }
        let (reading, writing) = (ends[0], ends[1])
        _ = fcntl(reading, F_SETFD, FD_CLOEXEC)
        var words: [UnsafeMutablePointer<CChar>?] = (["profilecli"] + arguments + ["--progress-to", "\(writing)"])
            .map { strdup($0) }
        var variables: [UnsafeMutablePointer<CChar>?] = ProcessInfo.processInfo.environment
            .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            .map { strdup("\($0.key)=\($0.value)") }
        defer { for text in words + variables { free(text) } }
        words.append(nil)
        variables.append(nil)
        var process = pid_t()
        let code = posix_spawn(&process, "/proc/self/exe", nil, nil, words, variables)
        close(writing)
        defer { close(reading) }
        guard code == 0 else { throw cannotStart(code) }
        let progress = lastProgress(reading)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        // As WIFSIGNALED and WEXITSTATUS.
        let (signal, exitStatus) = (status & 0x7F, status >> 8 & 0xFF)
        switch signal {
        case 0: return exitStatus == brokenPageStatus ? .brokenPage(progress) : .exited(status: exitStatus)
        case SIGABRT, SIGBUS, SIGSEGV: return .brokenPage(progress)
        default:
            throw Failure(
                "The check was ended by signal \(signal) before it could say anything.",
                remedy: "Run it again; with signal 9, give it more memory.")
        }
    }

    /// Tells the parent, through `descriptor`, what is about to be read. Ends the process if the parent has gone.
    static func tell(_ progress: LogProgress, to descriptor: Int32) {
        do {
            try Output.write(Array("\(progress.done) \(progress.total) \(progress.stage)\n".utf8), to: descriptor)
        } catch {
            endProcess(ExitStatus.failed.rawValue)
        }
    }

    /// What `tell` said last, once the process has ended.
    private static func lastProgress(_ descriptor: Int32) -> LogProgress? {
        let lines = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        var last: [UInt8] = []
        while let bytes = try? lines.read(upToCount: 4096), !bytes.isEmpty { last = (last + bytes).suffix(256) }
        let words = String(decoding: last, as: UTF8.self).split(separator: "\n").last?.split(
            separator: " ", maxSplits: 2)
        guard let words, words.count == 3, let done = UInt64(words[0]), let total = UInt64(words[1]) else { return nil }
        return LogProgress(stage: String(words[2]), done: done, total: total)
    }

    private static func cannotStart(_ code: Int32) -> Failure {
        Failure(
            "The check cannot be started: \(String(cString: strerror(code))).",
            remedy: "Stop other programs and run it again.")
    }
}
