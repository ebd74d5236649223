/// The reason why a line cannot be imported: a clause that names fields and never shows values.
package struct LineRefusal: Error {
    package var reason: String
    package var remedy: Remedy

    package init(_ reason: String, remedy: Remedy = .correct) {
        self.reason = reason
        self.remedy = remedy
    }

    /// The next step after a refusal.
    package enum Remedy: Sendable {
        /// Correct the line.
        case correct
        /// Correct the line, or give a unit for all times that are numbers.
        case timeUnit
        /// Correct the line, or set no bounds on times.
        case anyTime
        /// Correct the line, or use the newer program that may have written it.
        case correctOrUpdate
        /// Export again: the exporting program did not know the kind of event, so the line has no content.
        case exportAgain
        /// Take the line out: only the log makes events of its kind.
        case takeOut
        /// Put as many empty lines before it as a chunk has: what is there already leaves no room for it.
        case setApart
    }

    /// Runs `read`, with an error of its content as a refusal of the line.
    static func reading<Value>(_ read: () throws(DocumentError) -> Value) throws(LineRefusal) -> Value {
        do throws(DocumentError) {
            return try read()
        } catch {
            let remedy = error.remedy == ContentJSON.correctIt ? "" : ". \(error.remedy.dropLast())"
            throw LineRefusal("`\(error.place.shown)` \(error.reason)\(remedy)")
        }
    }
}
