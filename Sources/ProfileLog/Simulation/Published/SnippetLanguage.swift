/// Which of the guide's two versions of a snippet a process runs.
public enum SnippetLanguage: String, Sendable, CaseIterable {
    case swift
    case objectiveC = "objc"

    /// The language in words.
    var name: String { self == .swift ? "Swift" : "Objective-C" }
}
