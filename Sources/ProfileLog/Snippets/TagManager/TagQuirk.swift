/// Something that the published tag manager provider does, and should not (spec/device 4.1 and 7).
package enum TagQuirk: String, Sendable, CaseIterable {
    case settingsRemoved = "settings-removed"
    case unknownActionSilent = "unknown-action-silent"
    case boxedNumbers = "boxed-numbers"
    case mixedArraysDropped = "mixed-arrays-dropped"
    case objectsDropped = "objects-dropped"
    case textLoggedAsEvent = "text-logged-as-event"
    case eventNameUnchecked = "event-name-unchecked"
    case numberEncodings = "number-encodings"
    case namesFromAnything = "names-from-anything"
    case propertiesDropped = "properties-dropped"
    case datesAndListsDropped = "dates-and-lists-dropped"

    /// The quirks of the version in `language`.
    package static func of(_ language: TagLanguage) -> Set<TagQuirk> {
        switch language {
        case .swift: [.settingsRemoved, .unknownActionSilent, .boxedNumbers, .mixedArraysDropped, .objectsDropped]
        case .objectiveC:
            [.settingsRemoved, .objectsDropped, .textLoggedAsEvent, .eventNameUnchecked, .numberEncodings]
        case .kotlin:
            [.settingsRemoved, .objectsDropped, .namesFromAnything, .propertiesDropped, .datesAndListsDropped]
        }
    }

    /// The behaviour of the code, in one sentence, and its consequence.
    package var verdict: String {
        switch self {
        case .settingsRemoved:
            "The code removes eventName and actionType, which the guide's text lists among the event's properties."
        case .unknownActionSilent:
            "The code says nothing about an action that it does not know: a slip in the container goes unnoticed."
        case .boxedNumbers:
            "A number object casts to Double first, so the branches for Bool and Int are dead: true becomes 1.0."
        case .mixedArraysDropped:
            "The code has no branch for arrays of anything but text: the attribute is dropped without a word."
        case .objectsDropped: "The code has no branch for objects: the attribute is dropped without a word."
        case .textLoggedAsEvent:
            "The branch for text logs an event named after the attribute's key, with all parameters, and sets nothing."
        case .eventNameUnchecked:
            "The code does not check the event's name: the SDK is called without one, and refuses the event."
        case .numberEncodings:
            "The setter follows the number's C type: a char becomes a boolean, an int loses its fraction."
        case .namesFromAnything:
            "The code takes the text of whatever is there: a missing name, key or user becomes the text `null`."
        case .propertiesDropped:
            "The code passes on no lists and objects as properties: they are dropped, with a line in the device's log."
        case .datesAndListsDropped:
            "The code has no branch for dates and lists: the attribute is dropped, with a line in the device's log."
        }
    }
}
