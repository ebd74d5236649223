/// A device's settings as wire bytes (message `Settings` of record.proto): equal settings, equal bytes.
extension DeviceSettings {
    package static let wire = WireTable(
        DeviceSettings(),
        [
            .flag(1, \.isSDKEnabled, omitted: true),
            .flag(2, \.isOnline, omitted: true),
            .choice(3, \.requestPolicy, unknown: .automatic),
            .number(4, \.flushInterval, omitted: 0),
            .number(5, \.sessionTimeout),
            .messages(6, MissingAppGroup.wire) {
                $0.missingAppGroups
            } add: {
                $0.setAppGroup($1.group, of: $1.process, isMissing: true)
            },
            .message(7, \.push, PushSettings.wire, omitted: PushSettings()),
            .message(8, \.inApp, InAppSettings.wire, omitted: InAppSettings()),
        ])
}

extension DeviceSettings.MissingAppGroup {
    fileprivate static let wire = WireTable(Self(process: "", group: ""), [.name(1, \.process), .name(2, \.group)])
}

// MARK: - Push

extension PushSettings {
    fileprivate static let wire = WireTable(
        PushSettings(),
        [
            .choice(1, \.permission, unknown: .granted),
            .flag(2, \.isForceQuit),
            .flag(3, \.hasInstance, omitted: true),
            .message(4, \.startup, SDKStartup.wire, omitted: SDKStartup()),
            .message(5, \.contentExtension, ContentExtension.wire),
            .choice(6, \.serverEvents, unknown: .off),
        ])
}

extension SDKStartup {
    fileprivate static let wire = WireTable(
        SDKStartup(),
        [
            .flag(1, \.isDelayed),
            .choice(2, \.preparation, unknown: .never),
            .number(3, \.automation.number),
            .choice(4, \.analytics, unknown: .queue),
            // Field 5 is that of two choices, 6 that of the third.
            .flag(5, \.isTooLate),
            .flag(6, \.isNever),
        ])
}

extension SDKStartup {
    fileprivate var isTooLate: Bool {
        get { subscription == .tooLate }
        set { if newValue { subscription = .tooLate } }
    }

    fileprivate var isNever: Bool {
        get { subscription == .never }
        set { if newValue { subscription = .never } }
    }
}

extension PushAutomation {
    fileprivate var number: UInt8 {
        get { rawValue }
        set { self = PushAutomation(rawValue: newValue) }
    }
}

extension ContentExtension {
    fileprivate static let wire = WireTable(
        ContentExtension(categories: []),
        [
            .names(1, \.categories),
            .flag(2, \.allowsInteraction),
            .messages(3, \.pairs, Pair.wire),
            .choice(4, \.input),
            .choice(5, \.language, unknown: .swift),
        ])
}

extension ContentExtension.Pair {
    fileprivate static let wire = WireTable(Self(""), [.name(1, \.key), .flag(2, \.isNumber)])
}

// MARK: - In-app messages

extension InAppSettings {
    /// The defaults have no bytes.
    package static let wire = WireTable(
        InAppSettings(),
        [
            .number(1, \.minimumInterval, omitted: 30),
            .flag(2, \.isDisplayAutomatic, omitted: true),
            // 3 said that a device with an SDK before version 15 guards the user.
            .flag(4, \.isLandscape),
            .flag(5, \.isDark),
            .number(6, \.requestTime, omitted: 0),
            .choice(7, \.decision, unknown: .show),
            .messages(8, Answer.wire) {
                $0.decisions.sorted { $0.key < $1.key }.map(Answer.init)
            } add: {
                $0.decisions[$1.message] = $1.decision
            },
            .names(9) {
                $0.failingAssets.sorted()
            } add: {
                $0.failingAssets.insert($1)
            },
            .flag(10, \.guardsUser, omitted: true),
        ])

    fileprivate var isLandscape: Bool {
        get { orientation == .landscape }
        set { orientation = newValue ? .landscape : .portrait }
    }

    fileprivate var isDark: Bool {
        get { theme == .dark }
        set { theme = newValue ? .dark : .light }
    }
}

/// The delegate's answer to one message.
private struct Answer {
    var message: Name
    var decision: InAppSettings.Decision

    static let wire = WireTable(
        Answer(message: "", decision: .show), [.name(1, \.message), .choice(2, \.decision, unknown: .show)])
}
