/// The reason why a template cannot be read, or not be rendered for a user: where, what, and what to do. It names
/// attributes and shows no value.
package struct TemplateError: Error, Hashable, Sendable, CustomStringConvertible {
    package var spot: Template.Spot
    /// The error at that place.
    package var reason: String
    /// The next step.
    package var remedy: String

    init(_ spot: Template.Spot, _ reason: String, remedy: String) {
        (self.spot, self.reason, self.remedy) = (spot, reason, remedy)
    }

    /// A word that means nothing here, and the nearest of those that do.
    static func unknown(_ word: String, _ reason: String, among words: [String], at spot: Template.Spot) -> Self {
        TemplateError(
            spot, "`\(shown(word))` \(reason)",
            remedy: NearestNames(to: word, among: words).question() ?? "There are \(words.joined(separator: ", ")).")
    }

    /// One line, at most so long that an error of a template is no second template.
    static func shown(_ word: String) -> String {
        String(word.unicodeScalars.prefix(64)).printable { _ in "\u{FFFD}" } + (word.isLonger(than: 64) ? "…" : "")
    }

    /// One line without the remedy.
    package var description: String { "line \(spot.line), column \(spot.column): \(reason)" }
}

/// The reason why a message is not sent to a user.
package enum RenderError: Error, Hashable, Sendable {
    /// The template says so, perhaps with a reason.
    case aborted(reason: String?)
    /// A value is missing, or of a type that does not fit.
    case failed(TemplateError)
    /// The rendered push has more bytes than its service takes.
    case tooLarge(bytes: Int, limit: Int)

    static func failed(_ spot: Template.Spot, _ reason: String, remedy: String) -> RenderError {
        .failed(TemplateError(spot, reason, remedy: remedy))
    }

    /// The reason as it is recorded.
    package var reason: String {
        switch self {
        case .aborted(let reason): reason.map { "aborted: \($0)" } ?? "aborted"
        case .failed(let error): error.description
        case .tooLarge(let bytes, let limit): "the payload has \(bytes) bytes, \(limit) are allowed"
        }
    }
}
