internal import ProfileLogRequests

/// `POST /v1/tags`: an event of the app goes through a container of the tag manager, and the device's SDK is called.
struct TagEndpoint {
    let writes: WriteEndpoints

    private var store: RequestStore { writes.store }
    private var log: EventLog { store.log }

    static let inputs: [EndpointInput] = [
        .required("container"), .required("event"), .init("properties", .object), .init("encodings", .object),
        .init("variables", .object), .init("provider"), .init("language"), .init("quirks", .array), .init("device"),
        .init("time"), .init("dry_run", .boolean),
    ]

    func tag(_ request: APIRequest) async throws -> APIAnswer {
        let fields = try Fields(withoutConditions: request)
        let event = try Self.event(fields)
        let container = try Self.container(fields)
        let quirks = try Self.quirks(fields)
        let device = try fields.device() ?? DeviceStorage.defaultDevice
        let context = EventContext(
            source: .app, occurredAt: try writes.time(fields), process: DeviceStorage.app, device: device)
        let isDry = try fields.flag("dry_run")
        let run = TagRun(container, event)
        let provider = TagProvider(quirks)
        var firings = run.fired.map { TagFiring(tag: $0.tag, outcome: provider.execute($0)) }
        let steps = try prepare(&firings, context)
        let receipts = isDry ? [] : try await commit(steps, &firings, context)
        return try log.withReader {
            try answer(firings, receipts, container, run, event, device, isDry: isDry, $0)
        }
    }

    // MARK: - Reading

    /// The container, with the values of its variables that the request gives.
    private static func container(_ fields: Fields) throws -> TagContainer {
        let text = try fields.requiredText("container")
        var given: [Name: AttributeValue] = [:]
        for member in try fields.object("variables") ?? [] { given[member.key] = member.value }
        var container = try container(text, given)
        let known = Set(container.variables.map(\.name))
        if let name = given.keys.sorted().first(where: { !known.contains($0) }) {
            let nearest = NearestNames(to: name.text, among: known.sorted().map(\.text))
            throw APIError.invalid(
                "variables.\(name.text.shown)", "is no variable of the container",
                remedy: nearest.close.first.map { "Did you mean `\($0.shown)`?" }
                    ?? "It has \(nearest.all.prefix(20).map(\.shown).joined(separator: ", ")).")
        }
        if let provider = try fields.text("provider") { container.provider = provider }
        return container
    }

    private static func container(
        _ text: String, _ given: [Name: AttributeValue]
    ) throws(APIError) -> TagContainer {
        do throws(YAMLFileError) {
            return try TagContainer(yaml: text, given: given)
        } catch {
            var apiError = APIError.invalid(
                "container", "is wrong at line \(error.line), column \(error.column): \(error.sentence)",
                remedy: error.remedy)
            apiError.facts = [("line", UInt64(error.line)), ("column", UInt64(error.column))]
            throw apiError
        }
    }

    private static func event(_ fields: Fields) throws -> AppEvent {
        var event = AppEvent(Name(try fields.requiredText("event")))
        for property in try fields.properties() ?? [] { event.parameters[property.key] = property.value }
        for member in try fields.object("encodings") ?? [] {
            let place = "encodings.\(member.key.text)"
            guard let encoding = member.value.asText.flatMap(NumberEncoding.init(word:)) else {
                let types = NumberEncoding.allCases.map(\.rawValue).joined(separator: ", ")
                throw APIError.invalid(
                    place, "must be the C type of a number", remedy: "The types are \(types), or a letter of `@encode`."
                )
            }
            guard event.parameters[member.key] != nil else {
                throw APIError.invalid(
                    place, "is about a property that is not there", remedy: "Send the property too.")
            }
            event.encodings[member.key] = encoding
        }
        return event
    }

    /// Returns the quirks of `language`, or `quirks` one by one.
    private static func quirks(_ fields: Fields) throws -> Set<TagQuirk> {
        let language = try fields.choice("language", "must be correct, swift, objective-c or kotlin") {
            word -> Set<TagQuirk>? in
            word == "correct" ? [] : TagLanguage(word: word).map { TagQuirk.of($0) }
        }
        guard let names = try fields.array("quirks") else { return language ?? [] }
        if language != nil { throw APIError.invalid("quirks", "and `language` exclude each other") }
        return Set(try names.map { try TagQuirk(named: $0.asText ?? "", in: "quirks") })
    }

    // MARK: - Storing

    /// A commit, and the indices of the firings that it stores.
    private struct Step {
        let change: Change
        let firings: [Int]

        enum Change {
            case events(PreparedAppend)
            case user(UserID)
        }
    }

