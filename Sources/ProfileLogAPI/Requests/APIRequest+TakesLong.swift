extension APIRequest {
    /// Bytes of a body from which on a request takes long to decide: some 50 objects, a third of a millisecond.
    public static let bytesThatTakeLong = 8 << 10

    /// Whether deciding it may take long: its body is large, or sets subscription groups, which all profiles with the
    /// same e-mail address get with the one that is named, be they thousands.
    public var takesLong: Bool {
        // A key may be written with escapes: of its letters and `_`, those of these forms.
        body.count >= Self.bytesThatTakeLong || contains("subscription_group")
            || contains(#"\u005"#) || contains(#"\u006"#) || contains(#"\u007"#)
    }

    private func contains(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            body.withUnsafeBytes { body in
                var rest = body[...]
                while let place = rest.firstIndex(of: text[0]) {
                    rest = rest[place...]
                    if rest.starts(with: text) { return true }
                    rest = rest.dropFirst()
                }
                return false
            }
        }
    }
}
