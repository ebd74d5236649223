internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogRequests

/// A setting of the service, declared once in ``all``: its key in the file, its flag, its variable of the environment,
/// its type, and what it means.
struct Setting: Sendable {
    /// The options of a command; nil for a group that the command does not have.
    struct Flags: Sendable {
        var store: StoreOptions?
        var service: ServiceOptions?
    }

    enum Given { case absent, taken, refused }

    /// The key in the file, with a dot between a group and its key: `limits.connections`.
    let key: String
    /// Without its dashes.
    let flag: String
    let variable: String
    let words: Words
    /// Takes the flag's value, if there is one that is allowed.
    let takeFlag: @Sendable (Flags, inout ServiceSettings) -> Given
    /// Takes a value from the environment; false if it is none.
    let takeWord: @Sendable (String, inout ServiceSettings) -> Bool
    /// Takes a value from the file; returns the error if it is none.
    let takeNode: @Sendable (YAMLNode, inout ServiceSettings) -> YAMLFileError?
    let copy: @Sendable (_ from: ServiceSettings, _ to: inout ServiceSettings) -> Void
    /// The value; nil if it has none.
    let json: @Sendable (ServiceSettings) -> AttributeValue?

    struct Words: Sendable {
        /// One line of help.
        var help: String
        /// The name of the value in `--help`; the flag, if nil.
        var valueName: String?
        /// The type and range: `must be a whole number from 1 to 9`.
        var rule: String
        /// The rule of the flag, whose type the argument parser checks; nil if it is the same.
        var flagRule: String?
        /// The words for a default that is no fixed value.
        var defaultNote: String?
        /// Tells whether SIGHUP changes it in a running service.
        var reloads = false
    }

    /// A setting that always has a value.
    init<Value: SettingValue>(
        _ key: String, flag: String? = nil, _ path: any WritableKeyPath<ServiceSettings, Value> & Sendable,
        given: any KeyPath<Flags, Value?> & Sendable, _ words: Words,
        where isAllowed: @escaping @Sendable (Value) -> Bool = { _ in true }
    ) {
        self.init(
            key, flag, given, words, isAllowed, get: { $0[keyPath: path] },
            set: { value, settings in
                if let value { settings[keyPath: path] = value }
            })
    }

    /// A setting that may have no value.
    init<Value: SettingValue>(
        _ key: String, flag: String? = nil,
        ofOptional path: any WritableKeyPath<ServiceSettings, Value?> & Sendable,
        given: any KeyPath<Flags, Value?> & Sendable, _ words: Words,
        where isAllowed: @escaping @Sendable (Value) -> Bool = { _ in true }
    ) {
        self.init(
            key, flag, given, words, isAllowed, get: { $0[keyPath: path] },
            set: { value, settings in settings[keyPath: path] = value })
    }

    private init<Value: SettingValue>(
        _ key: String, _ flag: String?, _ given: any KeyPath<Flags, Value?> & Sendable, _ words: Words,
        _ isAllowed: @escaping @Sendable (Value) -> Bool, get: @escaping @Sendable (ServiceSettings) -> Value?,
        set: @escaping @Sendable (Value?, inout ServiceSettings) -> Void
    ) {
        self.key = key
        self.flag = flag ?? key.replacing(".", with: "-")
        // As the programs always had it.
        variable =
            key == "store" ? "PROFILELOG_STORE" : "PROFILED_\(self.flag.uppercased().replacing("-", with: "_"))"
        self.words = words
        takeFlag = { flags, settings in
            guard let value = flags[keyPath: given] else { return .absent }
            guard isAllowed(value) else { return .refused }
            set(value, &settings)
            return .taken
        }
        takeWord = { word, settings in
            guard let value = Value(word: word), isAllowed(value) else { return false }
            set(value, &settings)
            return true
        }
        let fallback = get(ServiceSettings())?.json
        takeNode = { node, settings in
            let remedy =
                fallback.map { "Correct it, or take the line out: the default is \(Self.text($0))." }
                ?? "Correct it, or take the line out."
            let elements = Value.isList && node.isList ? (try? node.elements()) ?? [] : [node]
            for element in elements {
                guard let word = try? element.anyText(), let value = Value(word: word), isAllowed(value) else {
                    return element.refusal(words.rule, remedy: remedy)
                }
            }
            let word = elements.compactMap { try? $0.anyText() }.joined(separator: " ")
            guard let value = Value(word: word) else { return node.refusal(words.rule, remedy: remedy) }
            set(value, &settings)
            return nil
        }
        copy = { from, to in set(get(from), &to) }
        json = { get($0)?.json }
    }

