/// The reason why bytes are not the JSON that was asked for, and where.
package struct JSONError: Error, Hashable, Sendable {
    /// The rule that the bytes break.
    package enum Kind: Hashable, Sendable {
        /// The input ends inside a value, or before one begins.
        case unexpectedEnd
        /// A byte where a value, a key, a colon, a comma or a closing bracket was expected.
        case unexpectedByte
        /// Something other than white space follows the value.
        case trailingContent
        /// A comma before a closing bracket.
        case trailingComma
        /// A word is neither `true`, `false` nor `null`.
        case invalidLiteral
        /// A number lacks digits where the grammar wants some.
        case invalidNumber
        /// A number other than 0 begins with the digit 0.
        case leadingZero
        /// An integer does not fit into 64 bits with a sign.
        case integerTooLarge
        /// A number with a fraction or an exponent is beyond the range of a double.
        case numberTooLarge
        /// A string holds a byte below 0x20 that is not escaped.
        case controlCharacter
        /// A backslash does not begin a known escape.
        case invalidEscape
        /// `\u` gives one half of a surrogate pair without the other.
        case loneSurrogate
        /// A string is not UTF-8: a stray byte, an overlong form, a surrogate, or a number beyond U+10FFFF.
        case invalidUTF8
        /// An object has this key twice.
        case duplicateKey(String)
        /// Arrays and objects are nested more than `limit` levels deep.
        case tooDeep(limit: Int)
    }

    /// The rule that the bytes break.
    package let kind: Kind
    /// The offset of the wrong byte; the input's length if it ended too early.
    package let offset: Int

    /// Makes the error `kind` at byte `offset`, counted from 0.
    package init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }
}

extension JSONError: CustomStringConvertible {
    /// One sentence that names the error and the byte, and never quotes a value.
    package var description: String { "The JSON is invalid at byte \(offset): \(kind)." }
}

extension JSONError.Kind: CustomStringConvertible {
    /// The error as a clause, without a full stop. It shows no data but the start of a key.
    package var description: String {
        switch self {
        case .unexpectedEnd: "the text ends before the value does"
        case .unexpectedByte: "this character is not allowed here"
        case .trailingContent: "something follows the value"
        case .trailingComma: "there is a comma before a closing bracket"
        case .invalidLiteral: "this word is neither true, false nor null"
        case .invalidNumber: "a digit is missing in a number"
        case .leadingZero: "a number begins with a needless 0"
        case .integerTooLarge: "an integer needs more than 64 bits"
        case .numberTooLarge: "a number is too large for a double"
        case .controlCharacter: "a control character in a string is not escaped"
        case .invalidEscape: "a backslash in a string starts no known escape"
        case .loneSurrogate: "one half of a surrogate pair lacks the other"
        case .invalidUTF8: "a string is not valid UTF-8"
        case .duplicateKey(let key): "the key \"\(Self.shortened(key))\" is twice in one object"
        case .tooDeep(let limit): "arrays and objects are nested more than \(limit) levels deep"
        }
    }

    private static func shortened(_ key: String) -> String {
        let start = key.unicodeScalars.prefix(64)
        let shown = start.endIndex == key.unicodeScalars.endIndex ? key : String(start) + "…"
        // A key may hold line feeds or terminal escapes; the message stays one line.
        return shown.printable { _ in "\u{FFFD}" }
    }
}
