/// The reason why something is refused that people write as a document: fold rules, traits, in-app messages and their
/// settings.
package struct DocumentError: Error, Hashable, CustomStringConvertible {
    /// The field at fault, from the top: `trigger_conditions[0].property_filters[1][0].comparator`.
    package var place: String
    /// The error at that place.
    package var reason: String
    /// The next step.
    package var remedy: String

    package init(place: String, reason: String, remedy: String) {
        (self.place, self.reason, self.remedy) = (place, reason, remedy)
    }

    /// One for `word`, which is none of `known`, with the nearest of them. `kind` says what those are, in the plural.
    package init(place: String, reason: String, unknown word: String, among known: [String], called kind: String) {
        self.init(
            place: place, reason: reason,
            remedy: NearestNames(to: word, among: known).question()
                ?? "The \(kind) are \(known.joined(separator: ", ")).")
    }

    /// One line without the remedy.
    package var description: String { "`\(place)` \(reason)" }

    /// The same, with `prefix` before the place.
    package func below(_ prefix: String) -> DocumentError {
        var error = self
        error.place = place.isEmpty || place.hasPrefix("[") ? prefix + place : "\(prefix).\(place)"
        return error
    }
}
