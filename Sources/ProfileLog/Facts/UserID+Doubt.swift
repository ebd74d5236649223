extension UserID {
    /// The reason why the ID is likely to be a mistake that gathers several people in one user: a sentence without the
    /// ID; nil for others. It is taken nevertheless.
    ///
    ///     UserID.externalID("undefined").doubt
    package var doubt: String? {
        let text: String
        switch self {
        case .email(let id) where !ContactForm.isEmail(id): return "The user's ID is no e-mail address."
        case .phone(let id) where !ContactForm.isPhone(id): return "The user's ID is no phone number."
        case .phone(let id) where !id.hasPrefix("+"):
            return "The user's ID is a phone number without + and country code (E.164), so it is another user than the "
                + "one with them. Braze's endpoints take ten digits for an American number."
        case .externalID(let id) where id.utf8.contains(UInt8(ascii: ":")) && UserID(id) == self && Self.hasForm(id):
            return "The user's ID begins as one of another form does (as email:ADDRESS), and is an external ID."
                + (wantedForm.map { " \($0)" } ?? "")
        case .externalID(let id), .email(let id), .phone(let id), .device(let id): text = id
        case .alias(_, let name): text = name
        case .assignedID: return nil
        }
        if Self.isUsual(text.utf8) { return nil }
        let bytes = Array(text.utf8)
        if text.allSatisfy(\.isWhitespace) { return Self.sentence("is white space") }
        if text.first?.isWhitespace == true || text.last?.isWhitespace == true {
            return "The user's ID begins or ends with white space, so it is another user than the one without it."
        }
        if bytes.count > 1, let quote = bytes.first, quote == bytes.last, quote == 0x22 || quote == 0x27 {
            return "The user's ID is in quotation marks, so it is another user than the one without them."
        }
        let digits = bytes.filter { $0 != UInt8(ascii: "-") }
        if digits.allSatisfy({ $0 == UInt8(ascii: "0") }) { return Self.sentence("has zeros only") }
        if bytes.count >= 32, digits.allSatisfy({ $0 | 0x20 == UInt8(ascii: "f") }) {
            return Self.sentence("is a UUID without information")
        }
        let word = text.lowercased().trimmingBrackets
        if Self.placeholders.contains(word) || word.hasPrefix("[object ") || word.hasPrefix("optional(") {
            return Self.sentence("is a program's word for no value")
        }
        return nil
    }

    /// A sentence with the form in which an alias or a `braze_id` is written; nil if this is no attempt at one.
    package var wantedForm: String? {
        switch self {
        case .externalID(let id) where id.lowercased().hasPrefix("alias:"):
            "An alias is written alias:LABEL:NAME, as in alias:crm:4711."
        case .assignedID(let id) where id.utf8.count != 24 || !id.allSatisfy(\.isHexDigit):
            "A braze_id is written braze: and 24 hexadecimal digits, as a profile shows them."
        default: nil
        }
    }

    private static func hasForm(_ text: String) -> Bool {
        ["alias:", "braze:", "email:", "phone:", "device:"].contains { text.lowercased().hasPrefix($0) }
    }

    /// A fast path: most IDs have a digit above 0, and begin and end with a letter or a digit.
    private static func isUsual(_ bytes: String.UTF8View) -> Bool {
        func isPlain(_ byte: UInt8?) -> Bool {
            switch byte ?? 0 {
            case UInt8(ascii: "o"), UInt8(ascii: "O"): false
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: false
            }
        }
        return isPlain(bytes.first) && isPlain(bytes.last)
            && bytes.contains { UInt8(ascii: "1")...UInt8(ascii: "9") ~= $0 }
    }

    private static func sentence(_ reason: String) -> String {
        "The user's ID \(reason); if a program sends it in place of missing IDs, several people become one user."
    }

    private static let placeholders: Set<String> = [
        "-1", "anonymous", "distinct_id", "distinctid", "email", "external_id", "false", "guest", "id", "inf",
        "infinity",
        "n/a", "nan", "nil", "none", "not_authenticated", "null", "true", "undefined", "unknown", "user_id", "userid",
    ]
}

extension String {
    /// The text without the brackets in `(null)`, `<null>` and `{null}`.
    fileprivate var trimmingBrackets: String {
        guard let first, let last, ["()", "<>", "{}"].contains(String([first, last])) else { return self }
        return String(dropFirst().dropLast())
    }
}
