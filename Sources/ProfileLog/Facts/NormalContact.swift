/// E-mail addresses and phone numbers in the one form in which profiles keep them.
package enum NormalContact {
    /// The address in lower case; nil if it is none.
    package static func email(_ text: String) -> String? {
        let address = text.lowercased()  // which may be longer
        return ContactForm.isEmail(text) && (1...Limits.bytesPerIdentifier).contains(address.utf8.count) ? address : nil
    }

    /// The number in the form of E.164: at most 15 digits, of which the first are a country's.
    ///
    /// Ten digits without `+` are taken for American, more of them for a number that only lacks the `+`. Nil if it is
    /// none.
    package static func phone(_ text: String) -> String? {
        guard ContactForm.isPhone(text) else { return nil }
        let digits = String(text.filter { $0.isASCII && $0.isNumber })
        if !text.hasPrefix("+") {
            if digits.utf8.count < 10 { return nil }
            if digits.utf8.count == 10 { return "+1\(digits)" }
        }
        return digits.utf8.count <= 15 && !digits.hasPrefix("0") ? "+\(digits)" : nil
    }
}
