internal import ProfileLogGuide

/// In-app messages in a file (docs/in-app-messages.md): an error has the line and the column of the wrong field.
extension YAMLNode {
    /// The list of definitions here, as it is declared.
    package func inAppMessages() throws(YAMLFileError) -> AttributeValue {
        let (definitions, place) = (try json(), "messages")
        do throws(InAppMessageError) {
            _ = try InAppMessage.list(definitions, at: place)
        } catch {
            throw refusal(at: String(error.place.dropFirst(place.count)), error.reason, remedy: error.remedy)
        }
        return definitions
    }

    /// The settings of in-app messages here, as a request has them.
    package func inAppSettings() throws(YAMLFileError) -> AttributeValue {
        _ = try members()
        guard case .object(let members) = try json() else { return .null }
        do throws(InAppMessageError) {
            _ = try InAppSettingsChange(members)
        } catch {
            throw refusal(at: error.place, error.reason, remedy: error.remedy)
        }
        return .object(members)
    }
}
