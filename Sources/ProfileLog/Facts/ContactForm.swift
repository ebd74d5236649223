/// The forms of e-mail addresses and phone numbers.
///
/// `ProfileProjection` uses it too: a change here changes old profiles and needs a new `revision` there. So it looks at
/// code points alone and uses no Unicode tables, which differ between toolchains.
package enum ContactForm {
    /// Tells whether `text` may be an e-mail address: some text, one @, and a domain of at least two labels; no white
    /// space.
    package static func isEmail(_ text: String) -> Bool {
        let parts = text.unicodeScalars.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !text.unicodeScalars.contains(where: isSpace) else { return false }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
    }

    /// Tells whether `text` may be a phone number: 3 to 25 digits (E.164 has up to 15), after an optional +, with
    /// spaces, dots, hyphens and brackets between them.
    package static func isPhone(_ text: String) -> Bool {
        let rest = text.utf8.first == UInt8(ascii: "+") ? text.utf8.dropFirst() : text.utf8[...]
        let digits = rest.count(where: isDigit)
        return (3...25).contains(digits) && rest.allSatisfy { isDigit($0) || " .-()".utf8.contains($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    /// Tells whether Unicode counts it as white space (`White_Space`, which has been the same since version 6.3).
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09...0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000: true
        default: false
        }
    }
}
