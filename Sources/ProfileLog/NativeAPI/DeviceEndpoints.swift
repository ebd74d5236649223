internal import ProfileLogRequests

/// The requests below `/v1/devices`, `/v1/launch` and `/v1/change-user`.
struct DeviceEndpoints {
    let store: RequestStore

    private static let mostDevices = 10_000

    func devices(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        var query = Query(request)
        let after = try query.text("after").map { Name($0) }
        let limit = try query.limit(standard: 1_000, most: Self.mostDevices)
        let asked = try query.past(now: log.options.now())
        try query.end()
        let past = try asked.history(log)
        let states = try past.map { try log.deviceStates(in: $0) }
        let all = try states?.keys.sorted() ?? log.devices.all()
        let rest = all.drop { device in after.map { device <= $0 } ?? false }
        var merges = PastMerges()
        // Many devices may be of one user, whose past is in all of their events.
        var users: [UserNumber: UserInfo] = [:]
        return try APIAnswer.ok { json in
            try json.objects("devices", rest.prefix(limit)) { json, device in
                let state = try states?[device] ?? log.devices.state(of: device.text)
                if let number = state.user, users[number] == nil {
                    users[number] = try log.user(number, in: past, &merges)
                }
                try Self.write(device.text, state, state.user.flatMap { users[$0] }, log, to: &json)
            }
            json.member("total", all.count)
            json.member("more", rest.count > limit)
            try json.note(ListNote("devices", request, past: asked), isEmpty: rest.isEmpty, in: log)
        }
    }

    func device(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        let device = try AskedDevice(request, log)
        let items = try log.devices.pending(in: device.state)
        var times = WaitingTimes(now: try device.time(log))
        times.add(items, try log.devices.queue(in: device.state))
        let user = try device.state.user.flatMap { try log.user($0, in: device.past) }
        return try APIAnswer.ok { json in
            try Self.write(device.id, device.state, user, log, to: &json)
            json.storages(of: items, device.state.settings) { json, items in
                for kind in PendingKind.allCases { json.member(kind.key, items.count { $0.list == kind }) }
            }
            times.write(to: &json)
            json.member("note", try device.asked.note(log))
        }
    }

    /// The device that the path names, if anything is known of it.
    static func knownDevice(_ request: APIRequest, _ log: LogReader) throws -> (device: String, state: DeviceState) {
        let id = try Identifiers.device(request.parameters["device"] ?? DeviceStorage.defaultDevice)
        guard let state = try log.devices.find(id) else { throw APIError.unknownDevice }
        return (id, state)
    }

    private static func write(
        _ device: String, _ state: DeviceState, _ user: UserInfo?, _ log: LogReader, to json: inout JSONWriter
    ) throws {
        json.member("device", device)
        json.member("user", user)
        if state.status.isRemoved { json.member("app_removed", true) }
        try write("last_launch", state.lastLaunch, log, to: &json)
        try write("session", state.session, log, to: &json)
        EventJSON.write(state.settings, to: &json)
        json.member("waiting", state.waiting.count)
        json.member("queued", state.queued.count)
        json.member("why_queued", state.queued.isEmpty ? nil : state.settings.reasonQueued().rawValue)
    }

    /// Writes the position of an event and when it happened, or `null`.
    private static func write(
        _ key: String, _ position: Position?, _ log: LogReader, to json: inout JSONWriter
    ) throws {
        guard let position, let event = try log.event(at: position) else { return json.member(key, .start) }
        json.object(key) { json in
            json.member("position", position.rawValue)
            json.member("at", event.occurredAt)
        }
    }

    // MARK: - Actions

    /// The device that the path or the body names, and the body's other fields; without a name in the body an empty
    /// body is an object without members.
    static func deviceFields(_ request: APIRequest) throws -> (device: String, fields: Fields) {
        try request.refuseConditions()
        guard let device = request.parameters["device"] else {
            let fields = try Self.fields(request)
            return (try fields.device() ?? DeviceStorage.defaultDevice, fields)
        }
        try Query(request).end()
        let fields = try Self.fields(request, mayBeEmpty: true)
        return (try Identifiers.device(device), fields)
    }

