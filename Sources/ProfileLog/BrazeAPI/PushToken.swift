internal import ProfileLogRequests

/// A push token of an app: what tells one from another.
struct PushToken: Hashable, Sendable {
    var app: String
    var token: String

    init(app: String, token: String) {
        self.app = app
        self.token = token
    }

    /// The token that an entry of `push_tokens` is; nil if it is none.
    init?(_ entry: AttributeValue) {
        guard let app = entry[WireNames.appID]?.asText, let token = entry["token"]?.asText else { return nil }
        self.app = app
        self.token = token
    }

    /// The device that an entry of `push_tokens` names; nil if it names none.
    static func device(_ entry: AttributeValue) -> Name? {
        entry[WireNames.deviceID]?.asText.flatMap { $0.isEmpty ? nil : Name($0) }
    }

    /// The ID of a device that the request does not name: the same each time.
    var deviceID: String { deviceID(0) }

    /// As ``deviceID``, where that one and others before `number` are taken.
    func deviceID(_ number: Int) -> String {
        let suffix = number == 0 ? "" : "\0\(number)"
        return Hexadecimal.text(ContentHash.of(Array("\(app)\0\(token)\(suffix)".utf8)))
    }
}
