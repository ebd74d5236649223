/// The reason why a YAML file cannot be used: where, what, and what to do.
package struct YAMLFileError: Error, Hashable, CustomStringConvertible {
    /// The line of the file, from 1.
    package var line: Int
    /// The column, from 1.
    package var column: Int
    /// The key at fault, from the top of the file: `segments[0].all[1].equals`; empty for the file as a whole.
    package var place: String
    /// The error at that place.
    package var reason: String
    /// The next step.
    package var remedy: String

    package init(line: Int, column: Int = 1, place: String, reason: String, remedy: String) {
        (self.line, self.column, self.place) = (line, column, place)
        (self.reason, self.remedy) = (reason, remedy)
    }

    /// The error and its key.
    package var sentence: String { place.isEmpty ? "the file \(reason)" : "`\(place)` \(reason)" }

    /// One line without the remedy.
    package var description: String { "line \(line): \(sentence)" }
}
