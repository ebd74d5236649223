internal import ProfileLogAPI

/// What the argument parser says of an option that it does not know.
enum UnknownOption {
    /// `message` without a guess that is no slip of the option that was typed: the parser counts letters, however few there are.
    static func corrected(_ message: String) -> String {
        guard let match = message.firstMatch(of: /(Unknown option '--([^']+)')\. Did you mean '--([^']+)'\?/) else {
            return message
        }
        let (_, sentence, typed, guess) = match.output
        if !NearestNames(to: String(typed), among: [String(guess)]).close.isEmpty { return message }
        return message.replacingCharacters(in: match.range, with: String(sentence))
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        self[..<range.lowerBound] + text + self[range.upperBound...]
    }
}