    /// Prepares the events of `firings`, in order. Calls that cannot be stored, or are lost, are marked.
    private func prepare(_ firings: inout [TagFiring], _ context: EventContext) throws -> [Step] {
        let device = context.device ?? DeviceStorage.defaultDevice
        let settings = try log.reader.devices.find(device)?.settings ?? DeviceSettings()
        var steps: [Step] = []
        var builder = log.prepare()
        var added: [Int] = []
        for index in firings.indices {
            guard case .call(let call) = firings[index].outcome.result else { continue }
            do {
                guard settings.isSDKEnabled else { throw APIError.invalid("tag", QueueReason.disabled.words) }
                switch call {
                case .logEvent(let event): try builder.add(.customEventLogged(event), context, to: .device(device))
                case .setCustomAttribute(let key, let value):
                    let change = ProfileEvent.customAttributesChanged([AttributeChange(key, .set(value))])
                    try builder.add(change, context, to: .device(device))
                case .changeUser(let id):
                    guard Identifiers.fits(id) else {
                        throw APIError.invalid(
                            "externalUserId", "must have 1 to \(Limits.bytesPerIdentifier) bytes")
                    }
                    if !builder.isEmpty {
                        var full = log.prepare()
                        swap(&full, &builder)
                        steps.append(Step(change: .events(try full.finish()), firings: added))
                        added = []
                    }
                    steps.append(Step(change: .user(.externalID(id)), firings: [index]))
                    continue
                }
                added.append(index)
                firings[index].isLost = !settings.push.hasInstance
            } catch let error as APIError {
                firings[index].error = error
            } catch let error as AppendError {
                guard case .invalid = error else { throw error }
                firings[index].error = APIError(error)
            }
        }
        if !builder.isEmpty { steps.append(Step(change: .events(try builder.finish()), firings: added)) }
        return steps
    }

    /// Commits `steps` in order. If one fails after another was stored, its firings and all later ones are marked.
    private func commit(
        _ steps: [Step], _ firings: inout [TagFiring], _ context: EventContext
    ) async throws -> [AppendReceipt] {
        var receipts: [AppendReceipt] = []
        for (index, step) in steps.enumerated() {
            do {
                receipts.append(try await commit(step.change, context))
            } catch {
                if receipts.isEmpty { throw error }
                for firing in steps[index...].flatMap(\.firings) { firings[firing].error = APIError(error) }
                break
            }
        }
        return receipts
    }

    private func commit(_ change: Step.Change, _ context: EventContext) async throws -> AppendReceipt {
        switch change {
        case .events(let append): return try await store.commit(append)
        case .user(let id):
            return try await store.perform { log in
                try log.changeUser(
                    device: context.device ?? DeviceStorage.defaultDevice, to: id, context: context)
            }
        }
    }

    // MARK: - Answering

    private func answer(
        _ firings: [TagFiring], _ receipts: [AppendReceipt], _ container: TagContainer, _ run: TagRun,
        _ event: AppEvent, _ device: String, isDry: Bool, _ log: LogReader
    ) throws -> APIAnswer {
        let versions = container.languages.map { language in
            (language, run.fired.map(TagProvider(TagQuirk.of(language)).execute))
        }
        let state = try log.devices.state(of: device)
        let user = try state.user.flatMap { try log.users.find($0) }
        let last = receipts.last { !$0.places.isEmpty }?.last ?? .start
        return try APIAnswer.ok { json in
            try json.stored(last, in: log)
            json.member("device", device)
            json.member("user", user)
            json.member("events", receipts.reduce(0) { $0 + $1.places.count })
            json.member("dry_run", isDry)
            json.objects("tags", firings.enumerated()) { json, element in
                element.element.write(to: &json)
                json.objects("published", versions) { json, version in
                    let outcome = version.1[element.offset]
                    json.member("language", version.0.rawValue)
                    outcome.write(to: &json)
                }
            }
            json.objects("blocked", run.blocked) { json, tag in
                json.member("tag", tag.tag.text)
                json.member("trigger", tag.trigger.text)
            }
            json.objects("unplayed", container.unplayed) { json, part in
                json.member("place", part.place)
                json.member("name", part.name.text)
                json.member("reason", part.reason)
                json.member("remedy", part.remedy)
            }
            json.member("note", firings.isEmpty ? Self.noteAboutNothing(container, run, event) : nil)
            let isOfFirebase = container.triggers.contains { $0.firebaseEvent == event.name }
            json.array("warnings", FirebaseRule.broken(by: event, loggedByFirebase: isOfFirebase)) {
                $0.value($1.sentence(\.shown))
            }
            json.member("queued", state.queued.count)
            json.member("why", state.queued.isEmpty ? nil : state.settings.reasonQueued().rawValue)
        }
    }

