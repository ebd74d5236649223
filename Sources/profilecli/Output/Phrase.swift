internal import ProfileLog
internal import ProfileLogNativeAPI

/// Parts of answers in words.
enum Phrase {
    /// `position 12 (jane, version 3)`, with `a new user` if the write made one.
    static func spot(_ answer: JSONObject) -> String {
        let id = (answer.object("user")["id"].text ?? "?").oneLine
        let made = answer.flag("created") ? ", a new user" : ""
        return "position \(answer["position"].cell) (\(id), version \(answer["version"].cell)\(made))"
    }

    /// `3 s (12,000 events/s)`
    static func rate(_ events: UInt64, in elapsed: Duration) -> String {
        let rate = elapsed > .zero ? UInt64(Double(events) / elapsed.inSeconds) : 0
        return "\(DurationText.compact(elapsed)) (\(Number.grouped(rate)) events/s)"
    }

    /// `1 item waits`, `2 items wait`.
    static func waiting(_ count: UInt64) -> String {
        "\(Number.counted(count, "item")) \(count == 1 ? "waits" : "wait")"
    }

    /// `1 item waits on phone`, after a write.
    static func waiting(in answer: JSONObject) -> String {
        "\(waiting(answer.count("waiting"))) on \(answer["device"].cell.oneLine)"
    }

