/// A rule of Firebase Analytics for an event. The tag manager gets the event from it, so an app that breaks a rule may
/// see its tags fire here and not on a phone.
package enum FirebaseRule: Hashable, Sendable {
    case eventName(Name, NameError)
    case parameterName(Name, NameError)
    case parameterCount(Int)
    case textLength(Name, Int)
    /// A list or an object; Firebase knows `items` alone as a list.
    case valueType(Name)

    /// The error in a name.
    package enum NameError: Hashable, Sendable {
        case empty, character, firstCharacter, reserved
        case length(Int)
        case prefix(String)
    }

    fileprivate static let maxNameLength = 40
    private static let maxParameters = 25
    private static let maxTextLength = 100
    private static let prefixes = ["firebase_", "google_", "ga_"]

    /// The names of events that the SDK of Firebase logs itself.
    private static let reserved: Set<String> = [
        "ad_activeview", "ad_click", "ad_exposure", "ad_query", "ad_reward", "adunit_exposure", "app_clear_data",
        "app_exception", "app_remove", "app_store_refund", "app_store_subscription_cancel",
        "app_store_subscription_convert", "app_store_subscription_renew", "app_update", "app_upgrade",
        "dynamic_link_app_open", "dynamic_link_app_update", "dynamic_link_first_open", "error", "first_open",
        "first_visit", "in_app_purchase", "notification_dismiss", "notification_foreground", "notification_open",
        "notification_receive", "os_update", "session_start", "session_start_with_rollout", "user_engagement",
    ]

    /// The rules that `event` breaks: first those of its name, then those of its parameters, by name. An event that
    /// Firebase logs itself may have any name.
    package static func broken(by event: AppEvent, loggedByFirebase isOfFirebase: Bool = false) -> [FirebaseRule] {
        var rules: [FirebaseRule] = []
        if isOfFirebase {
            // Its name is as Firebase wants it.
        } else if let error = error(of: event.name.text) {
            rules.append(.eventName(event.name, error))
        } else if reserved.contains(event.name.text) {
            rules.append(.eventName(event.name, .reserved))
        }
        if event.parameters.count > maxParameters { rules.append(.parameterCount(event.parameters.count)) }
        for (name, value) in event.parameters.sorted(by: { $0.key < $1.key }) {
            if let error = error(of: name.text) { rules.append(.parameterName(name, error)) }
            switch value {
            case .string(let text) where text.count > maxTextLength: rules.append(.textLength(name, text.count))
            case .array where name != "items": rules.append(.valueType(name))
            case .object: rules.append(.valueType(name))
            default: break
            }
        }
        return rules
    }

    private static func error(of name: String) -> NameError? {
        func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
        guard let first = name.utf8.first else { return .empty }
        if name.count > maxNameLength { return .length(name.count) }
        let isSpelled = name.utf8.allSatisfy { byte in
            isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
        }
        guard isSpelled else { return .character }
        guard isLetter(first) else { return .firstCharacter }
        return prefixes.first { name.hasPrefix($0) }.map { .prefix($0) }
    }

    /// The rule and what follows, in one sentence. `shown` makes a name printable.
    package func sentence(_ shown: (String) -> String) -> String {
        switch self {
        case .eventName(let name, let error):
            "Firebase ignores the event `\(shown(name.text))`: its name \(error.clause)."
        case .parameterName(let name, let error):
            "Firebase drops the parameter `\(shown(name.text))`: its name \(error.clause)."
        case .parameterCount(let count):
            "Firebase keeps \(Self.maxParameters) parameters of an event and drops the others: it has \(count)."
        case .textLength(let name, let count):
            "Firebase drops the parameter `\(shown(name.text))`: its text has \(count) characters, of "
                + "\(Self.maxTextLength) at most."
        case .valueType(let name):
            "Firebase drops the parameter `\(shown(name.text))`: its value is neither text nor a number."
        }
    }
}

extension FirebaseRule.NameError {
    fileprivate var clause: String {
        switch self {
        case .empty: "is empty"
        case .length(let count): "has \(count) characters, of \(FirebaseRule.maxNameLength) at most"
        case .character: "may only have the letters a to z, digits and `_`, and no space"
        case .firstCharacter: "must begin with a letter"
        case .reserved: "is one that Firebase itself logs"
        case .prefix(let prefix): "must not begin with `\(prefix)`"
        }
    }
}
