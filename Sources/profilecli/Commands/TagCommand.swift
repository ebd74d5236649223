internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct TagCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "tag", "Send an event of the app through a container of the tag manager.",
        """
        FILE is a container: which events fire which tags, and what the tags hand to the provider. Write one \
        (docs/tag-manager.md), or export one in the tag manager's web interface. What the provider \
        calls is stored on the device: an event, an attribute, another user. \
        The table also shows what the published versions of the provider would have called, and below it why \
        they differ, and which of Firebase's rules the event breaks.
        """,
        examples: """
            profilecli tag container.yaml "played song" -p genre=pop
            profilecli tag container.yaml "played song" --language objective-c
            profilecli tag container.yaml "played song" --quirk boxed-numbers
            profilecli tag container.yaml opened -p n=3 --encoding n="unsigned int"
            profilecli tag GTM-SONGS1.json song_played --variable "App ID=org.songs"
            profilecli tag container.yaml "played song" --dry-run --format json
            """)

    @Argument(
        help: "The container: YAML, or the JSON of an export.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var file: String
    @Argument(help: "The name of the app's event.") var event: String
    @OptionGroup var properties: PropertyOptions

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "The C type of the property's number object, as in n=char, or its letter, as in n=q. Repeatable.",
            valueName: "key=type"))
    var encoding: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "The value of a variable, as of one that only the app knows; JSON if it is valid JSON, else text. "
                + "Repeatable.", valueName: "name=value"))
    var variable: [String] = []

    @Option(help: .init("The class path of the provider: tags of other classes call nothing.", valueName: "class"))
    var provider: String?

    @Option(
        help: "The language of the provider: correct, swift, objective-c or kotlin (default: correct).",
        completion: .list(["correct", "swift", "objective-c", "kotlin"]))
    var language: String?

    @Option(
        help: .init("Only this quirk of the published versions. Repeatable.", valueName: "quirk"),
        completion: .list(TagQuirk.allCases.map(\.rawValue)))
    var quirk: [String] = []

    @Flag(help: "Store nothing.") var dryRun = false
    @Option(help: .init("The device (default: phone).", valueName: "id")) var device: String?
    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        try Blank.refuse(event, "EVENT")
        try Blank.refuse(device, "--device")
        try Blank.refuse(provider, "--provider")
        if language != nil, !quirk.isEmpty {
            throw ValidationError("--language and --quirk exclude each other. Omit one of them.")
        }
    }

    func run() async throws {
        let container = try YAMLFile.container(file)
        let encodings = try TypedPairs(.property, [], texts: encoding).members()
        let variables = try TypedPairs(.variable, variable, texts: []).members()
        try await place.send("/v1/tags", create: true, notes: properties.notes) { json in
            json.member("container", container)
            json.member("event", event)
            try properties.write(to: &json)
            if !encodings.isEmpty { json.member("encodings", .object(encodings)) }
            if !variables.isEmpty { json.member("variables", .object(variables)) }
            json.member("provider", provider)
            json.member("language", language)
            if !quirk.isEmpty { json.member("quirks", quirk) }
            json.member("device", device)
            json.member("time", clock.time)
            if dryRun { json.member("dry_run", true) }
        } lines: {
            TagTable(answer: $0).lines
        }
    }
}

/// The answer of `/v1/tags`, for people.
struct TagTable {
    let answer: JSONObject

    var lines: [String] {
        let tags = answer.objects("tags")
        guard !tags.isEmpty else { return [answer["note"].cell.oneLine] + blocked + unplayed + warnings }
        let titles = tags[0].objects("published").map { "\($0["language"].cell.uppercased()) DOES" }
        // A table shows no column that is empty.
        var table = Table("TAG", "DOES", titles.first ?? "", titles.dropFirst().first ?? "")
        for tag in tags {
            let does = Self.does(tag)
            let published = tag.objects("published").map(Self.does).map { $0 == does ? "the same" : $0 }
            table.add(tag["tag"].cell, does, published.first ?? "", published.dropFirst().first ?? "")
        }
        return table.lines() + Self.verdicts(tags) + Self.remedies(tags) + blocked + unplayed + warnings + [summary]
    }

    /// Describes the outcome of a tag, or why it did nothing or was lost.
    private static func does(_ outcome: JSONObject) -> String {
        let call = outcome.object("call")
        let result = outcome["outcome"].text
        guard result == "called" else {
            return "\(result == "lost" ? "lost" : "nothing"): \(outcome["reason"].cell)"
        }
        let name = call["name"].cell
        switch call["action"].text {
        case "logEvent":
            let properties = call["properties"]
            return properties.members.isEmpty ? "logs \(name)" : "logs \(name) \(properties.json)"
        case "customAttribute": return "sets \(name) = \(call["value"].json)"
        default: return "changes the user to \(call["user"].cell)"
        }
    }

    /// A line for each quirk that showed, with the languages that have it.
    private static func verdicts(_ tags: [JSONObject]) -> [String] {
        var languages: [String: [String]] = [:]
        var lines: [(quirk: String, verdict: String)] = []
        for version in tags.flatMap({ $0.objects("published") }) {
            for quirk in version.objects("quirks") {
                let (name, language) = (quirk["quirk"].cell, version["language"].cell)
                if languages[name] == nil { lines.append((name, quirk["verdict"].cell)) }
                if !languages[name, default: []].contains(language) { languages[name, default: []].append(language) }
            }
        }
        return lines.map { Self.line($0.quirk, languages[$0.quirk, default: []], verdict: $0.verdict) }
    }

    /// A quirk with the languages that have it, and the verdict on it.
    static func line(_ quirk: String, _ languages: [String], _ more: String = "", verdict: String) -> String {
        "\(quirk) (\(languages.joined(separator: ", ")))\(more): \(verdict)"
    }

    /// The next step for each tag that did nothing.
    private static func remedies(_ tags: [JSONObject]) -> [String] {
        tags.compactMap { tag in tag["remedy"].text.map { "\(tag["tag"].cell): \($0)".oneLine } }
    }

    /// A line for each of Firebase's rules that the event breaks.
    private var warnings: [String] { answer["warnings"].elements.map { "Warning: \($0.cell)".oneLine } }

    /// A line for each tag that an exception kept from firing.
    private var blocked: [String] {
        answer.objects("blocked").map { "Blocked: \($0["tag"].cell), by the exception \($0["trigger"].cell)".oneLine }
    }

    private static let mostUnplayed = 20

    /// A line for each part of the container that is not played.
    private var unplayed: [String] {
        let parts = answer.objects("unplayed")
        let lines = parts.prefix(Self.mostUnplayed).map { part in
            let place = "\(part["place"].cell) (\(part["name"].cell))"
            return "Not played: \(place) \(part["reason"].cell). \(part["remedy"].cell)".oneLine
        }
        let more = parts.count - lines.count
        return more > 0 ? lines + ["Not played: \(more) more; --format json has all."] : lines
    }

    private var summary: String {
        if answer.flag("dry_run") { return "A dry run: nothing was stored." }
        let count = answer.count("events")
        if count == 0 { return "Nothing was stored." }
        let queued = answer.count("queued")
        let waiting = queued > 0 ? "; \(queued) queued (\(answer["why"].cell))" : ""
        let user = answer["user"] == .null ? "" : Suggestion.next(Suggestion.profile(of: answer.object("user")))
        let stored = "Stored \(Number.counted(count, "event")) on \(answer["device"].cell.oneLine)"
        return "\(stored), the last at position \(answer["position"].cell)\(waiting). \(user)"
    }
}