    /// The members of the body. An `actor` is refused with the reason: a record has one only where something was
    /// discarded, voided, merged or erased, and what an SDK or a removed app discards is its own act.
    static func fields(_ request: APIRequest, mayBeEmpty: Bool = false) throws -> Fields {
        do {
            return try Fields(request, mayBeEmpty: mayBeEmpty)
        } catch let error as APIError where error.place == "actor" {
            var refusal = error
            refusal.remedy = "Omit it: the log keeps no actor of what happens on a device."
            throw refusal
        }
    }

    /// The context of what happens on a device: the app, at the caller's `time`.
    static func deviceContext(_ fields: Fields) throws -> EventContext {
        EventContext(source: .app, occurredAt: try fields.time("time"), process: DeviceStorage.app)
    }

    func leave(_ request: APIRequest) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request)
        let context = try Self.deviceContext(fields)
        guard try Self.knownDevice(request, store.reader).state.lastLaunch != nil else {
            throw APIError.invalidHere(
                "device", "was never launched, so the app cannot leave", remedy: "Launch the app on it first.")
        }
        let position = try await store.perform { log in try log.leave(device: device, context: context) }
        return try store.read { log in
            try APIAnswer.ok { json in
                try json.stored(position ?? .start, in: log)
                json.member("device", device)
                json.member("left", position != nil)
                json.member("session_timeout_s", Int(try log.devices.state(of: device).settings.sessionTimeout))
            }
        }
    }

    func send(_ request: APIRequest) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request)
        let cause: SendCause = try fields.optionalFlag("requested") ?? true ? .request : .timer
        let context = try Self.deviceContext(fields)
        _ = try Self.knownDevice(request, store.reader)
        let positions = try await store.perform { log in try log.send(from: device, cause, context) }
        return try answer(on: device, positions.last ?? .start, sent: positions)
    }

    func changeSettings(_ request: APIRequest) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request)
        let change = try Self.settingsChange(fields)
        let context = try Self.deviceContext(fields)
        let isNew = try store.reader.devices.find(device) == nil
        let (receipt, sent) = try await store.perform { log in
            try log.changeAndSend(change, of: device, context: context)
        }
        return try answer(on: device, receipt.stored, sent: sent) { json, log in
            json.member("changed", !receipt.places.isEmpty)
            json.member("new_device", isNew)
            EventJSON.write(try log.devices.state(of: device).settings, to: &json)
        }
    }

    /// The user leaves the device, by `work`: a log-out or a wipe.
    func forget(
        _ request: APIRequest, _ work: @escaping @Sendable (EventLog, String, EventContext) throws -> AppendReceipt
    ) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request)
        let context = try Self.deviceContext(fields)
        let previous = try store.read { log in
            try Self.knownDevice(request, log).state.user.flatMap { try log.users.find($0) }
        }
        let receipt = try await store.perform { log in try work(log, device, context) }
        return try answer(on: device, receipt.stored, sent: []) { json, log in
            json.member("changed", !receipt.places.isEmpty)
            json.member("previous", previous)
            json.array("discarded", try log.discarded(by: receipt)) { $0.value($1.rawValue) }
            json.member("sdk_enabled", try log.devices.state(of: device).settings.isSDKEnabled)
        }
    }

    /// `POST /v1/devices/{device}/remove`: the app goes, and what it had stored.
    func removeApp(_ request: APIRequest) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request)
        let context = try Self.deviceContext(fields)
        let previous = try store.read { log in
            try Self.knownDevice(request, log).state.user.flatMap { try log.users.find($0) }
        }
        let receipt = try await APIError.decidingHere {
            try await store.perform { log in try log.removeApp(device: device, context: context) }
        }
        return try answer(on: device, receipt.stored, sent: []) { json, log in
            json.member("changed", !receipt.places.isEmpty)
            json.member("previous", previous)
            var events = EventJSON(log: log)
            try json.array("discarded", log.discarded(by: receipt)) { json, position in
                let state = EventJSON.ItemState(outcome: "discarded", reason: PushReason.appRemoved.reason())
                try events.write(position, state, to: &json)
            }
        }
    }

    /// The answer of an action that may send: the sent items, and those that stay in the queue with the reason.
    private func answer(
        on device: String, _ position: Position, sent: [Position],
        _ more: (inout JSONWriter, LogReader) throws -> Void = { _, _ in }
    ) throws -> APIAnswer {
        try store.read { log in
            var events = EventJSON(log: log)
            let state = try log.devices.state(of: device)
            return try APIAnswer.ok { json in
                try json.stored(position, in: log)
                json.member("device", device)
                try more(&json, log)
                try events.writeSent(sent, to: &json)
                json.member("queued", state.queued.count)
                if !state.queued.isEmpty {
                    let why = state.settings.reasonQueued()
                    json.member("why", why.rawValue)
                    json.member("reason", why.words)
                }
                json.member("waiting", state.waiting.count)
            }
        }
    }

    // MARK: - Settings

    static func settingsChange(_ fields: Fields) throws -> SettingsChange {
        var change = SettingsChange()
        change.isOnline = try fields.optionalFlag("online")
        change.isSDKEnabled = try fields.optionalFlag("sdk_enabled")
        change.requestPolicy = try fields.choice("request_policy", "must be automatic or manual") {
            ["automatic": .automatic, "manual": .manual][$0]
        }
        change.flushInterval = try seconds(fields, "flush_interval_s", from: 0)
        change.sessionTimeout = try seconds(fields, "session_timeout_s", from: 1)
        change.withoutAppGroup = try targets(fields, "without_app_groups")
        change.withAppGroup = try targets(fields, "with_app_groups")
        try PushSettingsFields.read(fields, into: &change)
        if let messages = try fields.object("messages") {
            change.inApp = try InAppSettingsChange(messages, at: "messages")
        }
        return change
    }

    private static func seconds(_ fields: Fields, _ name: Name, from least: UInt32) throws -> UInt32? {
        try fields.integer(
            name, in: Int64(least)...Int64(UInt32.max), "must be a whole number of seconds, \(least) to \(UInt32.max)"
        ).map { UInt32($0) }
    }

    private static func targets(_ fields: Fields, _ name: Name) throws -> [DeviceSettings.MissingAppGroup] {
        try (fields.array(name) ?? []).map { element in
            guard case .object(let members) = element, members.count == 2,
                case .string(let process) = element["process"],
                case .string(let group) = element["app_group"]
            else { throw APIError.invalid(name.text, "must list objects with `process` and `app_group`") }
            try Validation.check(appGroup: Name(group))
            return .init(process: Name(process), group: Name(group))
        }
    }

    // MARK: - Users

    func changeUser(_ request: APIRequest) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request)
        let id = try Identifiers.user(fields.requiredText("user"))
        let context = try Self.deviceContext(fields)
        let previous = try store.read { log in
            try log.devices.find(device)?.user.flatMap { try log.users.find($0) }
        }
        let (receipt, sent) = try await store.perform { log in
            if try log.withReader({ try $0.users.isOutdated(id) }) { _ = try log.commit(.release(id)) }
            return try log.changeUserAndSend(
                device: device, to: log.reader.users.writtenID(id), context: context)
        }
        return try store.read { log in
            let state = try log.devices.state(of: device)
            let user = try state.user.flatMap { try log.users.find($0) } ?? log.users.user(meantBy: id)
            var events = EventJSON(log: log)
            return try APIAnswer.ok(version: user?.version) { json in
                try json.stored(receipt.stored, in: log)
                json.member("version", user?.version.rawValue ?? 0)
                json.member("device", device)
                json.member("user", user)
                json.member("previous", previous)
                json.member("merged", try log.events(of: receipt).contains { $0.event.kind == .usersMerged })
                json.member("events", receipt.places.count)
                json.member("changed", !receipt.places.isEmpty)
                json.member("created", receipt.createdUser)
                json.member("user_note", receipt.doubt(of: user))
                try events.writeSent(sent, to: &json)
                json.member("waiting", state.waiting.count)
                json.member("queued", state.queued.count)
            }
        }
    }

    // MARK: - Launches

    /// The order for a launch.
    struct LaunchOrder {
        var device: String
        var kind: LaunchKind
        var kinds: Set<PendingKind>
        var step: LaunchStep?
    }

    func launch(_ request: APIRequest) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request)
        let order = try Self.order(fields, device)
        let context = try Self.deviceContext(fields)
        let isNew = try store.reader.devices.find(order.device) == nil
        let report = try await store.perform { log in
            try log.launch(
                device: order.device, kind: order.kind, flushing: order.kinds, dyingAfter: order.step, context: context)
        }
        return try store.read { try Self.answer(report, order, isNew: isNew, $0) }
    }

    static func order(_ fields: Fields, _ device: String) throws -> LaunchOrder {
        let kind = try fields.choice("kind", "must be cold, background, return or locked") { name in
            LaunchKind.allCases.first { $0.name == name }
        }
        let step = try fields.choice("die_after", "must be launched or handed", LaunchStep.init)
        return LaunchOrder(device: device, kind: kind ?? .cold, kinds: try flushedKinds(fields), step: step)
    }

    private static func flushedKinds(_ fields: Fields) throws -> Set<PendingKind> {
        guard let only = try fields.array("only") else { return PendingKind.all }
        let kinds = try only.map { value in
            guard let kind = PendingKind.allCases.first(where: { $0.word == value.asText }) else {
                throw APIError.invalid("only", "must list events, attributes or user-attributes")
            }
            return kind
        }
        guard !kinds.isEmpty else { throw APIError.invalid("only", "must not be empty") }
        return Set(kinds)
    }

    private static func answer(
        _ report: LaunchReport, _ order: LaunchOrder, isNew: Bool, _ log: LogReader
    ) throws -> APIAnswer {
        var events = EventJSON(log: log)
        let user = try report.user.flatMap { try log.users.find($0) }
        let settings = try log.devices.state(of: order.device).settings
        let why = settings.reasonQueued(died: order.step == .handed)
        let (flushed, finished) = (
            try outcomes(of: report.flushed, why, log), try outcomes(of: report.finished, why, log)
        )
        return try APIAnswer.ok { json in
            try json.stored(report.position, in: log)
            json.member("device", order.device)
            json.member("new_device", isNew)
            json.member("user", user)
            try json.array("flushed", flushed.filter { $0.state.why == nil }) {
                try events.write($1.item, $1.state, to: &$0)
            }
            try json.array("finished", finished) { try events.write($1.item, $1.state, to: &$0) }
            try events.writeSent(report.sent, to: &json)
            try json.array("queued", flushed.filter { $0.state.why != nil }) {
                try events.write($1.item, $1.state, to: &$0)
            }
            try json.array("left", try log.devices.pending(on: order.device)) { json, item in
                try events.write(item, left(item, report, order, settings), to: &json)
            }
        }
    }

    /// Returns the decisions of the flushes at `positions`.
    private static func outcomes(
        of positions: [Position], _ why: QueueReason, _ log: LogReader
    ) throws -> [(item: Position, state: EventJSON.ItemState)] {
        try positions.compactMap { try log.event(at: $0) }.flatMap { flush in
            EventJSON.outcomes(of: flush, why, try NoEffect(ofItemsIn: flush, in: log))
        }
    }

    /// Returns the reason why the launch left `item` where it is.
    private static func left(
        _ item: RecordedEvent, _ report: LaunchReport, _ order: LaunchOrder, _ settings: DeviceSettings
    ) -> EventJSON.ItemState {
        var state = EventJSON.ItemState(outcome: "left", reason: "the next launch flushes it")
        if let storage = item.context.storage, let hidden = settings.reasonHidden(storage) {
            state.reason = hidden
        } else if item.position > report.position {
            state.reason = "saved during the launch: the next one flushes it"
        } else if order.step == .launched {
            state.reason = "the app died before it was handed to the SDK: the next launch flushes it"
            state.why = .died
        } else if order.kind == .locked {
            state.reason = "the phone was not unlocked yet, and the app can read nothing: the next launch flushes it"
            state.why = .locked
        } else if let list = item.list, !order.kinds.contains(list) {
            state.reason = "not among the kinds that this launch was told to flush"
        } else if !settings.isSDKEnabled {
            state.reason = "the SDK is disabled and takes nothing"
            state.why = .disabled
        } else if !settings.push.hasInstance {
            state.reason = "the SDK does not exist yet: it is flushed when the app makes it"
            state.why = .noInstance
        }
        return state
    }
}

