/// Text of clients on its way to a terminal, to a line of a log, or into an error. A name may hold escape sequences,
/// marks that change the direction of text, and characters that are invisible.
///
///     "a\u{1B}]0;b\u{7}".printable()  // a\u001b]0;b\u0007
extension String {
    /// The text with `shown` in place of each scalar that must not be printed. By default this is the escape that JSON
    /// has for it: so JSON text stays the same JSON.
    ///
    /// A joiner or a variation selector is printed where writing needs it: in an emoji, between letters of a script
    /// that joins them, after a character that has variants.
    package func printable(_ shown: (Unicode.Scalar) -> String = { $0.jsonEscape }) -> String {
        if utf8.allSatisfy({ 0x20...0x7E ~= $0 }) { return self }
        var text = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if !scalar.isUnprintable || scalar.isNeeded(after: previous, before: rest.first) {
                text.append(scalar)
            } else {
                text.append(contentsOf: shown(scalar).unicodeScalars)
            }
            // A skin tone or a variant belongs to its emoji.
            if !(scalar.isEmojiModifier && previous?.properties.isEmoji == true) { previous = scalar }
        }
        return String(text)
    }

    /// Its first `limit` characters, on one line and printable; `…` says that there are more.
    package func printable(_ limit: Int) -> String {
        let isLong = unicodeScalars.count > limit
        return String(unicodeScalars.prefix(limit)).printable { _ in "\u{FFFD}" } + (isLong ? "…" : "")
    }

    /// A name as a message shows it: its first 80 characters, on one line.
    package var shown: String { printable(80) }

    /// Tells whether all of it may be printed.
    package var isPrintable: Bool {
        var isPrintable = true
        _ = printable { _ in
            isPrintable = false
            return ""
        }
        return isPrintable
    }
}

extension Unicode.Scalar {
    /// Tells whether it must not be printed, wherever it is not needed: it breaks the line, controls a terminal,
    /// changes the direction of text, or is not to be seen.
    package var isUnprintable: Bool {
        // Most are neither: no property needs to be looked up.
        if 0x20...0x7E ~= value { return false }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default:
            return properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint
                || 0xFFF9...0xFFFB ~= value  // marks of annotations
        }
    }

    /// As JSON writes it: `\u001b`, two of them beyond U+FFFF.
    package var jsonEscape: String {
        utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    fileprivate var isEmojiModifier: Bool { properties.isEmojiModifier || value == 0xFE0F }

    fileprivate func isNeeded(after previous: Unicode.Scalar?, before next: Unicode.Scalar?) -> Bool {
        guard let previous else { return false }
        switch value {
        case 0x200C, 0x200D:
            guard let next else { return false }
            if value == 0x200D, previous.isPicture, next.isPicture { return true }
            return previous.isOfJoiningScript && next.isOfJoiningScript
        case 0xFE0E, 0xFE0F: return previous.properties.isEmoji
        case 0xFE00...0xFE0D:
            return previous.value > 0x7F && (previous.properties.isAlphabetic || previous.properties.isMath)
        case 0xE0100...0xE01EF: return previous.properties.isIdeographic
        case 0x180B...0x180D, 0x180F: return 0x1820...0x18AA ~= previous.value
        default: return false
        }
    }

    private var isPicture: Bool { value > 0xFF && properties.isEmoji }

    /// Tells whether it is a letter or a mark of the scripts from Arabic to Mongolian.
    private var isOfJoiningScript: Bool {
        guard 0x0600...0x1BFF ~= value else { return false }
        return switch properties.generalCategory {
        case .otherLetter, .nonspacingMark, .spacingMark: !properties.isDefaultIgnorableCodePoint
        default: false
        }
    }
}