    /// `value` as a person writes it.
    static func text(_ value: AttributeValue) -> String {
        switch value {
        case .string(let text): text
        case .array(let elements): elements.map { text($0) }.joined(separator: " ")
        default: value.json
        }
    }

    /// The default as a person reads it; empty if there is none.
    var defaultText: String { words.defaultNote ?? json(ServiceSettings()).map { Self.text($0) } ?? "" }
}

// MARK: - Kinds of rows

extension Setting {
    static func number(
        _ key: String, flag: String? = nil, _ path: any WritableKeyPath<ServiceSettings, Int> & Sendable,
        given: any KeyPath<Flags, Int?> & Sendable, in range: ClosedRange<Int>, value: String? = nil,
        reloads: Bool = false, _ help: String
    ) -> Setting {
        let limits = "from \(range.lowerBound) to \(range.upperBound)"
        return Setting(
            key, flag: flag, path, given: given,
            Words(
                help: help, valueName: value, rule: "must be a whole number \(limits)",
                flagRule: "must be \(limits)", reloads: reloads)
        ) { range.contains($0) }
    }

    static func seconds(
        _ key: String, flag: String? = nil, _ path: any WritableKeyPath<ServiceSettings, Seconds> & Sendable,
        given: any KeyPath<Flags, Seconds?> & Sendable, in range: ClosedRange<Int> = 1...86_400, reloads: Bool = false,
        _ help: String
    ) -> Setting {
        let limits = "from \(range.lowerBound) to \(range.upperBound)"
        return Setting(
            key, flag: flag, path, given: given,
            Words(
                help: help, valueName: "seconds", rule: "must be seconds \(limits), or a time such as 90s, 5m or 12h",
                flagRule: "must be \(limits)", reloads: reloads)
        ) { range.contains($0.count) }
    }

    /// A time that may be none.
    static func optionalSeconds(
        _ key: String, flag: String, _ path: any WritableKeyPath<ServiceSettings, Seconds?> & Sendable,
        given: any KeyPath<Flags, Seconds?> & Sendable, in range: ClosedRange<Int> = 1...86_400, reloads: Bool = false,
        _ help: String
    ) -> Setting {
        let limits = "from \(range.lowerBound) to \(range.upperBound)"
        return Setting(
            key, flag: flag, ofOptional: path, given: given,
            Words(
                help: help, valueName: "seconds", rule: "must be seconds \(limits), or a time such as 90s, 5m or 12h",
                flagRule: "must be \(limits)", reloads: reloads)
        ) { range.contains($0.count) }
    }

    /// The name of a file, or of a folder.
    static func file(
        _ key: String, flag: String? = nil,
        _ path: any WritableKeyPath<ServiceSettings, String?> & Sendable, given: any KeyPath<Flags, String?> & Sendable,
        value: String = "file", defaultNote: String? = nil, reloads: Bool = false, _ help: String
    ) -> Setting {
        Setting(
            key, flag: flag, ofOptional: path, given: given,
            Words(
                help: help, valueName: value, rule: textRule, flagRule: emptyRule, defaultNote: defaultNote,
                reloads: reloads)
        ) { !$0.isEmpty }
    }

    static let textRule = "must be text"
    static let emptyRule = "must not be empty"
}

// MARK: - Flags

extension Setting {
    /// The setting with this key, which must be declared.
    static func named(_ key: String) -> Setting {
        guard let setting = all.first(where: { $0.key == key }) else { preconditionFailure("no setting \(key)") }
        return setting
    }

    /// Throws for the first flag with a value that its setting does not allow.
    static func validate(_ flags: Flags) throws {
        var scratch = ServiceSettings()
        for setting in all where setting.takeFlag(flags, &scratch) == .refused {
            throw ValidationError("--\(setting.flag) \(setting.words.flagRule ?? setting.words.rule).")
        }
    }
}

extension NameSpecification {
    /// The flag of the setting with this key.
    static func setting(_ key: String) -> NameSpecification { .customLong(Setting.named(key).flag) }
}

extension ArgumentHelp {
    /// The help of the setting with this key, with its default.
    static func setting(_ key: String) -> ArgumentHelp {
        let setting = Setting.named(key)
        // A switch is off by default.
        let fallback = ["", "false"].contains(setting.defaultText) ? "" : " (default: \(setting.defaultText))"
        return ArgumentHelp("\(setting.words.help)\(fallback)", valueName: setting.words.valueName)
    }
}
