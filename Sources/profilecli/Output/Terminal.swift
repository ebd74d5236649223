internal import Foundation
internal import ProfileLog

/// What the program may assume of where its output goes.
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

    /// Whether standard output may be coloured: on a terminal that knows colours, unless `NO_COLOR` is set.
    static var hasColours: Bool { isOutput && allowsColours }
    static var hasErrorColours: Bool { isError && allowsColours }
    private static var allowsColours: Bool { environment("NO_COLOR") == nil && environment("TERM") != "dumb" }

    /// A variable of the environment; nil if it is empty.
    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

enum Style: String {
    case bold = "1", red = "31", green = "32", yellow = "33"

    func callAsFunction(_ text: String, if isOn: Bool = Terminal.hasColours) -> String {
        isOn ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}

/// How many columns of a terminal text takes: 2 for East Asian wide characters and emoji, 0 for combining characters.
enum DisplayWidth {
    static func of(_ text: some StringProtocol) -> Int {
        text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + of($1) }
    }

    static func of(_ character: Character) -> Int {
        let isEmoji = character.unicodeScalars.contains("\u{FE0F}")
        return isEmoji ? 2 : min(2, character.unicodeScalars.reduce(0) { $0 + of($1) })
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return scalar.value == 0xFF9E || scalar.value == 0xFF9F ? 1 : 0
        default: break
        }
        if 0x1160...0x11FF ~= scalar.value { return 0 }  // Hangul vowels and finals combine with the initial
        return wide.contains { $0 ~= scalar.value } ? 2 : 1
    }

    /// East Asian Wide and Fullwidth (UAX 11), neighbouring ranges joined.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
        0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F, 0x2693...0x2693, 0x26A1...0x26A1,
        0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA,
        0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B,
        0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
        0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55, 0x2E80...0x303E,
        0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF,
        0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F1E6...0x1F202,
        0x1F210...0x1F265, 0x1F300...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393,
        0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E,
        0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F567, 0x1F57A...0x1F57A,
        0x1F595...0x1F596, 0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC,
        0x1F6D0...0x1F6FF, 0x1F7E0...0x1F7FF, 0x1F90C...0x1FAFF, 0x20000...0x3FFFD,
    ]

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
    /// The text on one line, control characters and terminal escapes made visible.
    var oneLine: String {
        guard unicodeScalars.contains(where: \.isUnprintable) else { return self }
        var line = UnicodeScalarView()
        for scalar in unicodeScalars {
            line.append(!scalar.isUnprintable ? scalar : scalar == "\n" ? "⏎" : scalar == "\t" ? " " : "\u{FFFD}")
        }
        return String(line)
    }
}