    private static func noteAboutNothing(_ container: TagContainer, _ run: TagRun, _ event: AppEvent) -> String {
        if let tag = run.blocked.first {
            let (name, trigger) = (tag.tag.text.shown, tag.trigger.text.shown)
            return "No tag fired: the exception `\(trigger)` kept `\(name)` from it."
        }
        if let tag = run.missed.first {
            let (name, trigger) = (tag.tag.text.shown, tag.trigger.text.shown)
            return "No tag fired. `\(name)` came nearest: its trigger `\(trigger)` asks for this event, but its "
                + "condition does not hold: \(tag.condition.shown)."
        }
        let names = NearestNames(to: event.name.text, among: container.events.sorted().map(\.text))
        if names.all.isEmpty { return "No tag has a trigger on this event." }
        let next =
            names.close.first.map { "Did you mean `\($0.shown)`?" }
            ?? "The triggers are on \(names.all.prefix(20).map(\.shown).joined(separator: ", "))."
        return "No tag has a trigger on this event. \(next)"
    }
}

/// A tag that fired, and its outcome.
private struct TagFiring {
    let tag: Name
    let outcome: TagOutcome
    /// The reason why its call was refused.
    var error: APIError?
    /// Tells whether the SDK that it called did not exist yet.
    var isLost = false

    func write(to json: inout JSONWriter) {
        json.member("tag", tag.text)
        outcome.write(to: &json, error, isLost: isLost)
    }
}

extension TagOutcome {
    /// Writes `outcome`, the call or the reason, and the quirks that showed.
    fileprivate func write(to json: inout JSONWriter, _ error: APIError? = nil, isLost: Bool = false) {
        switch result {
        case .call(let call):
            json.member("outcome", error != nil ? "refused" : isLost ? "lost" : "called")
            json.object("call") { call.write(to: &$0) }
            if let error {
                json.member("reason", error.error)
                json.member("remedy", error.remedy)
            } else if isLost {
                json.member("reason", "The app logged it before the SDK existed.")
                json.member("remedy", "Let the app make its instance of the SDK first.")
            }
        case .nothing(let why):
            json.member("outcome", "nothing")
            json.member("reason", "The tag \(why.reason).")
            json.member("remedy", why.remedy)
        }
        json.objects("quirks", quirks) { $1.write(to: &$0) }
    }
}

extension TagQuirk {
    /// The quirk with this name; `place` is the field that has it.
    init(named name: String, in place: String) throws(APIError) {
        guard let quirk = TagQuirk(rawValue: name) else {
            let nearest = NearestNames(to: name, among: TagQuirk.allCases.map(\.rawValue))
            throw APIError.invalid(place, "has an unknown one", remedy: nearest.remedy("The quirks are", "`"))
        }
        self = quirk
    }

    /// Writes its name and the verdict on it.
    func write(to json: inout JSONWriter) {
        json.member("quirk", rawValue)
        json.member("verdict", verdict)
    }
}

extension TagCall {
    fileprivate func write(to json: inout JSONWriter) {
        switch self {
        case .logEvent(let event):
            json.member("action", TagAction.logEvent.rawValue)
            json.member("name", event.name.text)
            json.member("properties", .object(JSONValues.json(event.properties ?? [])))
        case .setCustomAttribute(let key, let value):
            json.member("action", TagAction.customAttribute.rawValue)
            json.member("name", key.text)
            json.member("value", JSONValues.json(value))
        case .changeUser(let user):
            json.member("action", TagAction.changeUser.rawValue)
            json.member("user", user)
        }
    }
}

// MARK: - The form of the answer

extension TagQuirk {
    static let shape: AnswerShape = ["quirk": .text, "verdict": .text]
}

extension TagEndpoint {
    private static let outcome: AnswerShape = [
        "outcome": .text,
        "call?": ["action": .text, "name?": .text, "properties?": .map(.any), "value?": .any, "user?": .text],
        "reason?": .text, "remedy?": .text, "quirks": [TagQuirk.shape],
    ]

    static let shape: AnswerShape =
        .stored + [
            "device": .text, "user": .orNull(.user), "events": .integer, "dry_run": .boolean,
            "tags": [["tag": .text] + outcome + ["published": [["language": .text] + outcome]]],
            "blocked": [["tag": .text, "trigger": .text]],
            "unplayed": [["place": .text, "name": .text, "reason": .text, "remedy": .text]], "note?": .text,
            "warnings": [.text], "queued": .integer, "why?": .text,
        ]
}
