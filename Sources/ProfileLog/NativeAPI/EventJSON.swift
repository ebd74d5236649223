internal import ProfileLogRequests

/// Recorded events as JSON objects: the one form of every answer and of the export (docs/api.md).
///
/// Keeps the IDs of the users that it met last, so that a long list asks the log once for each.
package struct EventJSON {
    let log: LogReader
    private var ids: [UserNumber: String] = [:]
    private var voided: [UserNumber: VoidedEvents] = [:]
    /// All void events, if they are known from the start.
    private let allVoided: VoidedEvents?
    /// The history of which the users' IDs are; nil for the present.
    private let past: PastHistory?
    private var merges = PastMerges()

    private static let mostIDs = 65_536

    /// - Parameters:
    ///   - voided: the void events of all users; without it they are read for each user that is asked for.
    ///   - past: users have the IDs that they had then; nil for those of now.
    package init(log: LogReader, voided: VoidedEvents? = nil, past: PastHistory? = nil) {
        (self.log, allVoided, self.past) = (log, voided, past)
    }

    /// Writes `event` as an object, with the event that made it void if `showsVoid` and there is one, and with the
    /// number of the `profile` that it is part of.
    package mutating func write(
        _ event: RecordedEvent, showsVoid: Bool = false, ofProfile profile: UserNumber? = nil,
        listsItems: Bool = false, to json: inout JSONWriter
    ) throws {
        json.beginObject()
        ContentJSON.writeHeader(of: event, user: try id(of: event.user), profile: profile, to: &json)
        if showsVoid { writeVoid(of: event, to: &json) }
        Self.writeContent(event.event, to: &json)
        if listsItems { try writeItems(of: event, to: &json) }
        json.endObject()
    }

    /// The member `items`: what `event` decided about that users merged since had saved or logged, as their events are
    /// not among those of the canonical user.
    private mutating func writeItems(of event: RecordedEvent, to json: inout JSONWriter) throws {
        guard case .outcome = event.event.kind.role else { return }
        var items: [RecordedEvent] = []
        for position in event.takes {
            if let item = try log.event(at: position), item.user != event.user { items.append(item) }
        }
        if !items.isEmpty { try json.objects("items", items) { try writeItem($1, to: &$0) } }
    }

    /// Returns the best known ID of `user`, as a USER; nil for the system.
    package mutating func id(of user: UserNumber) throws -> String? {
        if let known = ids[user] { return known }
        guard user != .system, let id = try log.user(user, in: past, &merges)?.id.description else { return nil }
        if ids.count >= Self.mostIDs { ids.removeAll(keepingCapacity: true) }
        ids[user] = id
        return id
    }

    /// The member `voided_by`, if `event` is void.
    private mutating func writeVoid(of event: RecordedEvent, to json: inout JSONWriter) {
        if let allVoided {
            if let void = allVoided.void(of: event.position.rawValue) { json.member("voided_by", void) }
            return
        }
        if voided[event.user] == nil {
            if voided.count >= Self.mostIDs { voided.removeAll(keepingCapacity: true) }
            // Where a record of the user is damaged, the others are shown all the same.
            voided[event.user] =
                (try? log.events.voided(of: log.users.canonicalUser(of: event.user))) ?? VoidedEvents()
        }
        if let void = voided[event.user]?.void(of: event.position.rawValue) { json.member("voided_by", void) }
    }

    // MARK: - What the event says

    /// Writes the members that belong to the event's kind.
    package static func writeContent(_ event: ProfileEvent, to json: inout JSONWriter) {
        switch event {
        case .userCreated(let ids), .userIdentified(let ids):
            json.array("ids", ids) { $0.value($1.description) }
        case .userErased(let actor, let reason):
            json.member("actor", actor)
            json.member("reason", reason)
        case .aliasAdded(let id): json.member("id", id.description)
        case .aliasRenamed(let old, let new), .externalIDRenamed(let old, let new):
            json.member("from", old.description)
            json.member("to", new.description)
        case .externalIDRemoved(let id): json.member("released", id.description)
        case .userChanged(let previous):
            if let previous { json.member("previous_user_number", previous.rawValue) }
        case .customEventSaved, .customEventLogged, .customAttributesSaved, .customAttributesChanged,
            .userAttributeSaved, .userAttributesChanged, .purchaseLogged, .queued:
            if let content = event.content { ContentJSON.write(content, to: &json) }
        case .appLaunched(let kind, let lists):
            json.member("launch_kind", kind.name)
            if lists == PendingKind.all { break }
            json.array("only", lists.sorted()) { $0.value($1.word) }
        case .pendingFlushed(let flush): write(flush, to: &json)
        case .pendingDiscarded(let discard):
            json.array("discarded", discard.positions) { $0.value($1.rawValue) }
            json.member("actor", discard.actor)
            json.member("reason", discard.reason)
        case .dataSent(let positions):
            json.array("sent", positions) { $0.value($1.rawValue) }
        case .deviceChanged(let settings):
            write(settings, to: &json)
        case .sessionEnded(let started):
            json.member("started", started.rawValue)
        case .usersMerged(let merge): write(merge, to: &json)
        case .eventVoided(let voiding), .eventUnvoided(let voiding):
            json.member("target", voiding.target.rawValue)
            json.member("actor", voiding.actor)
            json.member("reason", voiding.reason)
        case .rulesChanged(let document): json.member("rules", .object(JSONValues.json(document)))
        case .objectsLeftOut(let items):
            json.objects("left_out", items) { $0.leftOut($1) }
        case .message(let step): write(step, to: &json)
        case .appLeft, .appRemoved, .sessionStarted, .userLoggedOut, .other: break
        }
    }

    private static func write(_ merge: Merge, to json: inout JSONWriter) {
        json.member("merged_user_number", merge.source.rawValue)
        json.member("merged_version", merge.version.rawValue)
        if !merge.identities.isEmpty { json.array("ids", merge.identities) { $0.value($1.description) } }
        if !merge.released.isEmpty { json.array("released_ids", merge.released) { $0.value($1.description) } }
    }

    private static func write(_ step: MessageStep, to json: inout JSONWriter) {
        json.member("message", step.message.text.isEmpty ? nil : step.message.text)
        json.member("channel", step.channel.name)
        if let cause = step.cause { json.member("cause", cause.rawValue) }
        json.member("reason", step.reason)
        json.member("dispatch_id", step.dispatch)
        json.member("action", step.action)
        if step.channel.isPush, step.screen != .nothing { json.member("screen", step.screen.name) }
        if !step.content.isEmpty { json.member("content", .object(JSONValues.json(step.content))) }
    }

    private static func write(_ flush: Flush, to json: inout JSONWriter) {
        json.member("launch", flush.launch.rawValue)
        json.member("chunk", Int(flush.chunk))
        json.array("flushed", flush.flushed) { $0.value($1.rawValue) }
        json.objects("rejected", flush.rejected) { json, rejection in
            json.member("position", rejection.position.rawValue)
            json.member("reason", rejection.reason)
        }
        json.member("queued", flush.isQueued)
    }

    /// The member `settings`: how a device is set up.
    static func write(_ settings: DeviceSettings, to json: inout JSONWriter) {
        json.object("settings") { json in
            json.member("sdk_enabled", settings.isSDKEnabled)
            json.member("online", settings.isOnline)
            json.member("request_policy", settings.requestPolicy == .automatic ? "automatic" : "manual")
            json.member("flush_interval_s", Int(settings.flushInterval))
            json.member("session_timeout_s", Int(settings.sessionTimeout))
            json.objects("missing_app_groups", settings.missingAppGroups) { json, missing in
                json.member("process", missing.process.text)
                json.member("app_group", missing.group.text)
            }
            write(settings.inApp, to: &json)
            PushSettingsFields.write(settings.push, to: &json)
        }
    }
}

