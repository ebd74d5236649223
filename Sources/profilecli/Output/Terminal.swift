internal import CWidth
internal import Foundation
internal import ProfileLog

/// Facts about the place where the output goes.
enum Terminal {
    static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }
    static var isError: Bool { isatty(STDERR_FILENO) == 1 }

    /// Columns that a table may take: those of the terminal, or what `COLUMNS` says; nil where nothing needs to be cut.
    static var outputWidth: Int? { width(of: STDOUT_FILENO) }
    static var errorWidth: Int? { width(of: STDERR_FILENO) }

    private static func width(of descriptor: Int32) -> Int? {
        if let columns = environment("COLUMNS").flatMap({ Int($0) }), columns > 0 { return columns }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Tells whether standard output may be coloured: on a terminal that knows colours, unless `NO_COLOR` is set.
    static var hasColours: Bool { isOutput && allowsColours }
    static var hasErrorColours: Bool { isError && allowsColours }
    private static var allowsColours: Bool { environment("NO_COLOR") == nil && environment("TERM") != "dumb" }

    /// A variable of the environment; nil if it is empty.
    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// A question on the terminal, before something that cannot be undone.
enum Question {
    /// Tells whether someone is there to answer.
    static var canBeAsked: Bool { isatty(STDIN_FILENO) == 1 && Terminal.isError }

    /// The line that is typed, in small letters; empty at the end of the input.
    static func answer() -> String { (readLine() ?? "").trimmingCharacters(in: .whitespaces).lowercased() }
}

enum Style: String {
    case bold = "1", red = "31", green = "32", yellow = "33"

    func callAsFunction(_ text: String, if isOn: Bool = Terminal.hasColours) -> String {
        isOn ? "\(Self.mark)\(rawValue)m\(text)\(Self.mark)0m" : text
    }

    /// Replaces the beginning of an escape sequence until the line is printed. No text of a client can hold it: it
    /// consists of noncharacters, and is different in each process.
    static let mark = String(
        String.UnicodeScalarView((0..<16).compactMap { _ in Unicode.Scalar(UInt32.random(in: 0xFDD0...0xFDEF)) }))
}

/// The number of columns of a terminal that a text takes: 2 for East Asian wide characters and emoji, 0 for combining
/// characters.
enum DisplayWidth {
    static func of(_ text: some StringProtocol) -> Int {
        text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + of($1) }
    }

    static func of(_ character: Character) -> Int {
        let isEmoji = character.unicodeScalars.contains("\u{FE0F}")
        return isEmoji ? 2 : min(2, character.unicodeScalars.reduce(0) { $0 + of($1) })
    }

    /// As glibc knows Unicode.
    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 || !knowsUnicode { return 1 }
        let width = wcwidth(wchar_t(scalar.value))
        return width < 0 ? 1 : Int(width)
    }

    private static let knowsUnicode = setlocale(LC_CTYPE, "C.UTF-8") != nil

    /// `text` cut to `width` columns, with one `…` as its last if something is missing.
    static func cut(_ text: String, to width: Int) -> String {
        if of(text) <= width { return text }
        guard width > 0 else { return "" }
        var cut = ""
        var left = width - 1
        for character in text {
            left -= of(character)
            if left < 0 { break }
            cut.append(character)
        }
        return cut.hasSuffix("…") ? cut : cut + "…"
    }

    /// `text` with spaces after it, or before it, up to `width` columns.
    static func pad(_ text: String, to width: Int, atEnd: Bool = true) -> String {
        let spaces = String(repeating: " ", count: max(0, width - of(text)))
        return atEnd ? text + spaces : spaces + text
    }
}

extension String {
    /// The text on one line, as `Output` prints it: what must not be printed is made visible.
    var oneLine: String {
        printable { $0 == "\n" ? "⏎" : $0 == "\t" ? " " : $0.jsonEscape }
    }
}
