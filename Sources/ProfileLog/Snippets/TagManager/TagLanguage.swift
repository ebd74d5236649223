/// A language in which the guide has the provider.
package enum TagLanguage: String, Sendable, CaseIterable {
    case swift
    case objectiveC = "objective-c"
    /// Kotlin, and Java, which calls the same.
    case kotlin

    /// The language of this word; `objc`, as in `whatif`, is one too.
    package init?(word: String) {
        guard let language = Self(rawValue: word) ?? (word == "objc" ? .objectiveC : nil) else { return nil }
        self = language
    }
}

extension TagContainer {
    /// The system of the app whose container it is.
    package enum Platform: String, Sendable {
        case iOS, android = "Android"
    }

    /// The languages of its app: the quirks of iOS, if its file does not name a system.
    package var languages: [TagLanguage] { platform == .android ? [.kotlin] : [.swift, .objectiveC] }
}
