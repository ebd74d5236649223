internal import Foundation
internal import ProfileLog
internal import Synchronization

/// Long texts of the program on a terminal: they go through a pager, as those of git do.
enum Pager {
    private static let wanted = Mutex(true)

    /// Tells whether a pager may be used. `--no-pager` sets it to false.
    static var isWanted: Bool {
        get { wanted.withLock { $0 } }
        set { wanted.withLock { $0 = newValue } }
    }

    /// Prints `text`, which ends in a line feed: through `$PAGER`, or less, if it is longer than the terminal.
    static func show(_ text: String) throws {
        if !isLong(text) || !page(text) { try Output.write(Array(text.utf8)) }
    }

    private static func isLong(_ text: String) -> Bool {
        guard isWanted, Terminal.isOutput, Terminal.environment("TERM") != "dumb" else { return false }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return false }
        return text.utf8.count { $0 == 0x0A } >= Int(size.ws_row)
    }

    /// Hands `text` to the pager, and returns when that has ended; false if there is none.
    private static func page(_ text: String) -> Bool {
        // Set to nothing, it is not wanted.
        let command = getenv("PAGER").map { String(cString: $0) } ?? "less"
        if command.isEmpty || command == "cat" { return false }
        // It ends at once if all fits, and leaves the text on the screen.
        setenv("LESS", "FRX", 0)
        guard let pager = popen(command, "w") else { return false }
        // Ctrl-C belongs to the pager.
        signal(SIGINT, SIG_IGN)
        // A reader who has seen enough is no error.
        fputs(text, pager)
        // The shell's status for a command that is not there, or cannot be run.
        return ![126, 127].contains(pclose(pager) >> 8)
    }
}
