internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// A field of a step: what a file may say, and what becomes of it in the request.
struct StepField: Sendable {
    /// The type of a value.
    enum Kind: Sendable {
        case text
        case flag
        case integer(ClosedRange<Int>)
        case number
        /// `10s`, `2h` or a number of seconds; in the request a number of seconds.
        case span(least: Int64)
        /// As in RFC 3339.
        case time
        /// A path, and maybe a query, escaped as in a URL.
        case target
        case choice([String])
        /// A list of words; a single one needs no brackets.
        case choices([String])
        /// A list of texts; a single one needs no brackets.
        case texts
        /// A mapping with any keys.
        case object
        case any
        /// Settings of in-app messages: a mapping.
        case inAppSettings
        /// Definitions of in-app messages: a list.
        case inAppMessages
        /// The moment at which the app makes the SDK: a mapping, or nothing.
        case startup
        /// A content extension: a mapping, the name of its property list, or nothing.
        case contentExtension
        /// Targets of the app with an app group each: a list.
        case appGroupTargets
        /// A container of the tag manager: a mapping, or the name of a file.
        case container
        /// A workspace: a mapping, or the name of a file.
        case workspace
    }

    /// The role of the value.
    enum Role: Sendable {
        /// Into the request, as this member.
        case sent(String)
        /// Compares with this member of the answer.
        case expected(String)
        /// The player reads it.
        case own
    }

    let name: String
    let kind: Kind
    let role: Role
    var isRequired = false
    /// The meaning, for the docs and for editors.
    let meaning: String

    /// A field that is sent under its own name, or as `member`.
    static func sent(
        _ name: String, _ kind: Kind, _ meaning: String, as member: String? = nil, isRequired: Bool = false
    ) -> StepField {
        StepField(name: name, kind: kind, role: .sent(member ?? name), isRequired: isRequired, meaning: meaning)
    }

    /// A member of the answer, by its own name.
    static func expected(_ name: String, _ meaning: String, _ kind: Kind = .any) -> StepField {
        StepField(name: name, kind: kind, role: .expected(name), meaning: meaning)
    }

    /// A field of the player.
    static func own(_ name: String, _ kind: Kind, _ meaning: String, isRequired: Bool = false) -> StepField {
        StepField(name: name, kind: kind, role: .own, isRequired: isRequired, meaning: meaning)
    }
}

// MARK: - Reading

extension StepField.Kind {
    /// The value at `node`, as the request has it.
    func read(_ node: YAMLNode) throws(YAMLFileError) -> AttributeValue {
        switch self {
        case .text: return .string(try node.text())
        case .flag: return .bool(try node.flag())
        case .integer(let range): return .int(Int64(try node.integer(range)))
        case .number:
            switch try node.value() {
            case .int(let number): return .int(number)
            case .double(let number): return .double(number)
            default: throw node.refusal("must be a number", remedy: "Write one, without quotes.")
            }
        case .span(let least): return .int(try Self.seconds(node, least))
        case .time:
            let text = try node.text()
            do throws(TimeError) {
                _ = try OccurredAt(reading: text)
            } catch {
                let reason = error.remedy == nil ? "must be a time" : error.reason
                throw node.refusal(reason, remedy: error.remedy ?? "Write it as in 2026-01-31T23:59:59Z.")
            }
            return .string(text)
        case .target:
            let text = try node.text()
            guard RequestTarget(text) != nil else {
                throw node.refusal(
                    "must be a path as in a URL",
                    remedy: "Begin it with /, and escape what is no letter or digit: a space is %20, a % is %25.")
            }
            return .string(text)
        case .choice(let words): return .string(try Self.word(node, of: words))
        case .choices(let words):
            return try Self.list(node) { node throws(YAMLFileError) in try Self.word(node, of: words) }
        case .texts: return try Self.list(node) { node throws(YAMLFileError) in try node.text() }
        case .object:
            _ = try node.members()
            return try node.json()
        case .inAppMessages, .appGroupTargets:
            _ = try node.elements()
            return try node.json()
        case .inAppSettings: return try node.inAppSettings()
        case .any, .container, .workspace, .startup, .contentExtension: return try node.json()
        }
    }

    private static func seconds(_ node: YAMLNode, _ least: Int64) throws(YAMLFileError) -> Int64 {
        let text = try node.anyText()
        guard let seconds = Int64(text) ?? DurationText.parse(text)?.components.seconds,
            (least...315_360_000_000).contains(seconds)
        else {
            throw node.refusal(
                "must be a span of time\(least > 0 ? ", \(least) s or more" : "")",
                remedy: "Write a number followed by s, m, h or d, as in 90s.")
        }
        return seconds
    }

    private static func word(_ node: YAMLNode, of words: [String]) throws(YAMLFileError) -> String {
        let text = try node.text()
        guard words.contains(text) else {
            let nearest = NearestNames(to: text, among: words).close.first.map { "Did you mean `\($0)`?" }
            throw node.refusal(
                "must be \(Phrase.or(words))", remedy: nearest ?? "Write one of these words.")
        }
        return text
    }

    private static func list(
        _ node: YAMLNode, _ read: (YAMLNode) throws(YAMLFileError) -> String
    ) throws(YAMLFileError) -> AttributeValue {
        var texts: [AttributeValue] = []
        for element in node.isList ? try node.elements() : [node] { texts.append(.string(try read(element))) }
        return .array(texts)
    }
}

/// The path and the query of a request, as in `/v1/profile?user=jane%20doe`.
struct RequestTarget {
    let path: String
    /// Decoded.
    let query: [(name: String, value: String)]

    /// Returns nil if `text` is not escaped as in a URL, or has more than a path and a query.
    init?(_ text: String) {
        guard text.hasPrefix("/"), !text.hasPrefix("//"),
            let parts = URLComponents(string: text, encodingInvalidCharacters: false), parts.fragment == nil
        else { return nil }
        path = parts.percentEncodedPath
        var query: [(name: String, value: String)] = []
        for item in parts.percentEncodedQueryItems ?? [] {
            guard let name = Self.decoded(item.name), let value = Self.decoded(item.value ?? "") else { return nil }
            query.append((name, value))
        }
        self.query = query
    }

    private static func decoded(_ text: String) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }
}

extension Phrase {
    /// `a, b or c`.
    static func or(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return words.dropLast().joined(separator: ", ") + " or \(last)"
    }
}
