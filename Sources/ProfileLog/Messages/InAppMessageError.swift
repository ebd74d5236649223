/// Why a definition of an in-app message, or a setting of them, is refused.
package struct InAppMessageError: Error, Hashable, CustomStringConvertible {
    /// The field at fault, from the top: `trigger_conditions[0].property_filters[1][0].comparator`.
    package var place: String
    /// What is wrong there.
    package var reason: String
    /// The next step.
    package var remedy: String

    package init(place: String, reason: String, remedy: String) {
        (self.place, self.reason, self.remedy) = (place, reason, remedy)
    }

    /// One line without the remedy.
    package var description: String { "`\(place)` \(reason)" }

    /// The same, with `prefix` before the place.
    package func below(_ prefix: String) -> InAppMessageError {
        var error = self
        error.place = place.isEmpty || place.hasPrefix("[") ? prefix + place : "\(prefix).\(place)"
        return error
    }
}
