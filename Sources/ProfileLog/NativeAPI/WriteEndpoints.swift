internal import ProfileLogRequests

/// Something to be saved or logged for one user.
struct Write {
    var user: UserID
    var context: EventContext
    var events: [ProfileEvent]
    var expected: ExpectedVersion
    var key: String?
    /// The device whose waiting items are counted in the answer; nil if nothing is saved.
    var savedOn: String?
}

/// The requests below `/v1/save` and `/v1/log`.
struct WriteEndpoints {
    let store: RequestStore

    private var log: EventLog { store.log }

    /// Answers a request of `kind`.
    func write(_ kind: WriteKind, _ request: APIRequest) async throws -> APIAnswer {
        let fields = try Fields(request)
        let (expected, key) = try Self.conditions(fields, request)
        return try await commit(write(kind, fields, expected, key))
    }

    /// Reads the fields of a request as a write.
    func write(_ kind: WriteKind, _ fields: Fields, _ expected: ExpectedVersion, _ key: String?) throws -> Write {
        kind.isSaved
            ? try Self.saving(kind, fields, expected, key)
            : try Self.logging(kind, fields, expected, key) { try time($0) }
    }

    /// Commits `write` and tells where it went.
    func commit(_ write: Write) async throws -> APIAnswer {
        let receipt = try await store.decide { view in
            var builder = view.log.prepare()
            try builder.add(write, view)
            return Decision((), storing: try builder.finish(idempotencyKey: write.key))
        }.receipt
        guard let receipt, !receipt.places.isEmpty else { throw APIError.unknownUser(write.user) }
        return try answer(to: receipt, savedOn: write.savedOn, requested: write.context.storage) { json, log in
            if write.savedOn != nil { return }
            let fate = try write.context.device == nil ? nil : Self.fate(receipt.last, log)
            json.member("queued", fate == .queued)
            if fate == .lost {
                json.member("lost", true)
                json.member("reason", ObjectRefusal.reasonLost)
            }
            if fate == nil { try NoEffect(of: receipt.places.indices, receipt, in: log).write(to: &json) }
        }
    }

    /// The outcome of something logged on a device, if it did not take effect at once.
    private enum Fate {
        /// The SDK has taken it and not sent it.
        case queued
        /// The app has no instance of the SDK.
        case lost
    }

    private static func fate(_ position: Position, _ log: LogReader) throws -> Fate? {
        let event = try log.event(at: position)?.event
        if case .queued = event { return .queued }
        if case .objectsLeftOut = event { return .lost }
        return nil
    }

    /// Returns the place of a write. For a save also where it lies on the device, and a `note` if that is not where it
    /// was meant to.
    func answer(
        to receipt: AppendReceipt, savedOn device: String?, requested: DeviceStorage?,
        _ more: (inout JSONWriter, LogReader) throws -> Void
    ) throws -> APIAnswer {
        try log.withReader { log in
            let place = receipt.places.last
            let user = try place.flatMap { try log.users.find($0.user) }
            let saved = try device == nil ? nil : log.event(at: receipt.last)
            let state = try device.map { try log.devices.state(of: $0) }
            let present = try state?.user.flatMap { try log.users.find($0) }
            let hasArrived = try device != nil && log.events(of: receipt).contains { $0.event.kind == .userChanged }
            let version = place.map { receipt.version(after: $0) }
            return try APIAnswer.ok(version: version) { json in
                try json.stored(receipt.last, in: log)
                json.member("version", version?.rawValue ?? 0)
                json.member("user", user)
                json.member("events", receipt.places.count)
                json.member("repeated", receipt.isRepetition)
                if let state { json.member("waiting", state.waiting.count) }
                if device != nil {
                    json.member("on_device", present)
                    json.member("arrived", hasArrived)
                }
                json.member("storage", saved?.context.storage?.name)
                json.member("note", saved.flatMap { Self.note($0.context, requested: requested) })
                try more(&json, log)
                json.member("created", receipt.createdUser)
                json.member("user_note", receipt.doubt(of: user))
            }
        }
    }

    /// Says that a save was stored elsewhere than requested.
    private static func note(_ context: EventContext, requested: DeviceStorage?) -> String? {
        guard let storage = context.storage, let requested, storage != requested,
            case .privateTo(let process) = storage
        else { return nil }
        let unseen = storage.isVisibleToApp ? "" : ", which the app cannot see"
        return
            "\(process.text) lacks the app group \(requested.name) on this device, so it lies in the private storage "
            + "of \(process.text)\(unseen)"
    }

