internal import ProfileLog

/// One profile as an export shows it (spec/rest-api 3). The whole history counts, not 90 days of it.
struct ExportedProfile {
    let user: UserInfo
    let createdAt: Timestamp?
    private let view: ProfileView
    private let attributes: [Name: AttributeValue]

    init(_ user: UserInfo, _ log: EventLog) throws {
        self.user = user
        createdAt = try log.event(at: user.created)?.recordedAt
        view = log.profileView(try log.profile(of: user.number, asOf: user.version))
        attributes = Dictionary(uniqueKeysWithValues: view.attributes.map { ($0.name, $0.value) })
    }

    /// Writes an object with `fields`, or with all fields. What is empty is left out.
    ///
    /// - Parameter customAttributes: those that are written even if `fields` does not have all of them.
    func write(_ fields: Set<ExportField>?, customAttributes: Set<Name>? = nil, to json: inout JSONWriter) {
        json.beginObject()
        for field in ExportField.allCases {
            guard fields?.contains(field) ?? true else {
                if field == .customAttributes, let customAttributes {
                    write(view.customAttributes.filter { customAttributes.contains($0.name) }, to: &json)
                }
                continue
            }
            if field == .brazeID, fields == nil { json.member("appboy_id", user.brazeID) }  // its old name
            write(field, to: &json)
        }
        json.endObject()
    }

    private func write(_ field: ExportField, to json: inout JSONWriter) {
        if let attribute = field.attribute {
            json.member(field.rawValue, text(attribute))
            return
        }
        switch field {
        case .createdAt: json.member(field.rawValue, createdAt.map(TrackTime.text))
        case .externalID: json.member(field.rawValue, externalID)
        case .userAliases:
            json.key(field.rawValue)
            json.array(aliases) { json, alias in
                json.beginObject()
                json.member("alias_name", alias.name)
                json.member("alias_label", alias.label)
                json.endObject()
            }
        case .brazeID: json.member(field.rawValue, user.brazeID)
        case .randomBucket:
            json.key(field.rawValue)
            json.value(randomBucket)
        case .lastCoordinates: writeCoordinates(to: &json)
        case .customAttributes: write(view.customAttributes, to: &json)
        case .customEvents:
            if view.customEvents.isEmpty { return }
            json.key(field.rawValue)
            json.array(view.customEvents) { $0.counted("name", $1.name, $1.occurrences) }
        case .purchases:
            if view.purchases.isEmpty { return }
            json.key(field.rawValue)
            json.array(view.purchases) { $0.counted("name", $1.product, $1.occurrences) }
        case .totalRevenue:
            guard let revenue, revenue.isFinite else { return }
            json.key(field.rawValue)
            json.value(revenue)
        default: break
        }
    }

    private func write(_ customAttributes: [ProfileView.Field], to json: inout JSONWriter) {
        if customAttributes.isEmpty { return }
        json.key(ExportField.customAttributes.rawValue)
        json.value(.object(customAttributes.map { .init($0.name, TrackTime.json($0.value)) }))
    }

    // MARK: - Values

    func value(_ attribute: StandardAttribute) -> AttributeValue? {
        attributes[Name(attribute.name)] ?? text(attribute).map { .string($0) }
    }

    func customAttribute(_ name: Name) -> AttributeValue? { view.customAttributes.first { $0.name == name }?.value }

    func count(ofEvent name: Name) -> UInt64 {
        view.customEvents.first { $0.name == name }?.occurrences.count ?? 0
    }

    func count(ofProduct name: Name) -> UInt64 {
        view.purchases.first { $0.product == name }?.occurrences.count ?? 0
    }

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

    /// Of several the last: the others were renamed.
    var externalID: String? {
        user.ids.lazy.compactMap { if case .externalID(let id) = $0 { id } else { nil } }.last
    }

    private var aliases: [(label: String, name: String)] {
        user.ids.compactMap { if case .alias(let label, let name) = $0 { (label, name) } else { nil } }
    }

    /// 0 to 9999, the same for ever: drawn from the `braze_id` by FNV-1a.
    private var randomBucket: Int {
        let hash = user.brazeID.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return Int(hash % 10_000)
    }

    /// What was paid; nil if it was in several currencies, which nothing here can add up.
    private var revenue: Double? {
        let revenues = view.purchases.flatMap(\.revenue)
        guard Set(revenues.map(\.currency)).count <= 1 else { return nil }
        return revenues.reduce(0) { $0 + $1.amount }
    }

    /// `[longitude, latitude]`.
    private func writeCoordinates(to json: inout JSONWriter) {
        guard let location = attributes[Name(StandardAttribute.currentLocation.name)],
            let longitude = location["longitude"]?.asNumber, let latitude = location["latitude"]?.asNumber
        else { return }
        json.key(ExportField.lastCoordinates.rawValue)
        json.array([longitude, latitude]) { $0.value($1) }
    }
}