// MARK: - A saved or logged item on a device, with its outcome

extension EventJSON {
    /// Members of an item in an answer that are not the item's own.
    struct ItemState {
        /// The member `outcome`.
        var outcome: String
        var reason: String?
        var why: QueueReason?
        /// The event that decided it.
        var decision: RecordedEvent?
        /// Updates without effect among what that event made effective.
        var noEffect: NoEffect?
    }

    /// Returns the decisions of `event`, if it is a flush, about each item that it names, in the order in which it took
    /// effect. What it only handed to the SDK is queued, for the reason `why`.
    static func outcomes(
        of event: RecordedEvent, _ why: QueueReason? = nil, _ noEffect: NoEffect? = nil
    ) -> [(item: Position, state: ItemState)] {
        guard case .pendingFlushed(let flush) = event.event else { return [] }
        let taken =
            flush.isQueued
            ? ItemState(outcome: "queued", why: why, decision: event)
            : ItemState(outcome: "flushed", decision: event, noEffect: noEffect)
        return flush.flushed.map { ($0, taken) }
            + flush.rejected.map {
                ($0.position, ItemState(outcome: "rejected", reason: $0.reason, decision: event))
            }
    }

    /// The members that say what was saved or logged: of an outcome, and of an item that waits.
    mutating func writeItem(_ item: RecordedEvent, to json: inout JSONWriter) throws {
        json.member("position", item.position.rawValue)
        json.member("kind", PendingKind(item.event.kind)?.key ?? item.event.kind.name)
        json.member("user", try id(of: item.user))
        json.member("user_number", item.user.rawValue)
        json.member("saved_at", item.occurredAt)
        json.member("process", item.context.process?.text)
        json.member("storage", item.context.storage?.name)
        json.member("item", item.context.item)
        if let replaced = item.context.replaces { json.member("replaces", replaced.rawValue) }
        writeVoid(of: item, to: &json)
        Self.writeContent(item.event, to: &json)
    }

    /// One object: the item at `position` and its state.
    mutating func write(_ position: Position, _ state: ItemState, to json: inout JSONWriter) throws {
        if let item = try log.event(at: position) { try write(item, state, to: &json) }
    }

