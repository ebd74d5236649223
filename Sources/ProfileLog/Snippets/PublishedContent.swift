/// An item's content on its way through the published code: a save stores it, a flush reads it, and the SDK takes it.
///
/// Each step may change it and note a deviation, or lose it.
struct PublishedContent {
    /// The rest of it; without meaning if it is lost.
    private(set) var content: SavedContent
    /// Its differences from what was saved; without meaning if it is lost.
    private(set) var deviations: [Deviation] = []
    /// The fault that lost all of it; nil if something is left.
    private(set) var lostBy: Fault?
    private let policy: PublishedPolicy

    init(_ content: SavedContent, _ policy: PublishedPolicy) {
        self.content = content
        self.policy = policy
    }

    /// Keeps these attributes of `count`; the missing ones are lost by `fault`.
    private mutating func keep(_ changes: [AttributeChange], of count: Int, else fault: Fault) {
        content = .attributes(changes)
        if changes.isEmpty { lostBy = fault } else if changes.count < count { note(fault, .partlyLost) }
    }

    private mutating func note(_ fault: Fault, _ effect: FaultEffect) { deviations.append(Deviation(fault, effect)) }

    // MARK: - Save

    /// Stores it, as far as the snippet in `language` and a property list can.
    mutating func save(in language: SnippetLanguage) {
        var values: [AttributeValue] = []
        switch content {
        case .event(let event): values = event.properties?.map(\.value) ?? []
        case .attributes(let changes):
            let set = changes.filter { $0.setValue != nil }
            if policy.has(.onlySetIsPossible) { keep(set, of: changes.count, else: .onlySetIsPossible) }
            values = set.compactMap(\.setValue)
        case .userAttribute(let change):
            if policy.has(.onlyEmailExists), change.attribute != .email {
                lostBy = .onlyEmailExists
            } else if policy.has(.archivingFails), language == .objectiveC {
                lostBy = .archivingFails
            }
        }
        if lostBy == nil, policy.has(.nullCrashesSave), values.contains(where: \.holdsNull) {
            lostBy = .nullCrashesSave
        }
    }

    // MARK: - Flush

    private static let eventName: Name = "event_name"

    /// Reads an event as the one whose name is under `event_name`, where the properties were merged in after it (2, 3).
    mutating func readEvent() {
        guard case .event(var event) = content,
            let place = event.properties?.firstIndex(where: { $0.key == Self.eventName })
        else { return }
        if case .string(let name)? = event.properties?[place].value {
            guard policy.has(.nameReplacedByProperty) else { return }
            event.name = Name(name)
            event.properties?.remove(at: place)
            content = .event(event)
            note(.nameReplacedByProperty, .renamed)
        } else if policy.has(.nameIsNoString) {
            lostBy = .nameIsNoString
        }
    }

    /// Reads the flat entry of an event as attributes (1).
    mutating func readEventAsAttributes() {
        guard case .event(let event) = content else { return }
        note(.eventSavedAsAttributes, .becameAttributes)
        var changes = (event.properties ?? []).map { AttributeChange($0.key, .set($0.value)) }
        let name = changes.first { $0.name == Self.eventName }?.setValue
        let isText = if case .string? = name { true } else { false }
        if name == nil || !policy.has(isText ? .nameReplacedByProperty : .nameIsNoString) {
            changes.removeAll { $0.name == Self.eventName }
            changes.append(AttributeChange(Self.eventName, .set(.string(event.name.text))))
            changes.sort { $0.name < $1.name }
        }
        content = .attributes(changes)
    }

    /// Sets each attribute with the setter that fits its value, if there is one (18 to 20).
    mutating func setAttributes() {
        guard case .attributes(let changes) = content else { return }
        let isSwift = policy.language(of: DeviceStorage.app) == .swift
        var isMistyped = false
        let set = changes.compactMap { change -> AttributeChange? in
            guard let value = change.setValue else { return change }
            guard hasSetter(value, isSwift) else { return nil }
            let given = isSwift ? cast(value) : value
            if given == value { return change }
            isMistyped = true
            return AttributeChange(change.name, .set(given))
        }
        if isMistyped { note(.numbersChangeType, .mistyped) }
        keep(set, of: changes.count, else: isSwift ? .collectionsVanish : .arraySetterUnused)
    }

    /// Swift has setters for dates, booleans, texts, numbers and arrays of texts; of Objective-C it is only said that
    /// arrays have none.
    private func hasSetter(_ value: AttributeValue, _ isSwift: Bool) -> Bool {
        switch value {
        case .array(let values):
            if !isSwift { return !policy.has(.arraySetterUnused) }
            let isText = values.allSatisfy { if case .string = $0 { true } else { false } }
            return isText || !policy.has(.collectionsVanish)
        case .object, .null: return !isSwift || !policy.has(.collectionsVanish)
        default: return true
        }
    }

