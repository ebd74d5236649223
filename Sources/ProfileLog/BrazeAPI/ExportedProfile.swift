internal import ProfileLogRequests

/// One profile as an export shows it (spec/rest-api 3). The whole history counts, unless the workspace has a window.
struct ExportedProfile {
    let user: UserInfo
    let createdAt: Timestamp?
    private let view: Profile
    private let totalRevenue: [ProfileState.Revenue]
    private let attributes: [Name: AttributeValue]
    private let usage: () throws -> UsageState
    private let api: BrazeAPI
    /// Events and purchases whose last time is before it are skipped; nil if none are.
    private let windowStart: Timestamp?

    init(_ user: UserInfo, _ log: LogReader, _ api: BrazeAPI) throws {
        self.init(
            user, createdAt: try log.event(at: user.created)?.recordedAt,
            try log.profile(of: user.number, asOf: user.version),
            usage: { try log.states.keptState(UsageProjection.self, of: user.number, asOf: user.version) }, api)
    }

    /// Shows these states of `user`; `usage` is read if apps or devices are written.
    init(
        _ user: UserInfo, createdAt: Timestamp?, _ profile: ProfileState, usage: @escaping () throws -> UsageState,
        _ api: BrazeAPI
    ) {
        self.user = user
        self.createdAt = createdAt
        view = api.log.reader.named(profile)
        totalRevenue = profile.totalRevenue
        attributes = Dictionary(uniqueKeysWithValues: view.attributes.map { ($0.name, $0.value) })
        self.usage = usage
        self.api = api
        windowStart = api.workspace.exportWindowDays.map { days in
            Timestamp(rawValue: api.log.options.now().rawValue - Int64(days) * 86_400_000_000)
        }
    }

    /// Writes an object with `fields`, or with all fields. Empty fields are skipped. Apps and devices are read if they
    /// are among them.
    ///
    /// - Parameter customAttributes: those that are written even if `fields` does not have all of them.
    func write(_ fields: Set<ExportField>?, customAttributes: Set<Name>? = nil, to json: inout JSONWriter) throws {
        let wantsUsage = fields.map { !$0.isDisjoint(with: [.apps, .devices]) } ?? true
        let usage =
            wantsUsage ? ExportedUsage(state: try usage(), workspace: api.workspace, tokens: pushTokens) : nil
        json.object { json in
            for field in ExportField.allCases {
                guard fields?.contains(field) ?? true else {
                    if field == .customAttributes, let customAttributes {
                        write(view.customAttributes.filter { customAttributes.contains($0.name) }, to: &json)
                    }
                    continue
                }
                if field == .brazeID, fields == nil { json.member("appboy_id", user.brazeID) }  // its old name
                write(field, usage, to: &json)
            }
        }
    }

    private func write(_ field: ExportField, _ usage: ExportedUsage?, to json: inout JSONWriter) {
        if let attribute = field.attribute {
            json.member(field.rawValue, text(attribute))
            if field == .pushSubscribe { json.member("push_opted_in_at", optedIn(attribute)) }
            if field == .emailSubscribe { json.member("email_opted_in_at", optedIn(attribute)) }
            return
        }
        switch field {
        case .createdAt: json.member(field.rawValue, createdAt.map(TrackTime.text))
        case .externalID: json.member(field.rawValue, externalID)
        case .userAliases:
            json.objects(field.rawValue, aliases) { json, alias in
                json.member("alias_name", alias.name)
                json.member("alias_label", alias.label)
            }
        case .brazeID: json.member(field.rawValue, user.brazeID)
        case .randomBucket:
            json.member(field.rawValue, Self.randomBucket(user.brazeID))
        case .lastCoordinates: writeCoordinates(to: &json)
        case .customAttributes: write(view.customAttributes, to: &json)
        case .customEvents:
            let events = view.customEvents.filter { isInWindow($0.occurrences) }
            if events.isEmpty { return }
            json.objects(field.rawValue, events) { $0.counted("name", $1.name, $1.occurrences) }
        case .purchases:
            let purchases = view.purchases.filter { isInWindow($0.occurrences) }
            if purchases.isEmpty { return }
            json.objects(field.rawValue, purchases) { $0.counted("name", $1.name, $1.occurrences) }
        case .totalRevenue: json.revenue(field.rawValue, totalRevenue)
        case .devices: usage?.writeDevices(to: &json)
        case .pushTokens: writePushTokens(to: &json)
        case .apps: usage?.writeApps(to: &json)
        default: break
        }
    }

    private func write(_ customAttributes: [Profile.Field], to json: inout JSONWriter) {
        if customAttributes.isEmpty { return }
        json.member(
            ExportField.customAttributes.rawValue,
            .object(customAttributes.map { .init($0.name, TrackTime.json($0.value)) }))
    }

    // MARK: - Values

    /// The attribute's text; for what a profile without it has all the same, that.
    func text(_ attribute: StandardAttribute) -> String? {
        switch attributes[Name(attribute.name)] {
        case .string(let text): return text
        case .date(let date): return TrackTime.text(date.timestamp)
        default: break
        }
        switch attribute {
        case .emailSubscribe, .pushSubscribe: return "subscribed"
        case .email: return user.ids.lazy.compactMap { if case .email(let address) = $0 { address } else { nil } }.first
        case .phone: return user.ids.lazy.compactMap { if case .phone(let number) = $0 { number } else { nil } }.first
        default: return nil
        }
    }

    /// The last of several: the others were renamed.
    var externalID: String? {
        user.ids.lazy.compactMap { if case .externalID(let id) = $0 { id } else { nil } }.last
    }

