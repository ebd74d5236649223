extension Unicode.Scalar {
    /// Whether it must not reach a line that people read: it breaks the line, commands a terminal, or turns the
    /// direction of the text around it. Marks that words are written with, as joiners, are none of these.
    package var isUnprintable: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: 0x202A...0x202E ~= value || 0x2066...0x2069 ~= value
        default: false
        }
    }
}
