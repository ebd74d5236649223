internal import ProfileLogSnippets

/// A segment of the workspace file: users by what their profiles say.
package struct Segment: Hashable, Sendable {
    package var id: String
    package var name: String
    package var rule: Condition

    package init(id: String, name: String, rule: Condition) { (self.id, self.name, self.rule) = (id, name, rule) }
}
