/// The call of the SDK.
package enum TagCall: Hashable, Sendable {
    case logEvent(CustomEvent)
    case setCustomAttribute(Name, AttributeValue)
    case changeUser(String)
}

/// The reason why a tag called nothing.
package enum TagReason: Hashable, Sendable {
    case otherClass
    case noAction
    case unknownAction(String)
    case noEventName
    case noAttributeKey
    case noAttributeValue
    case noSetter
    case noUser
    /// The call was made without a name, and the SDK refused it.
    case refusedWithoutName

    /// A clause after the tag's name. Shows no value of the event.
    package var reason: String {
        switch self {
        case .otherClass: "calls another class than the provider"
        case .noAction: "has no `actionType`, or one that is no text"
        case .unknownAction: "has an unknown `actionType`"
        case .noEventName: "has no `eventName`, or one that is no text"
        case .noAttributeKey: "has no `customAttributeKey`, or one that is no text"
        case .noAttributeValue: "has no `customAttributeValue`"
        case .noSetter: "has a `customAttributeValue` for which there is no setter"
        case .noUser: "has no `externalUserId`, or one that is no text"
        case .refusedWithoutName: "calls the SDK without the event's name, and the SDK refuses it"
        }
    }

    /// The next step.
    package var remedy: String {
        switch self {
        case .otherClass: "Correct `class` or `provider` in the container, if the tag is meant for the SDK."
        case .noAction: "Add `actionType` to the tag's parameters: the calls in the app do not carry it."
        case .unknownAction: "The actions are \(TagAction.allCases.map(\.rawValue).joined(separator: ", "))."
        case .noEventName, .refusedWithoutName: "Give the tag an `eventName`, or check the event's parameter."
        case .noAttributeKey: "Give the tag a `customAttributeKey`, or check the event's parameter."
        case .noAttributeValue: "Give the tag a `customAttributeValue`, or check the event's parameter."
        case .noSetter: "Send text, a boolean or a signed number, or on iOS a date or an array of texts."
        case .noUser: "Give the tag an `externalUserId`, or check the event's parameter."
        }
    }
}

/// The provider's actions, by the value of `actionType`.
package enum TagAction: String, Sendable, CaseIterable {
    case logEvent, customAttribute, changeUser
}

