/// What the published flush makes of one entry of a list: a call of the SDK, or nothing.
struct PublishedReading {
    /// What the SDK takes, or why it takes nothing.
    private(set) var result: Result
    /// What is not as it was saved. Without meaning if nothing is given.
    private(set) var deviations: [Deviation] = []

    enum Result: Equatable {
        case content(SavedContent)
        case nothing(Fault)
        /// The SDK refuses it, which is seen: it is kept apart with the reason.
        case rejected
    }

    /// How a flush finds itself.
    struct Situation {
        var launch: LaunchKind
        var time: Timestamp
        var isSDKEnabled: Bool
        /// How often the app was updated since the entry was saved.
        var updates: Int
        /// The entry is an event in the list of the attributes.
        var isMisplaced: Bool
    }

    private static let eventName: Name = "event_name"

    init(_ content: SavedContent, savedIn language: SnippetLanguage, _ situation: Situation, _ policy: PublishedPolicy)
    {
        let saved = content
        result = .content(content)
        switch content {
        case .event(let event) where situation.isMisplaced:
            deviations.append(Deviation(.eventSavedAsAttributes, .becameAttributes))
            set(Self.changes(event, policy), policy)
        case .event(let event): log(event, policy)
        case .attributes(let changes): set(changes, policy)
        case .userAttribute(let change): decode(change, language, situation, policy)
        }
        guard case .content(let content) = result else { return }
        if policy.has(.instanceMissing), situation.time < policy.conditions.instanceMissingUntil ?? .distantFuture {
            result = .nothing(.instanceMissing)
        } else if policy.has(.noSessionInBackground), situation.launch == .background, case .event = content,
            policy.conditions.sdk.dropsEventsWithoutSession
        {
            result = .nothing(.noSessionInBackground)
        } else if policy.has(.refusalIgnored) {
            let gate = SDKGate(content, isEnabled: situation.isSDKEnabled, policy.conditions)
            deviations += gate.effects.map { Deviation(.refusalIgnored, $0) }
            result = gate.accepted.map { .content($0) } ?? .nothing(.refusalIgnored)
        } else if saved.isRefusedBySDK {
            result = .rejected
        }
    }

    /// The name is whatever stands under `event_name`, where the properties were merged in after it (2, 3).
    private mutating func log(_ event: CustomEvent, _ policy: PublishedPolicy) {
        guard let properties = event.properties,
            let place = properties.firstIndex(where: { $0.key == Self.eventName })
        else { return }
        if case .string(let name) = properties[place].value {
            guard policy.has(.nameReplacedByProperty) else { return }
            var renamed = event
            renamed.name = Name(name)
            renamed.properties?.remove(at: place)
            deviations.append(Deviation(.nameReplacedByProperty, .renamed))
            result = .content(.event(renamed))
        } else if policy.has(.nameIsNoString) {
            result = .nothing(.nameIsNoString)
        }
    }

    /// The attributes that a flat event entry reads as (1).
    private static func changes(_ event: CustomEvent, _ policy: PublishedPolicy) -> [AttributeChange] {
        var changes = (event.properties ?? []).map { AttributeChange($0.key, .set($0.value)) }
        if let place = changes.firstIndex(where: { $0.name == eventName }) {
            let isText = if case .set(.string) = changes[place].operation { true } else { false }
            if policy.has(isText ? .nameReplacedByProperty : .nameIsNoString) { return changes }
            changes.remove(at: place)
        }
        changes.append(AttributeChange(eventName, .set(.string(event.name.text))))
        return changes.sorted { $0.name < $1.name }
    }

    /// The setter that fits each value, if there is one.
    private mutating func set(_ changes: [AttributeChange], _ policy: PublishedPolicy) {
        let language = policy.language(of: DeviceStorage.app)
        var set: [AttributeChange] = []
        var vanished: Fault?
        for change in changes {
            guard let value = change.setValue else {
                set.append(change)
                continue
            }
            switch AttributeSetter(value, language, policy) {
            case .unchanged: set.append(change)
            case .converted(let value):
                set.append(AttributeChange(change.name, .set(value)))
                deviations.append(Deviation(.numbersChangeType, .mistyped))
            case .none(let fault): vanished = fault
            }
        }
        if let vanished {
            if set.isEmpty {
                result = .nothing(vanished)
                return
            }
            deviations.append(Deviation(vanished, .partlyLost))
        }
        result = .content(.attributes(set))
    }

    private mutating func decode(
        _ change: UserAttributeChange, _ language: SnippetLanguage, _ situation: Situation, _ policy: PublishedPolicy
    ) {
        if policy.has(.updateBreaksDecoding), situation.updates > 0 {
            result = .nothing(.updateBreaksDecoding)
        } else if policy.has(.languagesEncodeDifferently), language != policy.language(of: DeviceStorage.app) {
            result = .nothing(.languagesEncodeDifferently)
        } else if policy.has(.emptyEmailUndecodable), language == .swift, change.attribute == .email {
            if change.value == .null || change.value == .string("$null") { result = .nothing(.emptyEmailUndecodable) }
        }
    }
}

extension Timestamp {
    fileprivate static let distantFuture = Timestamp(rawValue: .max)
}
