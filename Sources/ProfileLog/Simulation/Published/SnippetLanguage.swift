/// Which of the guide's two versions of a snippet a process runs.
public enum SnippetLanguage: String, Sendable, CaseIterable {
    case swift
    case objectiveC = "objc"
}
