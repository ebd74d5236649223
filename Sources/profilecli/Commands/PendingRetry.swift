internal import ArgumentParser
internal import ProfileLog

/// `profilecli pending retry`
struct PendingRetry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Save a rejected item once more, corrected or as it is.",
        discussion: """
            It waits for the next launch of its device, with the time of its first save. The correction has the form of the save, \
            without USER: a name and properties for an event, KEY=VALUE for attributes, an attribute and its value for a user \
            attribute. What is left out stays; properties and attributes are replaced as a whole.

            EXAMPLES
              profilecli rejected
              profilecli pending retry 12
              profilecli pending retry 12 email jane@example.org
              profilecli pending retry 13 "Match Game" -p Score=10
              profilecli pending retry 14 level=7 favourite="green tea"
            """)

    @Argument(help: "Where the item was saved, as `profilecli rejected` tells.")
    var position: Int64

    @Argument(help: ArgumentHelp("NAME, KEY=VALUE …, or ATTRIBUTE VALUE.", valueName: "correction"))
    var correction: [String] = []

    @Option(
        name: [.customShort("p"), .customLong("property")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A property of a corrected event. Repeatable.", valueName: "key=value"))
    var properties: [String] = []

    @Option(
        name: .customLong("string"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A property or an attribute whose VALUE is text. Repeatable.", valueName: "key=value"))
    var strings: [String] = []

    @OptionGroup var place: PlaceOptions

    private var hasCorrection: Bool { !(correction + properties + strings).isEmpty }

    func run() async throws {
        let connection = try place.connect()
        let kind = hasCorrection ? try await kind(connection) : nil
        let answer = try await connection.post("/v1/pending/retry") { json in
            json.key("position")
            json.value(position)
            switch kind {
            case .customEventSaved: try writeEvent(to: &json)
            case .customAttributesSaved: try writeAttributes(to: &json)
            case .userAttributeSaved: try writeUserAttribute(to: &json)
            default: break
            }
        }
        for remark in ValueArguments.remarks(properties + (kind == .customAttributesSaved ? correction : [])) {
            Output.message(DisplayWidth.oneLine(remark))
        }
        if place.isJSON { return try Output.answer(answer.line, to: answer) }
        let device = answer["device"].cell
        let done = answer["repeated"].flag == true ? "was saved again already," : "is saved again"
        let waiting = Phrase.waiting(UInt64(max(0, answer["waiting"].integer ?? 0)))
        try Output.answer(
            "The item at position \(position) \(done) at \(Phrase.spot(answer)); \(waiting) on \(DisplayWidth.oneLine(device)). "
                + Suggestion.next("launch \(Shell.device(device))"), to: answer)
    }

    /// What kind of item it is, which tells the form of its correction; nil for what is none, which the API then refuses.
    private func kind(_ connection: any Connection) async throws -> EventKind? {
        guard position > 0 else { return nil }
        let answer = try await connection.get("/v1/events", [("after", "\(position - 1)"), ("limit", "1")])
        return answer.objects("events").first?["kind"].text.flatMap { EventKind(name: $0) }
    }

    private func writeEvent(to json: inout JSONWriter) throws {
        guard correction.count <= 1 else {
            throw Failure("The item is an event.", remedy: "Correct it with its NAME and -p KEY=VALUE.", status: .usage)
        }
        json.member("name", correction.first)
        let members = try ValueArguments.members(properties, texts: strings, .property)
        if members.isEmpty { return }
        json.key("properties")
        json.value(.object(members))
    }

    private func writeAttributes(to json: inout JSONWriter) throws {
        guard properties.isEmpty else {
            throw Failure(
                "The item is about attributes, which have no properties.", remedy: "Write KEY=VALUE without -p.",
                status: .usage)
        }
        json.key("attributes")
        json.value(.object(try ValueArguments.members(correction, texts: strings, .attribute)))
    }

    private func writeUserAttribute(to json: inout JSONWriter) throws {
        guard correction.count == 2, properties.isEmpty, strings.isEmpty else {
            throw Failure(
                "The item is a user attribute.", remedy: "Correct it with ATTRIBUTE VALUE, as in email a@b.org.",
                status: .usage)
        }
        json.member("attribute", correction[0])
        json.key("value")
        json.value(UserAttributeArguments.typed(correction[1], isText: false))
    }
}
