internal import Foundation

/// What the program may assume of where its output goes.
enum Terminal {
    /// Whether standard output is a terminal.
    static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    static var isError: Bool { isatty(STDERR_FILENO) == 1 }

    /// Columns that a table may take: those of the terminal, or what `COLUMNS` says; nil where nothing needs to be cut.
    static var outputWidth: Int? { width(of: STDOUT_FILENO) }

    /// Columns of the terminal on standard error.
    static var errorWidth: Int? { width(of: STDERR_FILENO) }

    private static func width(of descriptor: Int32) -> Int? {
        if let columns = environment("COLUMNS").flatMap({ Int($0) }), columns > 0 { return columns }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether standard output may be coloured: on a terminal that knows colours, unless `NO_COLOR` is set.
    static var hasColours: Bool { isOutput && allowsColours }

    /// Whether messages may be coloured.
    static var hasErrorColours: Bool { isError && allowsColours }

    private static var allowsColours: Bool { environment("NO_COLOR") == nil && environment("TERM") != "dumb" }

    /// A variable of the environment; nil if it is empty.
    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The few styles that output has.
enum Style: String {
    case bold = "1"
    case red = "31"
    case green = "32"
    case yellow = "33"

    /// `text` in this style, if `isOn`.
    func callAsFunction(_ text: String, if isOn: Bool = Terminal.hasColours) -> String {
        isOn ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
