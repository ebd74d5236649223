/// The words of a setting in JSON, and what each means.
package struct SettingsWords<Value: Equatable & Sendable>: Sendable {
    package let all: [(word: String, value: Value)]

    init(_ all: [(word: String, value: Value)]) { self.all = all }

    package func value(_ word: String) -> Value? { all.first { $0.word == word }?.value }
    package func word(_ value: Value) -> String { all.first { $0.value == value }?.word ?? "" }
    package var words: [String] { all.map(\.word) }
}

extension MessageFields {
    /// Reads the choice that the word at `key` names; another word is refused with the nearest.
    func choice<Value>(_ key: Name, _ words: SettingsWords<Value>) throws(DocumentError) -> Value? {
        guard let text = try text(key) else { return nil }
        if let value = words.value(text) { return value }
        throw unknown(text, at: key, among: words.words)
    }
}

extension InAppSettings {
    static let choices = SettingsWords(Decision.allCases.map { ($0.word, $0) })
}

extension PushSettings {
    package static let permissions = SettingsWords<Permission>([
        ("granted", .granted), ("denied", .denied), ("not_asked", .notAsked),
    ])
    package static let handlers = SettingsWords<ServerEventHandler>([
        ("swift", .swift), ("objective-c", .objectiveC), ("off", .off),
    ])
}

extension SDKStartup {
    package static let preparations = SettingsWords<Preparation>([
        ("in_time", .inTime), ("too_late", .tooLate), ("never", .never),
    ])
    package static let behaviors = SettingsWords<Analytics>([("queue", .queue), ("drop", .drop)])
    package static let automations = SettingsWords<PushAutomation>([
        ("received", .received), ("opened", .opened), ("authorization", .authorization),
    ])
    package static let subscriptions = SettingsWords<Subscription>([
        ("in_time", .inTime), ("too_late", .tooLate), ("never", .never),
    ])
}

extension ContentExtension {
    package static let inputs = SettingsWords<Input>([("email", .email), ("phone", .phone), ("text", .text)])
    package static let languages = SettingsWords<Language>([("swift", .swift), ("objective-c", .objectiveC)])
    /// The words for the type of a pair, and whether it is a number.
    package static let pairTypes = SettingsWords<Bool>([("text", false), ("number", true)])
}
