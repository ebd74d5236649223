extension Unicode.Scalar {
    /// Whether it must not be printed in a line of text: it breaks the line, controls a terminal, or changes the
    /// direction of text. Joiners, which words are written with, may be printed.
    package var isUnprintable: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: 0x202A...0x202E ~= value || 0x2066...0x2069 ~= value
        default: false
        }
    }
}

extension String {
    /// Its first `limit` characters, on one line and printable; `…` says that there are more.
    package func printable(_ limit: Int) -> String {
        let scalars = unicodeScalars.prefix(limit).map { $0.isUnprintable ? "\u{FFFD}" : $0 }
        return String(String.UnicodeScalarView(scalars)) + (unicodeScalars.count > limit ? "…" : "")
    }
}