extension LogReader {
    /// Positions of the items that `receipt`'s events gave up, ascending.
    func discarded(by receipt: AppendReceipt) throws -> [Position] {
        let discarded = try events(of: receipt).flatMap { event in
            if case .pendingDiscarded(let discard) = event.event { discard.positions } else { [Position]() }
        }
        return discarded.sorted()
    }
}

extension PendingKind {
    /// A member of the form `shape` for each list.
    static func shape(_ shape: AnswerShape) -> AnswerShape { .members(allCases.map(\.key), shape) }

    /// The word for the list in the order of a launch, and in its answer.
    package var word: String {
        switch self {
        case .customEvents: "events"
        case .customAttributes: "attributes"
        case .userAttributes: "user-attributes"
        }
    }
}

extension DeviceSettings {
    /// Returns the reason why the app on the device does not see `storage`; nil if it does.
    func reasonHidden(_ storage: DeviceStorage) -> String? {
        switch storage {
        case _ where appSees(storage): return nil
        case .appGroup(let group): return "the app lacks the app group \(group.text): it cannot see what lies there"
        case .privateTo(let process):
            let lacking = missingAppGroups.filter { $0.process == process }.map(\.group.text)
            let why = lacking.isEmpty ? "" : ", which lacks the app group \(lacking.joined(separator: ", "))"
            return "private to \(process.text)\(why): the app cannot see it"
        }
    }

