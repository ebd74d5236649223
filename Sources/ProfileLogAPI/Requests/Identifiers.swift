internal import ProfileLog

/// IDs as requests carry them, refused before they meet the store if they could not be in it.
enum Identifiers {
    /// A device's ID.
    static func device(_ text: String, _ place: String = "device") throws -> String {
        guard (1...Limits.bytesPerDevice).contains(text.utf8.count) else {
            throw APIProblem.invalid(place, "must have 1 to \(Limits.bytesPerDevice) bytes")
        }
        return text
    }

    /// A USER.
    static func user(_ text: String) throws -> UserID {
        // An alias has two parts, and its label twice as many bytes if there is a backslash before each.
        guard (1...(3 * Limits.bytesPerIdentifier + 16)).contains(text.utf8.count) else {
            throw APIProblem.invalid("user", "must have 1 to \(Limits.bytesPerIdentifier) bytes")
        }
        let id = UserID(text)
        if case .device(let device) = id { _ = try Identifiers.device(device, "user") }
        return id
    }
}
