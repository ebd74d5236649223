/// What e-mail addresses and phone numbers look like, for whoever takes them at another door than the SDK's.
public enum ContactForm {
    /// Whether `text` may be an e-mail address: something before the one @, and a domain of at least two labels behind it.
    public static func isEmail(_ text: String) -> Bool { SDKRules.isEmail(text) }

    /// Whether `text` may be a phone number: 3 to 25 digits, with + in front, and with spaces, dots, hyphens and brackets.
    public static func isPhone(_ text: String) -> Bool { SDKRules.isPhone(text) }
}