    // MARK: - What every write may say

    /// `key` or the header, `expect` or the header.
    static func conditions(
        _ fields: Fields, _ request: APIRequest
    ) throws -> (expected: ExpectedVersion, key: String?) {
        let key = try key(fields, request)
        let expected = try expectation(fields.value("expect"))
        let match = try request.ifMatch.map(expectation(ifMatch:))
        if let expected, let match, expected != match {
            throw APIError.invalid("expect", "differs from the header If-Match")
        }
        return (expected ?? match ?? .any, key)
    }

    /// `key` or the header; nil without one.
    static func key(_ fields: Fields, _ request: APIRequest) throws -> String? {
        let key = try fields.text("key")
        if let key, let header = request.idempotencyKey, Name(key) != Name(header) {
            throw APIError.invalid("key", "differs from the header Idempotency-Key")
        }
        if (key ?? request.idempotencyKey)?.isEmpty == true {
            throw APIError.invalid(key == nil ? "Idempotency-Key" : "key", "must not be empty")
        }
        return key ?? request.idempotencyKey
    }

    static func expectation(_ value: AttributeValue?) throws -> ExpectedVersion? {
        switch value {
        case nil, .null: return nil
        case .string("none"): return .noUser
        case .string("any"): return .any
        case .int(let version) where version >= 0:
            return version == 0 ? .noUser : .exactly(Version(rawValue: UInt64(version)))
        default: throw APIError.invalid("expect", "must be a number of events, \"none\" or \"any\"")
        }
    }

    private static func expectation(ifMatch header: String) throws -> ExpectedVersion {
        var text = header[...]
        if text.count >= 2, text.first == "\"", text.last == "\"" { text = text.dropFirst().dropLast() }
        if text == "none" { return .noUser }
        guard let version = UInt64(text) else {
            throw APIError.invalid("If-Match", "must be a number of events, or \"none\"")
        }
        return version == 0 ? .noUser : .exactly(Version(rawValue: version))
    }

    // MARK: - Saving

    /// Reads the fields of a save as a write.
    static func saving(
        _ kind: WriteKind, _ fields: Fields, _ expected: ExpectedVersion, _ key: String?
    ) throws -> Write {
        let device = try fields.device() ?? DeviceStorage.defaultDevice
        let user = try fields.user() ?? .device(device)
        let process = try fields.text("process").map { Name($0) } ?? DeviceStorage.app
        let appGroup = try fields.text("app_group").map { Name($0) }
        let isPrivate = try fields.flag("private")
        if isPrivate, appGroup != nil { throw APIError.invalid("private", "and `app_group` exclude each other") }
        let storage: DeviceStorage =
            isPrivate ? .privateTo(process: process) : .appGroup(appGroup ?? DeviceStorage.defaultAppGroup)
        // Items saved by a real device are stored unchanged: its launch decides whether the SDK takes it.
        let source: EventSource =
            try fields.flag("imported") ? .import : process == DeviceStorage.app ? .app : .extension
        let context = EventContext(
            source: source, occurredAt: try fields.time("time"),
            process: process, device: device, storage: storage, item: try fields.text("item"))
        let events = try kind.events(fields)
        return Write(user: user, context: context, events: events, expected: expected, key: key, savedOn: device)
    }

    // MARK: - Logging

    /// Reads the fields of a log request as a write.
    static func logging(
        _ kind: WriteKind, _ fields: Fields, _ expected: ExpectedVersion, _ key: String?,
        time: (Fields) throws -> OccurredAt?
    ) throws -> Write {
        let device = try fields.device()
        guard let user = try fields.user() ?? device.map({ .device($0) }) else {
            throw APIError.invalid(
                "user", "is missing", remedy: "Send `user`, or `device` for the user on that device.")
        }
        let context = EventContext(
            source: try Self.source(fields) ?? .app, occurredAt: try time(fields),
            process: try fields.text("process").map { Name($0) } ?? DeviceStorage.app, device: device)
        let events = try kind.events(fields)
        return Write(user: user, context: context, events: events, expected: expected, key: key, savedOn: nil)
    }