    mutating func write(_ item: RecordedEvent, _ state: ItemState, to json: inout JSONWriter) throws {
        json.beginObject()
        try writeItem(item, to: &json)
        json.member("outcome", state.outcome)
        json.member("why", state.why?.rawValue)
        json.member("reason", state.reason ?? state.why?.words)
        if let decision = state.decision {
            json.member("waited_s", item.seconds(until: decision.occurredAt.timestamp))
            json.member("flush", decision.position.rawValue)
        }
        state.noEffect?.write(of: item.position, to: &json)
        json.endObject()
    }

    /// The member `sent`: what the `dataSent` events at `positions` name.
    mutating func writeSent(_ positions: [Position], to json: inout JSONWriter) throws {
        try json.array("sent", positions) { json, position in
            guard let event = try log.event(at: position), case .dataSent(let items) = event.event else { return }
            let noEffect = try NoEffect(ofItemsIn: event, in: log)
            let state = ItemState(outcome: "sent", decision: event, noEffect: noEffect)
            for item in items { try write(item, state, to: &json) }
        }
    }
}

extension LogReader {
    /// The user with this number, with the IDs that they had in `past`; nil for the present.
    func user(_ number: UserNumber, in past: PastHistory?) throws -> UserInfo? {
        var merges = PastMerges()
        return try user(number, in: past, &merges)
    }

    /// As `user(_:in:)`. Reads of several users share `merges`.
    func user(_ number: UserNumber, in past: PastHistory?, _ merges: inout PastMerges) throws -> UserInfo? {
        if let past, let user = try self.past.user(number, in: past, &merges) { return user }
        return try users.find(number)
    }
}

extension RecordedEvent {
    /// Returns the seconds from the moment at which it happened to `time`; negative if clocks disagree.
    func seconds(until time: Timestamp) -> Double {
        Double(time.rawValue - occurredAt.timestamp.rawValue) / 1_000_000
    }
}

extension JSONWriter {
    /// Writes a refusal, as members.
    mutating func leftOut(_ item: ObjectRefusal) {
        member("input_array", item.list)
        member("index", item.index)
        member("field", item.field)
        member("reason", item.reason)
    }
}

// MARK: - The form of what it writes

extension EventJSON {
    static let shape: AnswerShape = .named("Event", header + content + ["items?": [item]])

    /// The member `misses`.
    static let misses: AnswerShape = [
        "misses?": [
            ["position": .integer, "kind": .text, "at": .time, "user?": .text, "reason": .text, "look?": .text] + origin
        ]
    ]

    /// A saved or logged item on a device, with its outcome.
    static let outcome: AnswerShape = .named(
        "Outcome",
        item + [
            "outcome": .text, "why?": .text, "reason?": .text, "waited_s?": .number, "flush?": .integer,
            "no_effect?": NoEffect.members,
        ])

    /// The members that `writeItem` writes.
    static let item: AnswerShape =
        [
            "position": .integer, "kind": .text, "user?": .text, "user_number": .integer, "saved_at": .time,
            "process?": .text, "storage?": .text, "item?": .text, "replaces?": .integer, "voided_by?": .integer,
        ] + content

    static let origin: AnswerShape = [
        "source": .text, "process?": .text, "device?": .text, "storage?": .text, "item?": .text, "app?": .text,
    ]

    static let leftOut: AnswerShape = ["input_array": .text, "index": .integer, "field?": .text, "reason": .text]

    private static let header: AnswerShape =
        [
            "position": .integer, "user": .orNull(.text), "user_number": .integer, "profile_number?": .integer,
            "version": .integer, "kind": .text, "recorded_at": .time, "occurred_at": .time,
        ] + origin + ["replaces?": .integer, "key?": .text, "erased?": .boolean, "voided_by?": .integer]

    /// The members of `writeContent`. Each kind of event has some of them.
    private static let content: AnswerShape = [
        "ids?": [.text], "actor?": .text, "reason?": .text, "id?": .text, "from?": .text, "to?": .text,
        "released?": .text, "previous_user_number?": .integer, "name?": .text, "properties?": .map(.any),
        "attributes?": .map(.any), "attribute?": .text, "value?": .any, "user_attributes?": .map(.any),
        "product?": .text, "currency?": .text, "price?": .number, "quantity?": .integer, "launch_kind?": .text,
        "only?": [.text], "discarded?": [.integer], "sent?": [.integer], "launch?": .integer, "chunk?": .integer,
        "flushed?": [.integer], "rejected?": [["position": .integer, "reason": .text]], "queued?": .boolean,
        "settings?": settings, "started?": .integer, "merged_user_number?": .integer, "merged_version?": .integer,
        "released_ids?": [.text], "target?": .integer, "rules?": .map(.any), "left_out?": [leftOut], "message?": .text,
        "channel?": .text, "cause?": .integer, "dispatch_id?": .text, "action?": .text, "screen?": .text,
        "content?": .map(.any),
    ]

    /// The shape of a device's settings.
    static let settings: AnswerShape = .named(
        "DeviceSettings",
        [
            "sdk_enabled": .boolean, "online": .boolean, "request_policy": .text, "flush_interval_s": .integer,
            "session_timeout_s": .integer, "missing_app_groups": [["process": .text, "app_group": .text]],
            "messages?": InAppEndpoints.settings,
        ] + PushSettingsFields.shape)
}