    /// A number as the casts to Bool and then to Double take it. An integer that no double holds stays one.
    private func cast(_ value: AttributeValue) -> AttributeValue {
        guard policy.has(.numbersChangeType), policy.conditions.numbers == .bridged else { return value }
        return switch value {
        case .int(0), .double(0): .bool(false)
        case .int(1), .double(1): .bool(true)
        case .int(let number): Double(exactly: number).map { .double($0) } ?? value
        default: value
        }
    }

    /// Decodes a user attribute that a snippet in `language` encoded `updates` of the app ago.
    mutating func decodeUserAttribute(from language: SnippetLanguage, updates: Int) {
        guard case .userAttribute(let change) = content else { return }
        if policy.has(.updateBreaksDecoding), updates > 0 {
            lostBy = .updateBreaksDecoding
        } else if policy.has(.languagesEncodeDifferently), language != policy.language(of: DeviceStorage.app) {
            lostBy = .languagesEncodeDifferently
        } else if policy.has(.emptyEmailUndecodable), language == .swift, change.attribute == .email,
            change.value == .null || change.value == .string("$null")
        {
            lostBy = .emptyEmailUndecodable
        }
    }

    /// Looks for the SDK's instance, and for a session (26, 30).
    mutating func findSDK(_ launch: LaunchKind, at time: Timestamp) {
        if policy.has(.instanceMissing), policy.conditions.instanceMissingUntil.map({ time < $0 }) ?? true {
            lostBy = .instanceMissing
        } else if policy.has(.noSessionInBackground), launch == .background, case .event = content,
            policy.conditions.sdk.dropsEventsWithoutSession
        {
            lostBy = .noSessionInBackground
        }
    }

    // MARK: - SDK (spec/device.md 4)

    /// Calls the SDK and ignores its answer (27): what its rules, its blocklist or its version refuse is lost or cut.
    mutating func callSDK(isEnabled: Bool) {
        guard isEnabled, !policy.conditions.isSDKDisabled else {
            lostBy = .refusalIgnored
            return
        }
        switch content {
        case .event(let event):
            if content.isRefusedBySDK || !sdkTakes(event) { lostBy = .refusalIgnored }
        case .attributes(let changes):
            // Each attribute is a call of its own.
            let taken = changes.filter {
                !policy.conditions.blocklist.contains($0.name) && !SavedContent.attributes([$0]).isRefusedBySDK
            }
            let cut = taken.map { change in
                let value = change.setValue.map { AttributeOperation.set(self.cut($0)) }
                return AttributeChange(Name(self.cut(change.name.text)), value ?? change.operation)
            }
            if cut != taken { note(.refusalIgnored, .truncated) }
            keep(cut, of: changes.count, else: .refusalIgnored)
        case .userAttribute where content.isRefusedBySDK: lostBy = .refusalIgnored
        case .userAttribute(let change):
            let value = cut(change.value)
            content = .userAttribute(UserAttributeChange(change.attribute, value))
            if value != change.value { note(.refusalIgnored, .truncated) }
        }
    }

    private func sdkTakes(_ event: CustomEvent) -> Bool {
        let properties = event.properties ?? []
        if policy.conditions.blocklist.contains(event.name) || event.name.text.isEmpty || !fits(event.name.text) {
            return false
        }
        if properties.isEmpty, policy.conditions.sdk.refusesEmptyProperties { return false }
        return properties.allSatisfy { !$0.key.text.isEmpty && fits($0.key.text) && $0.value.texts(fit: fits) }
    }

    private static let longest = 255

    private func fits(_ text: String) -> Bool {
        text.utf8.count <= Self.longest
            || policy.conditions.sdk.countsCharacters && !text.isLonger(than: Self.longest)
    }

    private func cut(_ value: AttributeValue) -> AttributeValue {
        if case .string(let text) = value { .string(cut(text)) } else { value }
    }

    /// The beginning of `text` that fits, in whole characters.
    private func cut(_ text: String) -> String {
        if fits(text) { return text }
        if policy.conditions.sdk.countsCharacters { return text.prefix(characters: Self.longest) }
        var bytes = 0
        return String(
            text.unicodeScalars.prefix { character in
                bytes += UTF8.width(character)
                return bytes <= Self.longest
            })
    }
}

extension AttributeChange {
    /// The value that it sets; nil if it does something else.
    fileprivate var setValue: AttributeValue? { if case .set(let value) = operation { value } else { nil } }
}

extension AttributeValue {
    /// Tells whether it is null or contains a null, which no property list can hold.
    fileprivate var holdsNull: Bool {
        switch self {
        case .null: true
        case .array(let values): values.contains(where: \.holdsNull)
        case .object(let members): members.contains { $0.value.holdsNull }
        default: false
        }
    }
}