    /// Returns the time at which it happened: what no device's clock may say is refused here too, from whatever source.
    func time(_ fields: Fields) throws -> OccurredAt? {
        guard let time = try fields.time("time") else { return nil }
        let last = try log.event(at: log.lastPosition())?.recordedAt.rawValue ?? 0
        let now = max(log.options.now().rawValue, last)
        if let reason = SDKRules.reasonAgainstClock(time.timestamp.rawValue, now: now) {
            throw APIError.invalid("time", reason)
        }
        return time
    }

    /// Reads the request's source; nil if it says nothing.
    static func source(_ fields: Fields) throws -> EventSource? {
        try fields.choice("source", "must be app, extension, rest, import or cli") { name in
            EventSource(name: name).flatMap { $0 == .system || $0 == .unknown ? nil : $0 }
        }
    }
}

extension AppendBuilder {
    /// Adds all events of `write`, or nothing if one cannot be stored. An address is that of the user who has it; under
    /// a key the write stays the same when another user gets it. If no user has it yet, it is that of the user in
    /// `given`: who gets it by an earlier write of the same append.
    mutating func add(_ write: Write, _ view: DecisionView, given: [UserID: UserID] = [:]) throws {
        let holder = try write.user.isAddress ? view.holder(of: write.user) : nil
        if holder == nil, let user = given[write.user] {
            try add(write.events, write.context, to: user)
            return expect(user, at: write.expected)
        }
        try add(write.events, write.context, to: write.user, holder: holder)
        expect(holder ?? write.user, at: write.expected)
        if write.user.isAddress, holder == nil { try view.release(write.user) }
    }
}

extension AppendReceipt {
    /// Tells whether a user was made on the way.
    var createdUser: Bool { places.contains { $0.version.rawValue == 1 } }

    /// Returns the note about the ID of a user who was made now.
    func doubt(of user: UserInfo?) -> String? { createdUser && !isRepetition ? user?.id.doubt : nil }
}

extension JSONWriter {
    /// Writes `{number, id, braze_id}`, or `null`.
    mutating func user(_ user: UserInfo?) {
        guard let user else {
            null()
            return
        }
        object { json in
            json.member("number", user.number.rawValue)
            json.member("id", user.id.description)
            json.member("braze_id", user.brazeID)
        }
    }

    mutating func member(_ key: String, _ user: UserInfo?) { member(key) { $0.user(user) } }

    /// Writes a position as a member; `null` for the start of the log.
    mutating func member(_ key: String, _ position: Position) {
        member(key) { if position == .start { $0.null() } else { $0.value(position.rawValue) } }
    }
}

extension DeviceStorage {
    /// The device of requests that name none.
    static let defaultDevice = "phone"
    /// The app group of saves that name none.
    static let defaultAppGroup: Name = "group.app"
}

extension LogReader {
    /// The events that an append stored.
    func events(of receipt: AppendReceipt) throws -> [RecordedEvent] {
        try (0..<UInt64(receipt.places.count)).compactMap {
            try event(at: Position(rawValue: receipt.first.rawValue + $0))
        }
    }
}

extension APIRequest {
    /// Refuses the headers of writes that have no use for them: a repeated launch is another launch.
    func refuseConditions() throws {
        if idempotencyKey != nil {
            throw APIError.invalid("Idempotency-Key", "has no meaning here", remedy: "Send the request without it.")
        }
        try refuseIfMatch()
    }
}

// MARK: - The form of the answers

extension AnswerShape {
    /// As `JSONWriter.user(_:)` writes it.
    static let user: AnswerShape = .named("User", ["number": .integer, "id": .text, "braze_id": .text])
    /// A position; `null` for the start of the log.
    static let position: AnswerShape = .orNull(.integer)
}

extension WriteEndpoints {
    private static let written: AnswerShape =
        .storedAlways
        + ["version": .integer, "user": .orNull(.user), "events": .integer, "repeated": .boolean]

    static let saved: AnswerShape = .named(
        "Saved",
        written + [
            "waiting": .integer, "on_device": .orNull(.user), "arrived": .boolean, "storage?": .text, "note?": .text,
            "created": .boolean, "user_note?": .text,
        ])

    static let logged: AnswerShape = .named(
        "Logged",
        written + ["note?": .text, "queued?": .boolean, "lost?": .boolean, "reason?": .text] + NoEffect.shape
            + ["created": .boolean, "user_note?": .text])
}