    /// Returns the reason why the SDK has not sent its queue.
    func reasonQueued(died: Bool = false) -> QueueReason {
        if died { return .died }
        if !isSDKEnabled { return .disabled }
        if !push.hasInstance { return .noInstance }
        if !isOnline { return .offline }
        if requestPolicy == .manual { return .manual }
        return flushInterval == 0 ? .handed : .interval
    }
}

/// The reason why something stays in the SDK's queue: the member `why`.
enum QueueReason: String {
    case offline, manual, disabled, died, handed, interval, locked
    case noInstance = "no_instance"

    /// The member `reason`.
    var words: String {
        switch self {
        case .offline: "the device is offline"
        case .manual: "the request policy is manual: the app must ask for sending"
        case .disabled: "the SDK is disabled"
        case .noInstance: "the SDK does not exist yet"
        case .locked: "the phone was not unlocked yet"
        case .died: "the app died before the SDK sent it"
        case .handed: "handed, not sent yet: the next launch sends it"
        case .interval: "the flush interval is not over"
        }
    }
}

// MARK: - The form of the answers

extension DeviceEndpoints {
    private static let place: AnswerShape = .orNull(["position": .integer, "at": .time])

    private static let listed: AnswerShape = .named(
        "Device",
        [
            "device": .text, "user": .orNull(.user), "app_removed?": .boolean, "last_launch": place, "session": place,
            "settings": EventJSON.settings, "waiting": .integer, "queued": .integer, "why_queued?": .text,
        ])