    /// A time of an answer: `2026-01-31 23:59:59Z`, with a fraction of a second if it has one. Typed as WHEN it is the
    /// same moment.
    static func time(_ value: AttributeValue) -> String {
        guard let text = value.text, text.utf8.count >= 20 else { return value.cell }
        let fraction = text.dropFirst(19).prefix { $0 == "." || $0.isNumber }
        let isWhole = fraction.allSatisfy { $0 == "." || $0 == "0" }
        let zone = text.dropFirst(19 + fraction.count)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))\(isWhole ? "" : fraction)\(zone)"
    }

    /// A value for people: a time as one, all else as in a cell.
    static func value(_ value: AttributeValue) -> String {
        guard value.members.count == 1, value.members[0].key == "$time" else { return value.valueCell }
        return time(value.members[0].value)
    }

    /// A span in seconds: `3 min`. A negative one, where clocks disagree, is shown as 0.
    static func span(_ value: AttributeValue) -> String {
        switch value {
        case .int(let seconds): DurationText.compact(.seconds(max(0, seconds)))
        case .double(let seconds) where seconds.magnitude < 1e12:
            DurationText.compact(.milliseconds(Int64(max(0, seconds) * 1000)))
        default: ""
        }
    }

    /// The list in which an item was saved, as `launch --only` names it.
    static func list(_ item: JSONObject) -> String {
        let key = item["kind"].text
        return PendingKind.allCases.first { $0.key == key }?.word ?? item["kind"].cell
    }

    /// The updates that changed nothing, each with its reason; nil if there are none.
    static func noEffect(of answer: JSONObject) -> String? {
        let without = answer.objects("no_effect").map { "\($0["attribute"].cell) \($0["reason"].cell)" }
        return without.isEmpty ? nil : without.joined(separator: "; ").oneLine
    }

    /// The event's kind, in words: `user created`, `event saved`.
    static func kind(_ event: JSONObject) -> String {
        let name = event["kind"].text ?? ""
        if name == "pendingFlushed", event.flag("queued") { return "pending handed over" }
        return EventKind(name: name)?.words ?? name
    }

    /// Describes the content of an event (or a saved item): `played song  minutes=3`.
    static func content(_ event: JSONObject) -> String {
        if event.flag("erased") { return "(erased)" }
        var parts: [String] = []
        if let name = (event["name"].text ?? event["product"].text) { parts.append(name) }
        if event["product"].text != nil {
            parts.append("\(event["quantity"].cell) × \(event["price"].cell) \(event["currency"].cell)")
        }
        for key in ["properties", "attributes", "user_attributes"] as [Name] {
            parts += event[key].members.map { "\($0.key.text)=\($0.value.json.unquoted)" }
        }
        if let attribute = event["attribute"].text { parts.append("\(attribute)=\(event["value"].json.unquoted)") }
        parts.append(contentsOf: event["ids"].elements.map(\.cell))
        if let id = event["id"].text { parts.append(id) }
        if let old = event["from"].text, let new = event["to"].text { parts.append("\(old) → \(new)") }
        if let released = event["released"].text { parts.append(released) }
        if event["launch_kind"] != .null { parts.append(event["launch_kind"].cell) }
        if event["launch"] != .null { parts.append("launch @\(event["launch"].cell)") }
        let taken: Name = event.flag("queued") ? "queued" : "flushed"
        if !event["flushed"].elements.isEmpty { parts.append("\(taken) \(positions(event["flushed"].elements))") }
        for key in ["discarded", "sent"] as [Name] where !event[key].elements.isEmpty {
            parts.append("\(key.text) \(positions(event[key].elements))")
        }
        // Of users who were merged since.
        parts += event.objects("items").map { "(@\($0["position"].cell) \(content($0)))" }
        parts += event.objects("rejected").map { "rejected @\($0["position"].cell): \($0["reason"].cell)" }
        if let session = event["started"].integer { parts.append("begun @\(session)") }
        if let merged = event["merged_user_number"].integer {
            parts.append("took over user \(merged) up to version \(event["merged_version"].cell)")
        }
        for item in event.objects("left_out") {
            let field = item["field"].text.map { " \($0)" } ?? ""
            parts.append("\(item["input_array"].cell)[\(item["index"].cell)]\(field): \(item["reason"].cell)")
        }
        if event["settings"] != .null { parts.append(settings(event.object("settings"))) }
        if event["channel"].text != nil {
            parts += (["message", "channel", "action", "reason"] as [Name]).compactMap { event[$0].text }
        }
        if let replaced = event["replaces"].integer { parts.append("(repairs @\(replaced))") }
        if let target = event["target"].integer { parts.append("@\(target)") }
        if let void = event["voided_by"].integer { parts.append("(void @\(void))") }
        if let reason = event["reason"].text, let actor = event["actor"].text { parts.append("by \(actor): \(reason)") }
        return parts.joined(separator: "  ")
    }

    /// The settings of a device that differ from the defaults: `offline, manual`.
    static func settings(_ settings: JSONObject) -> String {
        var parts: [String] = []
        if settings["online"].flag == false { parts.append("offline") }
        if settings["sdk_enabled"].flag == false { parts.append("SDK disabled") }
        if settings["request_policy"].text == "manual" { parts.append("manual") }
        if let seconds = settings["flush_interval_s"].integer, seconds != 0 {
            parts.append("flush interval \(span(.int(seconds)))")
        }
        if let seconds = settings["session_timeout_s"].integer, seconds != 10 {
            parts.append("session timeout \(span(.int(seconds)))")
        }
        parts += settings.objects("missing_app_groups").map { "\($0["process"].cell) without \($0["app_group"].cell)" }
        if let permission = settings["permission"].text, permission != "granted" {
            parts.append(permission == "denied" ? "push denied" : "push not asked")
        }
        if settings["force_quit"].flag == true { parts.append("force quit") }
        if settings["startup"] != .null {
            parts.append(settings.flag("sdk_instance") ? "delayed SDK" : "no SDK instance yet")
        }
        let categories = settings.object("content_extension")["categories"].elements.map(\.cell)
        if !categories.isEmpty { parts.append("extension for \(categories.joined(separator: ", "))") }
        if let handler = settings["server_events"].text, handler != "swift" { parts.append("server events \(handler)") }
        if settings["messages"] != .null { parts.append("in-app messages set up") }
        return parts.isEmpty ? "defaults" : parts.joined(separator: ", ")
    }

    static func settingsInFull(_ settings: JSONObject) -> [(name: String, value: String)] {
        let missing = settings.objects("missing_app_groups").map {
            "\($0["process"].cell) lacks \($0["app_group"].cell)"
        }
        return [
            ("network", settings.flag("online") ? "online" : "offline"),
            ("SDK", settings.flag("sdk_enabled") ? "enabled" : "disabled"),
            ("request policy", settings["request_policy"].cell),
            ("flush interval", span(settings["flush_interval_s"])),
            ("session timeout", span(settings["session_timeout_s"])),
            ("app groups", missing.isEmpty ? "no target lacks one" : missing.joined(separator: ", ")),
            ("push", (settings["permission"].text ?? "").replacing("_", with: " ")),
            ("SDK's start", settings["startup"] == .null ? "with the app" : settings["startup"].json),
            (
                "content extension",
                settings["content_extension"] == .null ? "none" : settings["content_extension"].json
            ), ("server events", settings["server_events"].cell),
            ("in-app messages", settings["messages"] == .null ? "defaults" : settings["messages"].json),
        ]
    }

    /// Returns the reason why an item is in an SDK's queue: one word, except where one would say too little.
    static func why(_ why: AttributeValue) -> String {
        why.text == "handed" ? "handed, not sent yet: the next launch sends it" : why.cell
    }

    /// Describes what an SDK sent and what it keeps: `2 sent, 1 queued (the device is offline)`.
    static func queue(_ answer: JSONObject) -> String {
        let reason = answer["reason"].text.map { " (\($0))" } ?? ""
        return "\(answer["sent"].elements.count) sent, \(answer["queued"].cell) queued\(reason)"
    }

    private static func positions(_ positions: [AttributeValue]) -> String {
        let shown = positions.prefix(5).map { "@\($0.cell)" }.joined(separator: " ")
        return positions.count > 5 ? "\(shown) and \(positions.count - 5) more" : shown
    }

    /// The source of an event: `extension PushContent on phone`.
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

enum Number {
    static func grouped(_ number: UInt64) -> String {
        let digits = String(number % 1_000)
        if number < 1_000 { return digits }
        return grouped(number / 1_000) + "," + String(repeating: "0", count: 3 - digits.count) + digits
    }

    static func grouped(_ number: Int) -> String { (number < 0 ? "-" : "") + grouped(UInt64(number.magnitude)) }

    /// `1 event`, `2 events`.
    static func counted(_ number: UInt64, _ noun: String) -> String {
        "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// A number of bytes with a unit: `12.3 MB`.
    static func bytes(_ count: UInt64) -> String {
        var value = Double(count)
        for unit in ["bytes", "kB", "MB", "GB"] {
            if value < 1000 { return unit == "bytes" ? "\(count) bytes" : "\(Double(Int(value * 10)) / 10) \(unit)" }
            value /= 1000
        }
        return "\(Double(Int(value * 10)) / 10) TB"
    }
}
