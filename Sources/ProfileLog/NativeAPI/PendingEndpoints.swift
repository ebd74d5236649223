internal import ProfileLogRequests

/// Items that wait on devices, for a launch or to be sent.
struct PendingEndpoints {
    let store: RequestStore

    private static let mostPendingItems = 100_000

    /// Items that wait on one device, after the request's filters.
    private struct Waiting {
        var device: Name
        var state: DeviceState
        var items: [RecordedEvent]
        var queue: [RecordedEvent]
        var times: WaitingTimes
    }

    func pending(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        var query = Query(request)
        let device = try query.device()
        let user = try query.user()
        let storage = try query.text("storage").map(Self.storage)
        let limit = try query.limit(standard: 10_000, most: Self.mostPendingItems)
        let asked = try query.past(now: log.options.now())
        try query.end()
        let number = try user.map { try log.users.knownUser(meantBy: $0, in: asked).number }
        let past = try asked.history(log).map { try Self.past($0, of: device, asked, log) }
        let devices: [Name]
        if let device {
            let isKnown = if let past { past.states[Name(device)] != nil } else { try log.devices.find(device) != nil }
            guard isKnown else { throw APIError.unknownDevice }
            devices = [Name(device)]
        } else {
            devices = try past?.states.keys.sorted() ?? log.devices.all()
        }
        let now = past?.now ?? log.options.now()
        var times = WaitingTimes(now: now)
        var events = EventJSON(log: log, past: past?.history)
        var merges = PastMerges()
        var (total, queued, listed) = (0, 0, 0)
        return try APIAnswer.ok { json in
            try json.array("devices", devices) { json, name in
                var waiting = try Self.waiting(on: name, past, number, storage, now: now, &times, log)
                total += waiting.items.count
                queued += waiting.queue.count
                if waiting.items.isEmpty, waiting.queue.isEmpty, device == nil { return }
                waiting.items = Array(waiting.items.prefix(limit - listed))
                listed += waiting.items.count
                waiting.queue = Array(waiting.queue.prefix(limit - listed))
                listed += waiting.queue.count
                try Self.write(waiting, now: now, past?.history, &merges, &events, log, to: &json)
            }
            json.member("total", total)
            json.member("queued", queued)
            json.member("listed", listed)
            times.write(to: &json)
            let things = user == nil ? "waiting items" : "waiting items of the user"
            let note = ListNote(things, request, past: asked, none: user == nil ? "Nothing waits." : nil)
            try json.note(note, isEmpty: total == 0 && queued == 0, in: log)
        }
    }

    /// The devices at a past moment.
    private struct Past {
        let history: PastHistory
        let states: [Name: DeviceState]
        /// The time from which ages count.
        let now: Timestamp
    }

    private static func past(
        _ history: PastHistory, of device: String?, _ asked: AskedPast, _ log: LogReader
    ) throws -> Past {
        Past(
            history: history, states: try log.deviceStates(in: history, of: device.map { [Name($0)] }),
            now: try asked.time(at: history.position, log))
    }

    private static func waiting(
        on device: Name, _ past: Past?, _ user: UserNumber?, _ storage: DeviceStorage?, now: Timestamp,
        _ times: inout WaitingTimes, _ log: LogReader
    ) throws -> Waiting {
        var merges = PastMerges()
        func owner(_ event: RecordedEvent) throws -> UserNumber {
            guard let past else { return try log.users.canonicalUser(of: event.user) }
            return try log.past.canonicalUser(of: event.user, in: past.history, &merges)
        }
        func isWanted(_ event: RecordedEvent) throws -> Bool {
            try user.map { try owner(event) == $0 } ?? true && storage.map { $0 == event.context.storage } ?? true
        }
        let state = try past?.states[device] ?? log.devices.state(of: device.text)
        let items = try log.devices.pending(in: state).filter(isWanted)
        let queue = try log.devices.queue(in: state).filter(isWanted)
        times.add(items, queue)
        var own = WaitingTimes(now: now)
        own.add(items, queue)
        return Waiting(device: device, state: state, items: items, queue: queue, times: own)
    }

    private static func write(
        _ waiting: Waiting, now: Timestamp, _ past: PastHistory?, _ merges: inout PastMerges,
        _ events: inout EventJSON, _ log: LogReader, to json: inout JSONWriter
    ) throws {
        let state = waiting.state
        try json.object { json in
            json.member("device", waiting.device.text)
            json.member("user", try state.user.flatMap { try log.user($0, in: past, &merges) })
            json.member("last_launch", state.lastLaunch ?? .start)
            json.member("sdk_enabled", state.settings.isSDKEnabled)
            try json.storages(of: waiting.items, state.settings) { json, items in
                try json.object("kinds") { json in
                    for kind in PendingKind.allCases {
                        try json.array(kind.key, items.filter { $0.list == kind }) { json, item in
                            try write(item, now: now, nil, &events, to: &json)
                        }
                    }
                }
            }
            let why = state.settings.reasonQueued()
            try json.array("queue", waiting.queue) { try write($1, now: now, why, &events, to: &$0) }
            waiting.times.write(to: &json)
        }
    }

