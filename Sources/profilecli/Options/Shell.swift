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

    /// `option` and its value, also where that begins as an option does.
    static func option(_ option: String, _ value: String) -> String {
        option + (value.hasPrefix("-") ? "=" : " ") + quoted(value)
    }

    /// An ID as the argument USER.
    static func user(_ id: String) -> String { quoted(id.hasPrefix("-") ? "id:\(id)" : id) }

    /// A device as the argument DEVICE.
    static func device(_ name: String) -> String { name.hasPrefix("-") ? option("--device", name) : quoted(name) }
}
