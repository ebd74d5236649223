internal import ArgumentParser
internal import ProfileLog

/// `KEY=VALUE` pairs as people type them: a value that is valid JSON is taken as JSON, any other as text.
enum ValueArguments {
    /// What a pair is called in errors.
    enum Kind {
        case property, attribute

        var withArticle: String { self == .attribute ? "An attribute" : "A property" }
    }

    /// Reads `pairs` whose values may be JSON, and `texts` whose values are text, into members in ascending order of
    /// keys.
    static func members(
        _ pairs: [String], texts: [String], _ kind: Kind
    ) throws(ValidationError) -> [AttributeValue.Member] {
        var members: [AttributeValue.Member] = []
        for pair in pairs {
            let (key, text) = try split(pair, kind)
            do throws(JSONError) {
                members.append(.init(key, try JSON.parse(text)))
            } catch {
                switch error.kind {
                case .integerTooLarge, .numberTooLarge, .duplicateKey, .tooDeep:
                    throw ValidationError(
                        "The value of \(key) cannot be stored: \(error.kind). Correct it, or keep it as text with --string."
                    )
                default: members.append(.init(key, .string(text)))
                }
            }
        }
        for pair in texts {
            let (key, text) = try split(pair, kind)
            members.append(.init(key, .string(text)))
        }
        members.sort { $0.key < $1.key }
        for (left, right) in zip(members, members.dropFirst()) where left.key == right.key {
            throw ValidationError("The \(kind) \(left.key) is given twice. Give it once.")
        }
        return members
    }

    /// A remark for each of `pairs` whose value looks like JSON, and is stored as text because it is not valid.
    static func remarks(_ pairs: [String]) -> [String] {
        pairs.compactMap { pair -> String? in
            guard let (key, text) = try? split(pair, .attribute), looksLikeJSON(text) else { return nil }
            do throws(JSONError) {
                _ = try JSON.parse(text)
                return nil
            } catch {
                let fault = "\(error.kind) at byte \(error.offset)"
                return "\(key) is stored as text, since its value is not valid JSON (\(fault))."
            }
        }
    }

    private static func looksLikeJSON(_ text: String) -> Bool {
        let words = ["nan", "infinity", "inf"]
        let word = text.lowercased().drop { $0 == "-" || $0 == "+" }
        return ["{", "["].contains(text.first { !$0.isWhitespace }) || words.contains(String(word))
    }

    private static func split(_ pair: String, _ kind: Kind) throws(ValidationError) -> (key: Name, text: String) {
        // By bytes: "=" and a combining mark are another character.
        guard let sign = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw ValidationError(
                "\(kind.withArticle) is written KEY=VALUE, as in Score=10; one of them has no equals sign.")
        }
        guard sign > pair.startIndex else {
            throw ValidationError("\(kind.withArticle) is written KEY=VALUE, as in Score=10; one of them has no key.")
        }
        return (Name(String(pair.utf8[..<sign]) ?? ""), String(pair.utf8[pair.utf8.index(after: sign)...]) ?? "")
    }
}

/// `-p KEY=VALUE` and `--string KEY=VALUE`.
struct PropertyOptions: ParsableArguments {
    @Option(
        name: [.customShort("p"), .customLong("property")], parsing: .unconditionalSingleValue,
        help: .init("A property; VALUE is JSON if it is valid JSON, else text. Repeatable.", valueName: "key=value"))
    var properties: [String] = []

    @Option(
        name: .customLong("string"), parsing: .unconditionalSingleValue,
        help: .init("A property whose VALUE is text, even if it is valid JSON.", valueName: "key=value"))
    var strings: [String] = []

    mutating func validate() throws { _ = try members() }

    var remarks: [String] { ValueArguments.remarks(properties) }

    var isEmpty: Bool { properties.isEmpty && strings.isEmpty }

    /// Writes the member `properties`, if there are any.
    func write(to json: inout JSONWriter) throws {
        let members = try members()
        if !members.isEmpty { json.member("properties", .object(members)) }
    }

    private func members() throws(ValidationError) -> [AttributeValue.Member] {
        try ValueArguments.members(properties, texts: strings, .property)
    }
}
