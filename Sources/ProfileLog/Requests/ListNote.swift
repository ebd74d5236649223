internal import ProfileLogSnippets

/// The note of an answer about a list that is empty, or about a moment of which the log has nothing: its member `note`,
/// one sentence made from the question and from the log.
///
///     let note = ListNote("users", request, past: asked)
///     try json.note(note, isEmpty: users.isEmpty, in: log)
package struct ListNote: Sendable {
    private let things: String
    private let none: String?
    private let request: APIRequest
    private let past: AskedPast?
    private var names: [NameParameter] = []

    /// A parameter that names something.
    private struct NameParameter: Sendable {
        let parameter: String
        let what: String
        let isKnown: @Sendable (LogReader, String) throws -> Bool
        let known: @Sendable (LogReader) throws -> [String]
    }

    /// - Parameters:
    ///   - things: what the list has, in the plural: `users`.
    ///   - none: the sentence for a list that is empty although nothing narrowed it, if `There are no users.` says too
    ///     little.
    package init(
        _ things: String, _ request: APIRequest, past: AskedPast? = nil, none: String? = nil
    ) {
        (self.things, self.request, self.past, self.none) = (things, request, past, none)
    }

    /// Says so if `parameter` names something that nothing has, with the nearest of the known names. Without a look at
    /// them, `isKnown` tells whether a name is among them.
    package func naming(
        _ parameter: String, _ what: String, isKnown: @escaping @Sendable (LogReader, String) throws -> Bool,
        among known: @escaping @Sendable (LogReader) throws -> [String]
    ) -> ListNote {
        var note = self
        note.names.append(NameParameter(parameter: parameter, what: what, isKnown: isKnown, known: known))
        return note
    }

    /// As ``naming(_:_:isKnown:among:)``, with all known names at hand.
    package func naming(
        _ parameter: String, _ what: String, among known: @escaping @Sendable (LogReader) throws -> [String]
    )
        -> ListNote
    {
        naming(parameter, what, isKnown: { try known($0).contains($1) }, among: known)
    }

    /// The parameters of a filter of events: a `name`, a `field` and a `device`.
    package func namingOfEvents() -> ListNote {
        @Sendable func names(_ log: LogReader) throws -> [String] {
            let all = WhereNames(log).all
            return try all(.event) + all(.product) + all(.customAttribute) + StandardAttribute.allCases.map(\.name)
        }
        return naming("name", "name", isKnown: Self.isSeen, among: names)
            .naming("field", "attribute", isKnown: Self.isSeen, among: names)
            .naming("device", "device") { try $0.devices.all().map(\.text) }
    }

    /// Tells whether an event of the log has the name, or the attribute that a path begins with.
    @Sendable private static func isSeen(_ log: LogReader, _ name: String) throws -> Bool {
        let root = name.prefix { $0 != "." && $0 != "[" }
        return try log.number(of: Name(name)) != nil || log.number(of: Name(String(root))) != nil
            || StandardAttribute.allCases.contains { $0.name == root }
    }

    /// The sentence, by what `log` shows; nil if there is nothing to say.
    package func text(isEmpty: Bool, in log: LogReader) throws -> String? {
        if let note = try past?.note(log) { return note }
        if !isEmpty { return nil }
        if none == nil, try log.lastPosition() == .start { return "The store has no event yet." }
        for name in names {
            for value in values(name.parameter) where try !name.isKnown(log, value) {
                let near = NearestNames(to: value, among: try name.known(log)).close.first
                return "The store has never seen the \(name.what) \(value.shown)."
                    + (near.map { " Did you mean \($0.shown)?" } ?? "")
            }
        }
        return sentence
    }

    private var sentence: String {
        let isPast = past?.moment.map { $0 != .now } ?? false
        let filters = Set(request.query.map(\.name)).filter(isFilter).sorted().map { "`\($0)`" }
        let shown =
            filters.count > 1
            ? filters.dropLast().joined(separator: ", ") + " and " + filters[filters.count - 1]
            : filters.first
        if let place {
            return "There \(isPast ? "were" : "are") no \(things) \(place)"
                + (shown.map { " that match \($0)." } ?? ".")
        }
        if let shown { return "No \(things) \(isPast ? "matched \(shown) then" : "match \(shown)")." }
        if let none, !isPast { return none }
        return isPast ? "There were no \(things) then." : "There are no \(things)."
    }

    /// The place at which the list was to go on; nil for its start.
    private var place: String? {
        if let after = values("after").first, !after.isEmpty, after != "0" {
            let isBackward = values("reverse").contains { $0 != "false" && $0 != "0" }
            return "\(isBackward ? "before" : "after") \(after.shown)"
        }
        if let page = values("page").first, page != "0" { return "on page \(page.shown)" }
        return values("cursor").first.map { _ in "after this cursor" }
    }

    /// Parameters that do not narrow a list.
    private static let others: Set<String> = [
        "a", "after", "as_of", "b", "began", "count", "cursor", "ending_at", "format", "length", "limit", "log",
        "merged", "of", "order", "page", "parts", "repaired", "reverse", "sort_direction", "time", "timeout", "unit",
        "until",
        "user", "wait_for", "wait_s", "what",
    ]

    private func isFilter(_ name: String) -> Bool { !Self.others.contains(name) }

    private func values(_ parameter: String) -> [String] {
        request.query.filter { $0.name == parameter }.map(\.value)
    }
}

extension JSONWriter {
    /// The member `note` of a list, if there is something to say.
    package mutating func note(_ note: ListNote, isEmpty: Bool, in log: LogReader) throws {
        member("note", try note.text(isEmpty: isEmpty, in: log))
    }
}

extension AnswerShape {
    /// The member `note` of a list.
    package static let note: AnswerShape = ["note?": .text]
}
