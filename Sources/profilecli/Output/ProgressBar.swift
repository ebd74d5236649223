internal import Foundation
internal import ProfileLog
internal import Synchronization

/// A bar on standard error with rate and remaining time; nothing if that is not a terminal.
struct ProgressBar {
    private let clock = ContinuousClock()
    private let isShown: Bool
    private var stage = ""
    private var begin: ContinuousClock.Instant
    /// The work that was done when the stage began: work that goes on where it stopped.
    private var doneBefore: UInt64 = 0
    private var lastDrawn: ContinuousClock.Instant?
    private(set) var isDrawn = false
    static let erasure = "\r\u{1B}[K"

    init(isShown: Bool = Terminal.isError) {
        self.isShown = isShown
        begin = clock.now
    }

    /// Draws how far the work has come, at most ten times a second.
    mutating func update(_ progress: LogProgress) {
        guard isShown else { return }
        let now = clock.now
        if progress.stage != stage {
            stage = progress.stage
            begin = now
            doneBefore = progress.done < progress.total ? progress.done : 0
        } else if let lastDrawn, now - lastDrawn < .milliseconds(100), progress.done != progress.total {
            return
        }
        lastDrawn = now
        let line = Self.line(
            progress, since: min(doneBefore, progress.done), elapsed: now - begin, width: Terminal.errorWidth ?? 80)
        try? Output.write(Array("\r\(line)\u{1B}[K".utf8), to: 2)
        isDrawn = true
    }

    /// Erases the bar, so that messages and results begin on a clean line.
    mutating func clear() {
        guard isDrawn else { return }
        try? Output.write(Array(Self.erasure.utf8), to: 2)
        isDrawn = false
    }

    /// Runs long work with a bar that it updates, until the first Ctrl-C: then the update returns false.
    static func run<Result>(_ work: (_ update: (LogProgress) -> Bool) throws -> Result) rethrows -> Result {
        Interrupt.watch()
        var bar = ProgressBar()
        defer { bar.clear() }
        return try work {
            bar.update($0)
            return !Interrupt.isRequested
        }
    }

    /// The bar as text: `import  [█████·····]  52 %  520,000 events  412,000/s  1 s left`.
    ///
    /// `since` was done before: it counts for the bar and not for the rate.
    static func line(_ progress: LogProgress, since: UInt64 = 0, elapsed: Duration, width: Int) -> String {
        let seconds = elapsed.inSeconds
        let rate = seconds > 0.05 ? Double(progress.done - since) / seconds : 0
        var parts = [progress.stage]
        var tail = ["\(Number.grouped(progress.done)) \(progress.unit)"]
        if rate > 0 { tail.append("\(Number.grouped(UInt64(rate)))/s") }
        guard progress.total > 0 else { return (parts + tail).joined(separator: "  ") }
        let share = min(1, Double(progress.done) / Double(progress.total))
        if rate > 0, share < 1 {
            let left = Duration.seconds(Double(progress.total - progress.done) / rate)
            tail.append("\(DurationText.compact(.seconds(left.components.seconds))) left")
        }
        tail.insert("\(Int(share * 100)) %", at: 0)
        let taken = DisplayWidth.of((parts + tail).joined(separator: "  ")) + 5
        let cells = min(30, width - taken)
        if cells >= 5 {
            let full = Int(share * Double(cells))
            parts.append("[\(String(repeating: "█", count: full))\(String(repeating: "·", count: cells - full))]")
        }
        return DisplayWidth.cut((parts + tail).joined(separator: "  "), to: max(1, width - 1))
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// Ctrl-C or SIGTERM, for work that stops at a good place: the first asks it to, the second ends the program.
enum Interrupt {
    private static let number = Atomic<Int32>(0)

    static var isRequested: Bool { number.load(ordering: .relaxed) != 0 }
    static var name: String { number.load(ordering: .relaxed) == SIGTERM ? "SIGTERM" : "Ctrl-C" }

    /// The exit status that names the signal to a shell.
    static var status: ExitStatus { number.load(ordering: .relaxed) == SIGTERM ? .terminated : .interrupted }

    /// Lets the first Ctrl-C (or SIGTERM) from now on only set `isRequested`.
    static func watch() {
        _ = isRequested  // initialised before a signal handler reads it
        // A parent may have started the program with these blocked, as a thread of Dispatch does.
        var numbers = sigset_t()
        sigemptyset(&numbers)
        for number in [SIGINT, SIGTERM] {
            sigaddset(&numbers, number)
            signal(number) { number in
                Interrupt.number.store(number, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
        pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
    }

    /// Ends the program with a sentence on the first Ctrl-C (or SIGTERM) from now on: for work that changes nothing,
    /// and that may wait long for an answer.
    static func endProgram() {
        watch()
        startThread("interrupt") {
            while !isRequested { usleep(20_000) }
            ProfileCLI.report(
                CommandError("Stopped by \(name); nothing was changed.", remedy: "Run the same command again."))
            endProcess(status.rawValue)
        }
    }
}
