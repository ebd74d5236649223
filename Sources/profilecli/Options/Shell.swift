/// Text as a shell reads it.
enum Shell {
    /// `text` as one word.
    static func quoted(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || "0"..."9" ~= scalar || "-_./:@+=,%".unicodeScalars.contains(scalar)
        }
        if isPlain, !text.isEmpty { return text }
        var quoted = "'"
        for character in text { quoted += character == "'" ? "'\\''" : String(character) }
        return quoted + "'"
    }
}