/// The class that the tags call (spec/device 4.1): from a tag's parameters to a call of the SDK, or to none.
///
/// Without quirks it does what the guide says.
package struct TagProvider: Hashable, Sendable {
    package var quirks: Set<TagQuirk>

    package init(_ quirks: Set<TagQuirk> = []) { self.quirks = quirks }

    private static let action: Name = "actionType"
    private static let eventName: Name = "eventName"

    /// Executes the class with `parameters`. The quirks are those that changed the outcome.
    package func execute(_ parameters: TagParameters) -> TagOutcome {
        guard let word = parameters.text(Self.action) else { return TagOutcome(.nothing(.noAction)) }
        switch TagAction(rawValue: word) {
        case nil: return outcome(.nothing(.unknownAction(word)), .unknownActionSilent)
        case .logEvent: return logEvent(parameters)
        case .customAttribute: return setCustomAttribute(parameters)
        case .changeUser:
            guard let user = anyWord("externalUserId", in: parameters) else { return TagOutcome(.nothing(.noUser)) }
            return TagOutcome(.call(.changeUser(user.text)), user.quirks)
        }
    }

    /// `result`, changed by `quirk` if that is switched on.
    private func outcome(_ result: TagOutcome.Result, _ quirk: TagQuirk) -> TagOutcome {
        TagOutcome(result, quirks.contains(quirk) ? [quirk] : [])
    }

    /// The text of `key`; nil if it has none, and a quirk does not take another.
    private func anyWord(_ key: Name, in parameters: TagParameters) -> (text: String, quirks: [TagQuirk])? {
        if let text = parameters.text(key) { return (text, []) }
        return quirks.contains(.namesFromAnything) ? (parameters.anyText(key), [.namesFromAnything]) : nil
    }

    private func logEvent(_ parameters: TagParameters) -> TagOutcome {
        guard let name = anyWord(Self.eventName, in: parameters) else {
            return quirks.contains(.eventNameUnchecked)
                ? TagOutcome(.nothing(.refusedWithoutName), [.eventNameUnchecked]) : TagOutcome(.nothing(.noEventName))
        }
        let removed = quirks.contains(.settingsRemoved) ? [Self.action, Self.eventName] : []
        var properties = parameters.properties(without: removed)
        var shown = name.quirks + (quirks.contains(.settingsRemoved) ? [.settingsRemoved] : [])
        if quirks.contains(.propertiesDropped), properties.contains(where: { $0.value.isComposed }) {
            properties.removeAll { $0.value.isComposed }
            shown.append(.propertiesDropped)
        }
        return TagOutcome(.call(.logEvent(CustomEvent(name: Name(name.text), properties: properties))), shown)
    }

    private func setCustomAttribute(_ parameters: TagParameters) -> TagOutcome {
        let source: Name = "customAttributeValue"
        guard let name = anyWord("customAttributeKey", in: parameters) else {
            return TagOutcome(.nothing(.noAttributeKey))
        }
        let key = Name(name.text)
        guard let value = parameters[source], value != .null else { return TagOutcome(.nothing(.noAttributeValue)) }
        if case .string = value, quirks.contains(.textLoggedAsEvent) {
            let event = CustomEvent(name: key, properties: parameters.properties(without: [Self.action]))
            return TagOutcome(.call(.logEvent(event)), [.textLoggedAsEvent])
        }
        if let quirk = missingSetter(of: value) { return TagOutcome(.nothing(.noSetter), [quirk]) }
        if quirks.contains(.numberEncodings), let encoding = parameters.encodings[source] {
            guard let set = Self.value(value, encodedAs: encoding) else {
                return TagOutcome(.nothing(.noSetter), [.numberEncodings])
            }
            return TagOutcome(.call(.setCustomAttribute(key, set)), set == value ? [] : [.numberEncodings])
        }
        if quirks.contains(.boxedNumbers), let double = Self.boxed(value) {
            return TagOutcome(.call(.setCustomAttribute(key, .double(double))), [.boxedNumbers])
        }
        return TagOutcome(.call(.setCustomAttribute(key, value)), name.quirks)
    }

    /// The quirk for which `value` has no setter; nil if it has one.
    private func missingSetter(of value: AttributeValue) -> TagQuirk? {
        switch value {
        case .object: quirks.contains(.objectsDropped) ? .objectsDropped : nil
        case .array(let elements):
            quirks.contains(.datesAndListsDropped)
                ? .datesAndListsDropped
                : quirks.contains(.mixedArraysDropped) && !elements.allSatisfy(\.isText) ? .mixedArraysDropped : nil
        case .date: quirks.contains(.datesAndListsDropped) ? .datesAndListsDropped : nil
        case .null, .bool, .int, .double, .string: nil
        }
    }

    /// Casts a number object that is no double.
    private static func boxed(_ value: AttributeValue) -> Double? {
        switch value {
        case .bool(let flag): flag ? 1 : 0
        case .int(let number): Double(number)
        case .null, .double, .string, .date, .array, .object: nil
        }
    }

    /// Converts a number of this C type as the Objective-C setters do; nil if there is none. What is no number stays.
    ///
    /// A number object keeps an unsigned number in the next larger signed type (`s`, `i`, `q`), so its setter is that
    /// of integers. There is none for what needs 64 bits without a sign.
    private static func value(_ value: AttributeValue, encodedAs encoding: NumberEncoding) -> AttributeValue? {
        let number: Double
        switch value {
        case .bool(let flag): number = flag ? 1 : 0
        case .int(let integer): number = Double(integer)
        case .double(let double): number = double
        case .null, .string, .date, .array, .object: return value
        }
        switch encoding {
        case .bool, .char: return .bool(number != 0)
        case .short, .int, .long, .longLong, .unsignedChar, .unsignedShort, .unsignedInt, .unsignedLong,
            .unsignedLongLong:
            if case .int = value { return value }
            return Int64(exactly: number.rounded(.towardZero)).map { .int($0) }
        case .float, .double: return .double(number)
        }
    }
}

extension AttributeValue {
    fileprivate var isText: Bool { if case .string = self { true } else { false } }

    /// Tells whether it is a list or an object.
    fileprivate var isComposed: Bool {
        switch self {
        case .array, .object: true
        case .null, .bool, .int, .double, .string, .date: false
        }
    }
}
