/// The reason why a request to send, or a message of the workspace file, is refused as a whole: nothing is sent.
package struct SendError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The platform's words where they are known (spec/messaging-api 1), else one clause.
    package var message: String
    /// The member at fault, as in `messages.apple_push.badge`.
    package var place: String
    /// The next step.
    package var remedy: String

    package init(_ message: String, at place: String, remedy: String) {
        (self.message, self.place, self.remedy) = (message, place, remedy)
    }

    /// An unknown member, and the nearest known one.
    package static func unknown(_ key: String, at place: String, among known: [String]) -> SendError {
        SendError(
            "'\(TemplateError.shown(key))' is not known", at: place,
            remedy: NearestNames(to: key, among: known).question("'")
                ?? "There are \(known.joined(separator: ", ")).")
    }

    /// A member with a value that it cannot have.
    static func notValid(_ place: String, _ remedy: String) -> SendError {
        SendError("'\(place.split(separator: ".").last ?? "")' is not valid", at: place, remedy: remedy)
    }

    static func required(_ key: String, in place: String, _ remedy: String) -> SendError {
        SendError("'\(key)' is required", at: "\(place).\(key)", remedy: remedy)
    }

    static func invalidExtra(_ place: String, _ remedy: String) -> SendError {
        SendError("Invalid Extra Push Payload", at: "\(place).extra", remedy: remedy)
    }

    /// One line without the remedy.
    package var description: String { "\(place): \(message)" }
}
