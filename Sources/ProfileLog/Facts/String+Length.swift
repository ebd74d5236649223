extension String {
    /// Tells whether it has more than `limit` characters. A character is a Unicode scalar here, as in databases and
    /// most languages: one `Character` may have thousands of accents.
    package func isLonger(than limit: Int) -> Bool {
        utf8.count > limit && unicodeScalars.count > limit  // a scalar has at least one byte
    }

    /// The first characters, at most `limit`.
    package func prefix(characters limit: Int) -> String { String(unicodeScalars.prefix(limit)) }
}
