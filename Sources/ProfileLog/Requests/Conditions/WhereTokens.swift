internal import ProfileLogSnippets

/// The reason why the text of a condition is refused: where, and what to do.
package struct WhereError: Error, Hashable {
    /// The column, from 1, in characters.
    package let column: Int
    /// The error, without a subject.
    package let reason: String
    package let remedy: String
    /// Tells whether a store could have what is named, and this one has not.
    package var isOfStore = false
}

/// A word of a condition's text.
struct WhereToken: Hashable {
    let kind: Kind
    /// The column of its first character, from 1.
    let column: Int
    /// The column of its last character.
    let lastColumn: Int

    enum Kind: Hashable {
        /// A name or a word of the language.
        case word(String)
        /// Text in quotes: a value, or a name that is no word.
        case quoted(String)
        case number(AttributeValue)
        /// `30d`, in microseconds.
        case span(Int64)
        /// An operator, a parenthesis, a comma, a point or `[]`.
        case sign(String)
        case end
    }

    /// The words of `text`, and an end.
    static func tokens(of text: String) throws(WhereError) -> [WhereToken] {
        var scanner = WhereScanner(text)
        var tokens: [WhereToken] = []
        while true {
            let token = try scanner.next()
            tokens.append(token)
            if token.kind == .end { return tokens }
        }
    }

    /// Tells whether `text` is one word, as a name without quotes.
    static func isWord(_ text: String) -> Bool {
        guard case .word(text)? = try? tokens(of: text).first?.kind else { return false }
        return true
    }

    /// The description for messages. A word may be a person's value, so it is not repeated.
    var shown: String {
        switch kind {
        case .word: "a word"
        case .quoted: "the text in quotes"
        case .number, .span: "the number"
        case .sign(let sign): "`\(sign)`"
        case .end: "the end"
        }
    }
}

private struct WhereScanner {
    private let characters: [Character]
    private var index = 0

    private static let signs = [">=", "<=", "!=", "<>", "==", "[]", "=", ">", "<", "(", ")", ",", "."]

    init(_ text: String) { characters = Array(text) }

    mutating func next() throws(WhereError) -> WhereToken {
        while index < characters.count, characters[index].isWhitespace { index += 1 }
        let start = index
        func token(_ kind: WhereToken.Kind) -> WhereToken {
            WhereToken(kind: kind, column: start + 1, lastColumn: index)
        }
        guard index < characters.count else { return token(.end) }
        let character = characters[index]
        if character == "\"" || character == "'" { return token(.quoted(try quoted(character))) }
        if Self.isDigit(character)
            || character == "-" && index + 1 < characters.count
                && Self.isDigit(characters[index + 1])
        {
            return token(try number())
        }
        for sign in Self.signs where characters[index...].starts(with: sign) {
            index += sign.count
            return token(.sign(sign))
        }
        guard Self.isOfWord(character) else {
            throw WhereError(
                column: start + 1, reason: "has a character that no condition has",
                remedy: "Put names and texts with other characters in quotes.")
        }
        return token(.word(word()))
    }

    private mutating func word() -> String {
        let start = index
        while index < characters.count, Self.isOfWord(characters[index]) { index += 1 }
        return String(characters[start..<index])
    }

    private mutating func quoted(_ quote: Character) throws(WhereError) -> String {
        let start = index
        var text = ""
        index += 1
        while index < characters.count, characters[index] != quote {
            if characters[index] == "\\", index + 1 < characters.count { index += 1 }
            text.append(characters[index])
            index += 1
        }
        guard index < characters.count else {
            throw WhereError(column: start + 1, reason: "has a quote without its end", remedy: "Add \(quote).")
        }
        index += 1
        return text
    }

    private mutating func number() throws(WhereError) -> WhereToken.Kind {
        let start = index
        index += 1
        while index < characters.count {
            // The point of `1.5`; one before a word is a point of a path.
            let isPoint =
                characters[index] == "." && index + 1 < characters.count && Self.isDigit(characters[index + 1])
            guard isPoint || Self.isOfWord(characters[index]) else { break }
            index += 1
        }
        let text = String(characters[start..<index])
        if let integer = Int64(text) { return .number(.int(integer)) }
        if let span = DurationText.parse(text), let span = span.wholeMicroseconds { return .span(span) }
        if let double = Double(text), double.isFinite, !text.contains(where: \.isLetter) {
            return .number(.double(double))
        }
        throw WhereError(
            column: start + 1, reason: "has a number that is none",
            remedy: "Write one as in 3 or 1.5, a span as in 30d, 12h or 15m, and other values in quotes.")
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

    private static func isOfWord(_ character: Character) -> Bool {
        character.isLetter || isDigit(character) || "_-$:@".contains(character)
    }
}

extension Duration {
    /// Its whole microseconds; nil if it is longer than 100 years.
    fileprivate var wholeMicroseconds: Int64? {
        components.seconds <= 36_500 * 86_400 ? components.seconds * 1_000_000 : nil
    }
}