    static let list: AnswerShape = ["devices": [listed], "total": .integer, "more": .boolean] + .note

    static let one: AnswerShape =
        listed + [
            "storages": [
                PendingEndpoints.storage + PendingKind.shape(.integer)
            ],
            "waiting_s": WaitingTimes.shape,
        ] + .note

    static let launched: AnswerShape =
        .storedAlways + ["device": .text, "new_device": .boolean, "user": .orNull(.user)]
        + .members(["flushed", "finished", "sent", "queued", "left"], [EventJSON.outcome])

    static let left: AnswerShape = .stored + ["device": .text, "left": .boolean, "session_timeout_s": .integer]

    /// Members about the SDK in the answer to every change of a device.
    static let sent: AnswerShape =
        .stored + [
            "device": .text, "sent": [EventJSON.outcome], "queued": .integer, "why?": .text, "reason?": .text,
            "waiting": .integer,
        ]

    static let changedSettings: AnswerShape =
        sent + ["changed": .boolean, "new_device": .boolean, "settings": EventJSON.settings]

    static let forgotten: AnswerShape =
        sent + [
            "changed": .boolean, "previous": .orNull(.user), "discarded": [.integer], "sdk_enabled": .boolean,
        ]

    static let removed: AnswerShape =
        sent + ["changed": .boolean, "previous": .orNull(.user), "discarded": [EventJSON.outcome]]

    static let changedUser: AnswerShape =
        .stored + [
            "version": .integer, "device": .text, "user": .orNull(.user), "previous": .orNull(.user),
            "merged": .boolean, "events": .integer, "changed": .boolean, "created": .boolean, "user_note?": .text,
            "sent": [EventJSON.outcome], "waiting": .integer, "queued": .integer,
        ]
}