    private static func write(
        _ item: RecordedEvent, now: Timestamp, _ why: QueueReason?, _ events: inout EventJSON,
        to json: inout JSONWriter
    ) throws {
        try json.object { json in
            try events.writeItem(item, to: &json)
            json.member("age_s", item.seconds(until: now))
            json.member("why", why?.rawValue)
        }
    }

    /// A storage by its name in the answers: an app group, or `private:PROCESS`.
    private static func storage(_ name: String) throws -> DeviceStorage {
        guard name.hasPrefix("private:") else { return .appGroup(Name(name)) }
        return .privateTo(process: Name(String(name.dropFirst("private:".count))))
    }

    // MARK: - Giving up

    func discard(_ request: APIRequest) async throws -> APIAnswer {
        let fields = try Fields(withoutConditions: request)
        let device = try fields.device() ?? DeviceStorage.defaultDevice
        let storage = try fields.text("storage").map(Self.storage)
        let positions = try fields.array("positions").map { try $0.map(Self.position) }
        let reason = try fields.requiredText("reason")
        let actor = try fields.text("actor") ?? "api"
        if storage != nil, positions != nil {
            throw APIError.invalid("positions", "and `storage` exclude each other")
        }
        let selection = try store.read { log in
            try Self.selection(on: device, storage: storage, positions: positions, log)
        }
        let receipt = try await store.commit(
            PreparedAppend.discard(
                device: device, selection, actor: actor, reason: reason, context: EventContext(source: .app)))
        return try store.read { log in
            try APIAnswer.ok { json in
                try json.stored(receipt.stored, in: log)
                json.member("device", device)
                json.array("discarded", try log.discarded(by: receipt)) { $0.value($1.rawValue) }
                json.member("events", receipt.places.count)
                json.member("waiting", try log.devices.pendingCount(on: device))
            }
        }
    }

    private static func selection(
        on device: String, storage: DeviceStorage?, positions: [Position]?, _ log: LogReader
    ) throws -> PendingSelection {
        guard try log.devices.find(device) != nil else { throw APIError.unknownDevice }
        guard let positions else { return storage.map { .storage($0) } ?? .all }
        let waiting = Set(try log.devices.pending(on: device).map(\.position))
        if let wrong = positions.first(where: { !waiting.contains($0) }) {
            throw APIError.invalidHere(
                "positions", "has \(wrong.rawValue), which does not wait on this device",
                remedy: "Look at what is pending, and name positions of it.")
        }
        return .positions(Set(positions))
    }

    private static func position(_ value: AttributeValue) throws -> Position {
        guard case .int(let position) = value, position > 0 else {
            throw APIError.invalid("positions", "must list positions of the log")
        }
        return Position(rawValue: UInt64(position))
    }

    // MARK: - What was refused, and its repair

    private static let mostRejected = 10_000

