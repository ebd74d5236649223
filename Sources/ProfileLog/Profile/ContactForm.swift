/// What e-mail addresses and phone numbers look like.
public enum ContactForm {
    /// Whether `text` may be an e-mail address: something before the one @, and a domain of at least two labels behind it; no
    /// white space.
    public static func isEmail(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !text.contains(where: \.isWhitespace) else { return false }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
    }

    /// Whether `text` may be a phone number: 3 to 25 digits (E.164 has up to 15), with + in front, and with spaces, dots, hyphens
    /// and brackets between them.
    public static func isPhone(_ text: String) -> Bool {
        let digits = text.count { $0.isASCII && $0.isNumber }
        return (3...25).contains(digits)
            && text.enumerated().allSatisfy { index, character in
                character.isASCII && character.isNumber || " .-()".contains(character) || index == 0 && character == "+"
            }
    }
}
