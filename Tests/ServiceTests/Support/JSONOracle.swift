import Foundation

/// Tells whether text is JSON, found out by rewriting: each value becomes one letter, until one is left or nothing
/// changes.
enum JSONOracle {
    /// No letter that JSON text has outside of strings, which go first.
    private static let (string, value) = ("\u{E000}", "\u{E001}")

    private static let steps: [(pattern: String, replacement: String)] = [
        (#"[\x{E000}\x{E001}]"#, "?"),
        (#""(?:[^"\\\x00-\x1F]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*""#, string),
        (#"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null"#, value),
        (#"[ \t\n\r]"#, ""),
    ]
    private static let nested =
        "\\[(?:[SV](?:,[SV])*)?\\]|\\{(?:S:[SV](?:,S:[SV])*)?\\}"
        .replacingOccurrences(of: "S", with: string).replacingOccurrences(of: "V", with: value)

    /// Tells whether `bytes` are one JSON value.
    static func accepts(_ bytes: [UInt8]) -> Bool {
        guard var text = String(validating: bytes, as: UTF8.self) else { return false }
        for step in steps { text = text.rewritten(step.pattern, step.replacement) }
        while true {
            let next = text.rewritten(nested, value)
            if next == text { return text == value || text == string }
            text = next
        }
    }
}

extension String {
    fileprivate func rewritten(_ pattern: String, _ replacement: String) -> String {
        replacingOccurrences(of: pattern, with: replacement, options: .regularExpression)
    }
}
