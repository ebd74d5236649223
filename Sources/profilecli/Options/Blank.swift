internal import ArgumentParser

/// Names that nobody can see are slips of a script: a variable that is not set, between quotation marks with a space.
enum Blank {
    /// Refuses `text` if it is made of blanks alone; what is empty is told by its length.
    static func refuse(_ text: String, _ place: String) throws(ValidationError) {
        if text.isEmpty || text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) { return }
        throw ValidationError("\(place) is blank. Write something that can be seen.")
    }
}
