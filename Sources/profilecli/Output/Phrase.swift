internal import ProfileLog

/// Parts of answers in words.
enum Phrase {
    /// `position 12 (jane, version 3)`, with `a new user` if the write made one.
    static func spot(_ answer: JSONObject) -> String {
        let id = DisplayWidth.oneLine(answer.object("user")["id"].text ?? "?")
        let made = answer["created"].flag == true ? ", a new user" : ""
        return "position \(answer["position"].cell) (\(id), version \(answer["version"].cell)\(made))"
    }

    /// `1 item waits`, `2 items wait`.
    static func waiting(_ count: UInt64) -> String {
        "\(Number.counted(count, "item")) \(count == 1 ? "waits" : "wait")"
    }

    /// A time of an answer, to the second: `2026-01-31 23:59:59Z`.
    static func time(_ value: AttributeValue) -> String {
        guard let text = value.text, text.utf8.count >= 20 else { return value.cell }
        let zone = text.dropFirst(19).drop { $0 == "." || $0.isNumber }
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))\(zone)"
    }

    /// A span in seconds: `3 min`.
    static func span(_ value: AttributeValue) -> String {
        switch value {
        case .int(let seconds): DurationText.compact(.seconds(seconds))
        case .double(let seconds) where seconds.magnitude < 1e12:
            DurationText.compact(.milliseconds(Int64(seconds * 1000)))
        default: ""
        }
    }

    /// What kind of event it is, in words.
    static func kind(_ event: JSONObject) -> String {
        switch event["kind"].text ?? "" {
        case "userCreated": "user created"
        case "userIdentified": "user identified"
        case "userChanged": "user changed"
        case "customEventSaved": "event saved"
        case "customAttributesSaved": "attributes saved"
        case "userAttributeSaved": "user attribute saved"
        case "customEventLogged": "event"
        case "customAttributesChanged": "attributes"
        case "userAttributesChanged": "user attributes"
        case "purchaseLogged": "purchase"
        case "appLaunched": "app launched"
        case "pendingFlushed": "pending flushed"
        case "pendingDiscarded": "pending discarded"
        case let other: other
        }
    }

    /// What an event (or a saved item) says: `played song  minutes=3`.
    static func content(_ event: JSONObject) -> String {
        if event["erased"].flag == true { return "(erased)" }
        var parts: [String] = []
        if let name = (event["name"].text ?? event["product"].text) { parts.append(name) }
        if event["product"].text != nil {
            parts.append("\(event["quantity"].cell) × \(event["price"].cell) \(event["currency"].cell)")
        }
        for key in ["properties", "attributes", "user_attributes"] as [Name] {
            parts.append(contentsOf: pairs(event[key]))
        }
        if let attribute = event["attribute"].text { parts.append("\(attribute)=\(event["value"].json.unquoted)") }
        parts.append(contentsOf: event["ids"].elements.map(\.cell))
        if event["launch_kind"] != .null { parts.append(event["launch_kind"].cell) }
        if event["launch"] != .null { parts.append("launch @\(event["launch"].cell)") }
        for key in ["flushed", "discarded"] as [Name] where !event[key].elements.isEmpty {
            parts.append("\(key.text) \(positions(event[key].elements))")
        }
        for rejection in event["rejected"].elements {
            parts.append("rejected @\(JSONObject(rejection)["position"].cell): \(JSONObject(rejection)["reason"].cell)")
        }
        if let reason = event["reason"].text, let actor = event["actor"].text { parts.append("by \(actor): \(reason)") }
        return parts.joined(separator: "  ")
    }

    private static func positions(_ positions: [AttributeValue]) -> String {
        let shown = positions.prefix(5).map { "@\($0.cell)" }.joined(separator: " ")
        return positions.count > 5 ? "\(shown) and \(positions.count - 5) more" : shown
    }

    private static func pairs(_ object: AttributeValue) -> [String] {
        object.members.map { "\($0.key.text)=\($0.value.json.unquoted)" }
    }

    /// Where an event came from: `extension PushContent on phone`.
    static func origin(_ event: JSONObject) -> String {
        var text = event["source"].text ?? ""
        if let process = event["process"].text, process != "app" { text += " \(process)" }
        if let device = event["device"].text { text += " on \(device)" }
        return text
    }
}

extension String {
    /// JSON text for people: a string without its quotation marks if it needs no escape.
    fileprivate var unquoted: String {
        guard utf8.count >= 2, hasPrefix("\""), hasSuffix("\""), !contains("\\"), utf8.count > 2 else { return self }
        return String(dropFirst().dropLast())
    }
}