    private var aliases: [(label: String, name: String)] {
        user.ids.compactMap { if case .alias(let label, let name) = $0 { (label, name) } else { nil } }
    }

    /// 0 to 9999, the same for ever: drawn from the `braze_id` by FNV-1a.
    static func randomBucket(_ brazeID: String) -> Int {
        let hash = brazeID.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return Int(hash % 10_000)
    }

    private func isInWindow(_ occurrences: ProfileState.Occurrences) -> Bool {
        windowStart.map { occurrences.last >= $0 } ?? true
    }

    /// Returns the time of the state of `attribute`, if it is an opt-in.
    private func optedIn(_ attribute: StandardAttribute) -> String? {
        let field = view.attributes.first { $0.name.text == attribute.name }
        return field?.value == .string("opted_in") ? field.map { TrackTime.text($0.setAt) } : nil
    }

    private var pushTokens: [AttributeValue] { attributes[Name(StandardAttribute.pushTokens.name)]?.asArray ?? [] }

    /// `[{app, platform, token, device_id, notifications_enabled}]`, each as far as it is known.
    private func writePushTokens(to json: inout JSONWriter) {
        if pushTokens.isEmpty { return }
        json.array(ExportField.pushTokens.rawValue, pushTokens) { json, token in
            let id = token[WireNames.appID]?.asText
            let app = id.flatMap { api.workspace.app($0) }
            json.object { json in
                json.member("app", app?.name ?? id)
                json.member("platform", app?.platform)
                json.member("token", token["token"]?.asText)
                json.member("device_id", token["device_id"]?.asText)
                if let isEnabled = token["notifications_enabled"]?.asFlag {
                    json.member("notifications_enabled", isEnabled)
                }
            }
        }
    }

    /// `[longitude, latitude]`.
    private func writeCoordinates(to json: inout JSONWriter) {
        guard let location = attributes[Name(StandardAttribute.currentLocation.name)],
            let longitude = location["longitude"]?.asNumber, let latitude = location["latitude"]?.asNumber
        else { return }
        json.array(ExportField.lastCoordinates.rawValue, [longitude, latitude]) { $0.value($1) }
    }
}

/// The apps and devices of an exported profile, as far as they are known (spec/rest-api 3).
struct ExportedUsage {
    let state: UsageState
    let workspace: Workspace
    /// The entries of `push_tokens`.
    let tokens: [AttributeValue]

    /// `[{name, platform, sessions, first_used, last_used}]`: the app on simulated devices, then those that events
    /// name.
    func writeApps(to json: inout JSONWriter) {
        let named = state.apps.sorted { $0.key < $1.key }
        guard state.appOnDevices != nil || !named.isEmpty else { return }
        json.array(ExportField.apps.rawValue) { json in
            if let use = state.appOnDevices { write(use, of: DeviceStorage.app.text, on: "iOS", to: &json) }
            for (id, use) in named {
                let app = workspace.app(id.text)
                write(use, of: app?.name ?? id.text, on: app?.platform, to: &json)
            }
        }
    }

    private func write(_ use: UsageState.AppUse, of name: String, on platform: String?, to json: inout JSONWriter) {
        json.object { json in
            json.member("name", name)
            json.member("platform", platform)
            if use.sessions > 0 { json.member("sessions", use.sessions) }
            json.member("first_used", TrackTime.text(use.first))
            json.member("last_used", TrackTime.text(use.last))
        }
    }

    /// `[{device_id}]`: the simulated devices, then those that only push tokens name.
    func writeDevices(to json: inout JSONWriter) {
        if devices.isEmpty { return }
        json.objects(ExportField.devices.rawValue, devices) { json, device in
            json.member("device_id", device.text)
        }
    }

    private var devices: [Name] {
        var seen = state.devices
        let named = tokens.compactMap(PushToken.device)
        return state.devices.sorted() + named.filter { seen.insert($0).inserted }
    }
}

// MARK: - The form of what it writes

extension ExportedProfile {
    static let alias: AnswerShape = ["alias_name": .text, "alias_label": .text]

    /// The shape of a count with its first and last time, as `counted(_:_:_:)` writes it.
    static func counted(_ name: String) -> AnswerShape {
        .members([name], .text)
            + ["first": .text, "last": .text, "count": .integer]
    }

    /// Standard attributes, as text.
    private static let texts: AnswerShape = .members(
        ExportField.allCases.filter { $0.attribute != nil }.map { "\($0.rawValue)?" }, .text)

    static let shape: AnswerShape = .named("ExportedProfile", texts + others)

    private static let others: AnswerShape = [
        "created_at?": .text, "external_id?": .text, "user_aliases?": [alias], "appboy_id?": .text,
        "braze_id?": .text, "random_bucket?": .integer, "push_opted_in_at?": .text, "email_opted_in_at?": .text,
        "last_coordinates?": [.number], "custom_attributes?": .map(.any), "custom_events?": [counted("name")],
        "purchases?": [counted("name")], "total_revenue?": .orNull(.number),
        "total_revenue_by_currency?": .map(.number), "devices?": [["device_id": .text]],
        "push_tokens?": [
            [
                "app?": .text, "platform?": .text, "token?": .text, "device_id?": .text,
                "notifications_enabled?": .boolean,
            ]
        ],
        "apps?": [
            [
                "name": .text, "platform?": .text, "sessions?": .integer, "first_used": .text,
                "last_used": .text,
            ]
        ],
    ]
}