    func rejected(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        var query = Query(request)
        let id = try query.user()
        let withRepaired = try query.flag("repaired")
        let after = try query.number("after", 0...UInt64.max, standard: 0)
        let limit = try query.limit(standard: 1_000, most: Self.mostRejected)
        try query.end()
        let number = try id.map { try log.users.knownUser(meantBy: $0).number }
        let saved = try log.items.rejected(of: number, isOpen: !withRepaired).map(Refused.item)
        let leftOut = try log.items.leftOut(of: number).map(Refused.object)
        let all = (saved + leftOut).enumerated().filter { $1.position.rawValue > after }
            .sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }.map(\.element)
        // What one event of the log says stays on one page.
        let cut = all.dropFirst(limit).firstIndex { $0.position != all[limit - 1].position } ?? all.count
        var events = EventJSON(log: log)
        return try APIAnswer.ok { json in
            try json.objects("rejected", all[..<cut]) { json, refused in
                switch refused {
                case .item(let item): try Self.write(item, &events, to: &json)
                case .object(let object): try Self.write(object, &events, to: &json)
                }
            }
            json.member("total", saved.count + leftOut.count)
            json.member("last", cut == 0 ? after : all[cut - 1].position.rawValue)
            json.member("more", cut < all.count)
            let things = id == nil ? "rejected items" : "rejected items of the user"
            let note = ListNote(things, request, none: id == nil ? "Nothing is rejected." : nil)
            try json.note(note, isEmpty: all.isEmpty, in: log)
        }
    }

    /// Something that was not taken, at the position of the event that says so.
    private enum Refused {
        case item(RejectedItem)
        case object(RefusedObject)

        var position: Position {
            switch self {
            case .item(let item): item.flush
            case .object(let object): object.position
            }
        }
    }

    private static func write(_ rejected: RejectedItem, _ events: inout EventJSON, to json: inout JSONWriter) throws {
        try events.writeItem(rejected.item, to: &json)
        json.member("device", rejected.item.context.device)
        json.member("reason", rejected.reason)
        json.member("flush", rejected.flush.rawValue)
        json.member("repaired_by", rejected.repairedBy ?? .start)
    }

    private static func write(_ object: RefusedObject, _ events: inout EventJSON, to json: inout JSONWriter) throws {
        json.member("position", object.position.rawValue)
        json.member("kind", EventKind.objectsLeftOut.name)
        json.member("user", try events.id(of: object.user).map(AttributeValue.string) ?? .null)
        json.member("recorded_at", object.recordedAt)
        json.leftOut(object.what)
    }

    func retry(_ request: APIRequest) async throws -> APIAnswer {
        let fields = try Fields(withoutConditions: request)
        let position = try fields.position()
        let (item, outcome) = try store.read { log in
            (try log.event(at: position), try log.items.outcome(of: position))
        }
        guard let item, item.event.kind.isSaved else {
            throw APIError.invalidHere(
                "position", "is not that of a saved item", remedy: "`GET /v1/rejected` lists those to be repaired.")
        }
        guard case .rejected = outcome else {
            throw APIError.invalidHere(
                "position", "is that of an item that is not rejected",
                remedy: "`GET /v1/rejected` lists those to be repaired.")
        }
        let correction = try Self.correction(of: item.event, fields)
        let process = item.context.process ?? DeviceStorage.app
        let source: EventSource = process == DeviceStorage.app ? .app : .extension
        let receipt: AppendReceipt
        do {
            receipt = try await store.perform { log in
                try log.commit(.repair(of: position, with: correction, source: source, in: log))
            }
        } catch AppendError.keyReused(let repair) {
            throw APIError(
                status: 409, code: "already_repaired",
                error: "The item was repaired before, with other content, by the one at position \(repair.rawValue).",
                remedy: "If that one is rejected too, retry it.", place: "position",
                facts: [("actual", repair.rawValue)])
        }
        return try WriteEndpoints(store: store).answer(
            to: receipt, savedOn: item.context.device, requested: item.context.storage
        ) { json, _ in
            json.member("replaces", position.rawValue)
            json.member("device", item.context.device ?? DeviceStorage.defaultDevice)
        }
    }

    /// `saved` with the fields' corrections; nil if there are none. Other members stay as they were saved.
    private static func correction(of saved: ProfileEvent, _ fields: Fields) throws -> ProfileEvent? {
        let known: [PendingKind: Set<Name>] = [
            .customEvents: names(WriteKind.event), .customAttributes: names(WriteKind.attributes),
            .userAttributes: names(WriteKind.userAttribute),
        ]
        guard let list = PendingKind(saved.kind), let own = known[list] else { return nil }
        /// `null` is missing, but as the value of a user attribute, which it unsets.
        func isGiven(_ name: Name) -> Bool {
            guard let value = fields.value(name) else { return false }
            return value != .null || name == "value" && list == .userAttributes
        }
        let others = Set(known.values.joined()).subtracting(own)
        if let other = others.sorted().first(where: isGiven) {
            throw APIError.invalid(
                other.text, "corrects no \(saved.kind.name)",
                remedy: "It has the fields \(own.sorted().map(\.text).joined(separator: ", ")).")
        }
        guard own.contains(where: isGiven) else { return nil }
        switch (list, saved) {
        case (.customEvents, .customEventSaved(var event)):
            if let name = try fields.text("name") { event.name = Name(name) }
            if isGiven("properties") { event.properties = try fields.properties() }
            return .customEventSaved(event)
        case (.customAttributes, .customAttributesSaved):
            let steps = try fields.attributeChanges()
            guard steps.count == 1 else {
                throw APIError.invalid("attributes", "must have one operation for each attribute")
            }
            return .customAttributesSaved(steps[0])
        case (.userAttributes, .userAttributeSaved(var change)):
            if let name = try fields.text("attribute") {
                guard let attribute = StandardAttribute(name: name) else { throw APIError.unknownAttribute(name) }
                change.attribute = attribute
            }
            if let value = fields.value("value") {
                change.value = try APIError.at("value") { () throws(JSONFormError) in try JSONValues.value(value) }
            }
            return .userAttributeSaved(try UserAttributeChange(change.attribute, requested: change.value))
        case (.customEvents, _), (.customAttributes, _), (.userAttributes, _): return nil
        }
    }

    private static func names(_ inputs: [EndpointInput]) -> Set<Name> { Set(inputs.map { Name($0.name) }) }
}

extension JSONWriter {
    /// The member `storages`: the items by where they lie, with whether the app sees it.
    mutating func storages(
        of items: [RecordedEvent], _ settings: DeviceSettings,
        _ write: (inout JSONWriter, [RecordedEvent]) throws -> Void
    ) rethrows {
        let groups = Dictionary(grouping: items) { $0.context.storage ?? .privateTo(process: DeviceStorage.app) }
            .sorted { Name($0.key.name) < Name($1.key.name) }
        try objects("storages", groups) { json, group in
            json.member("storage", group.key.name)
            json.member("visible_to_app", settings.appSees(group.key))
            json.member("hidden_because", settings.reasonHidden(group.key))
            try write(&json, group.value)
        }
    }
}

extension RecordedEvent {
    /// The list in which it waits for a launch; nil if it is no saved item.
    var list: PendingKind? { PendingKind(event.kind) }
}

/// The times for which items have waited by now: those of each list for a launch, and those in SDKs' queues to be sent.
struct WaitingTimes {
    private let now: Timestamp
    private var lists: [PendingKind: [Double]] = [:]
    private var queued: [Double] = []

    init(now: Timestamp) { self.now = now }

    /// Adds items that wait for a launch, and those that an SDK has taken and not sent: they wait since they were saved
    /// or logged.
    mutating func add(_ items: [RecordedEvent], _ queue: [RecordedEvent]) {
        for item in items {
            if let list = item.list { lists[list, default: []].append(item.seconds(until: now)) }
        }
        queued += queue.map { $0.seconds(until: now) }
    }

    /// Writes the member `waiting_s`: `all` that waits for a launch, each list, and `queue`.
    func write(to json: inout JSONWriter) {
        json.object("waiting_s") { json in
            Self.write("all", lists.values.flatMap { $0 }, to: &json)
            for kind in PendingKind.allCases { Self.write(kind.key, lists[kind] ?? [], to: &json) }
            Self.write("queue", queued, to: &json)
        }
    }

    /// Quantiles are times that occur (nearest rank): with ten items, the nine that waited least waited up to `p90`.
    private static func write(_ key: String, _ seconds: [Double], to json: inout JSONWriter) {
        let sorted = seconds.sorted()
        json.object(key) { json in
            json.member("count", sorted.count)
            for (key, share) in [("shortest", 0), ("median", 0.5), ("p90", 0.9), ("longest", 1)] {
                let place = max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)
                json.member(key, sorted.isEmpty ? AttributeValue.null : .double(sorted[place]))
            }
        }
    }
}

// MARK: - The form of the answers

extension WaitingTimes {
    private static let quantiles: AnswerShape = .named(
        "WaitingTimes",
        [
            "count": .integer, "shortest": .orNull(.number), "median": .orNull(.number), "p90": .orNull(.number),
            "longest": .orNull(.number),
        ])

    /// The member `waiting_s`.
    static let shape: AnswerShape = ["all": quantiles] + PendingKind.shape(quantiles) + ["queue": quantiles]
}

extension PendingEndpoints {
    private static let item: AnswerShape = .named(
        "PendingItem", EventJSON.item + ["age_s": .number, "why?": .text])

    static let storage: AnswerShape = ["storage": .text, "visible_to_app": .boolean, "hidden_because?": .text]

    static let pendingItems: AnswerShape = [
        "devices": [
            [
                "device": .text, "user": .orNull(.user), "last_launch": .position, "sdk_enabled": .boolean,
                "storages": [storage + ["kinds": PendingKind.shape([item])]],
                "queue": [item], "waiting_s": WaitingTimes.shape,
            ]
        ],
        "total": .integer, "queued": .integer, "listed": .integer, "waiting_s": WaitingTimes.shape, "note?": .text,
    ]

    static let discarded: AnswerShape =
        .stored + ["device": .text, "discarded": [.integer], "events": .integer, "waiting": .integer]

    private static let rejectedItem: AnswerShape = .named(
        "RejectedItem",
        EventJSON.item + ["device?": .text, "reason": .text, "flush": .integer, "repaired_by": .position])

    /// An object that a request lost.
    private static let skippedObject: AnswerShape = .named(
        "SkippedObject",
        ["position": .integer, "kind": .text, "user": .orNull(.text), "recorded_at": .time] + EventJSON.leftOut)

    static let rejections: AnswerShape = [
        "rejected": [.either([rejectedItem, skippedObject])], "total": .integer, "last": .integer, "more": .boolean,
        "note?": .text,
    ]

    static let retried: AnswerShape = WriteEndpoints.saved + ["replaces": .integer, "device": .text]
}
