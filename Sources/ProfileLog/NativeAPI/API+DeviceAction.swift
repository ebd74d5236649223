internal import ProfileLogRequests

/// What happens to a device: the app goes, the SDK sends, its set-up or its user changes.
extension NativeAPI {
    /// The device that the path or the body names, and the body's other fields; an empty body is an object without
    /// members.
    static func deviceFields(_ request: APIRequest, _ known: Set<Name>) throws -> (device: String, fields: Fields) {
        try refuseConditions(request)
        if let device = request.parameters["device"] {
            try Query(request).end()
            let body = request.body.isEmpty ? Array("{}".utf8) : request.body
            let fields = try Fields(body, known.union(["time"]))
            return (try Identifiers.device(device), fields)
        }
        let fields = try Fields(request.body, known.union(["time", "device"]))
        return (try fields.text("device").map { try Identifiers.device($0) } ?? defaultDevice, fields)
    }

    /// Where it comes from: the app, at the caller's `time`.
    static func deviceContext(_ fields: Fields) throws -> EventContext {
        EventContext(source: .app, occurredAt: try fields.time("time"), process: DeviceStorage.app)
    }

    func leave(_ request: APIRequest) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request, [])
        let context = try Self.deviceContext(fields)
        guard try knownDevice(request).lastLaunch != nil else {
            throw APIProblem.invalid(
                "device", "was never launched, so the app cannot leave", remedy: "Launch the app on it first.")
        }
        let position = try await store.perform { log in try log.leave(device: device, context: context) }
        return try APIAnswer.ok { json in
            json.key("position")
            json.position(position ?? .start)
            json.key("device")
            json.value(device)
            json.key("left")
            json.value(position != nil)
            json.key("session_timeout_s")
            json.value(Int(try log.deviceState(device).settings.sessionTimeout))
        }
    }

    func send(_ request: APIRequest) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request, ["requested"])
        let isRequested = try Self.optionalFlag(fields, "requested") ?? true
        let context = try Self.deviceContext(fields)
        _ = try knownDevice(request)
        let positions = try await store.perform { log in try log.send(device, isRequested: isRequested, context) }
        return try answer(on: device, positions.last, sent: positions)
    }

    func changeSettings(_ request: APIRequest) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request, Self.settingsFields)
        let change = try Self.settingsChange(fields)
        let context = try Self.deviceContext(fields)
        let isNew = try log.device(device) == nil
        let (receipt, sent) = try await store.perform { log in
            let before = try log.lastPosition()
            return (try log.change(change, of: device, context: context), try log.sent(on: device, after: before))
        }
        return try answer(on: device, receipt.places.isEmpty ? nil : receipt.last, sent: sent) { json in
            json.key("changed")
            json.value(!receipt.places.isEmpty)
            json.key("new_device")
            json.value(isNew)
            json.key("settings")
            EventJSON.write(try log.deviceState(device).settings, to: &json)
        }
    }

    func logOut(_ request: APIRequest) async throws -> APIAnswer {
        try await forget(request) { try $0.logOut(device: $1, context: $2) }
    }

    func wipe(_ request: APIRequest) async throws -> APIAnswer {
        try await forget(request) { try $0.wipe(device: $1, context: $2) }
    }

    private func forget(
        _ request: APIRequest, _ work: @escaping @Sendable (EventLog, String, EventContext) throws -> AppendReceipt
    ) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request, [])
        let context = try Self.deviceContext(fields)
        let previous = try knownDevice(request).user.flatMap { try log.find($0) }
        let receipt = try await store.perform { log in try work(log, device, context) }
        let discarded = try discarded(by: receipt)
        return try answer(on: device, receipt.places.isEmpty ? nil : receipt.last, sent: []) { json in
            json.key("changed")
            json.value(!receipt.places.isEmpty)
            json.key("previous")
            json.user(previous)
            json.key("discarded")
            json.array(discarded) { $0.value($1.rawValue) }
            json.key("sdk_enabled")
            json.value(try log.deviceState(device).settings.isSDKEnabled)
        }
    }

    /// The answer of an action that may send: what was sent, and what stays in the queue and why.
    private func answer(
        on device: String, _ position: Position?, sent: [Position],
        _ more: (inout JSONWriter) throws -> Void = { _ in }
    ) throws -> APIAnswer {
        var events = EventJSON(log: log)
        let state = try log.deviceState(device)
        return try APIAnswer.ok { json in
            json.key("position")
            json.position(position ?? .start)
            json.key("device")
            json.value(device)
            try more(&json)
            json.key("sent")
            try writeSent(sent, &events, to: &json)
            json.key("queued")
            json.value(state.queued.count)
            if !state.queued.isEmpty {
                let why = state.settings.reasonQueued()
                json.member("why", why.rawValue)
                json.member("reason", why.words)
            }
            json.key("waiting")
            json.value(state.waiting.count)
        }
    }

    /// Positions of the items that `receipt`'s events gave up, ascending.
    func discarded(by receipt: AppendReceipt) throws -> [Position] {
        var discarded: [Position] = []
        for offset in 0..<UInt64(receipt.places.count) {
            let event = try log.event(at: Position(rawValue: receipt.first.rawValue + offset))
            if case .pendingDiscarded(let discard) = event?.event { discarded += discard.positions }
        }
        return discarded.sorted()
    }

    // MARK: - Settings

    private static let settingsFields: Set<Name> = [
        "online", "sdk_enabled", "request_policy", "flush_interval_s", "session_timeout_s", "without_app_groups",
        "with_app_groups",
    ]

    private static func settingsChange(_ fields: Fields) throws -> SettingsChange {
        var change = SettingsChange()
        change.isOnline = try optionalFlag(fields, "online")
        change.isSDKEnabled = try optionalFlag(fields, "sdk_enabled")
        if let policy = try fields.text("request_policy") {
            switch policy {
            case "automatic": change.requestPolicy = .automatic
            case "manual": change.requestPolicy = .manual
            default: throw APIProblem.invalid("request_policy", "must be automatic or manual")
            }
        }
        change.flushInterval = try seconds(fields, "flush_interval_s", from: 0)
        change.sessionTimeout = try seconds(fields, "session_timeout_s", from: 1)
        change.withoutAppGroup = try targets(fields, "without_app_groups")
        change.withAppGroup = try targets(fields, "with_app_groups")
        return change
    }

    private static func optionalFlag(_ fields: Fields, _ name: Name) throws -> Bool? {
        switch fields.value(name) {
        case nil, .null: nil
        default: try fields.flag(name)
        }
    }

    private static func seconds(_ fields: Fields, _ name: Name, from least: UInt32) throws -> UInt32? {
        guard let value = try fields.integer(name) else { return nil }
        guard let seconds = UInt32(exactly: value), seconds >= least else {
            throw APIProblem.invalid(name.text, "must be a whole number of seconds, \(least) to \(UInt32.max)")
        }
        return seconds
    }

    private static func targets(_ fields: Fields, _ name: Name) throws -> [DeviceSettings.MissingAppGroup] {
        try (fields.array(name) ?? []).map { element in
            guard case .object(let members) = element, members.count == 2,
                case .string(let process) = element["process"],
                case .string(let group) = element["app_group"]
            else { throw APIProblem.invalid(name.text, "must list objects with `process` and `app_group`") }
            return .init(process: Name(process), group: Name(group))
        }
    }

    // MARK: - Users

    func changeUser(_ request: APIRequest) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request, ["user"])
        let id = try Identifiers.user(fields.requiredText("user"))
        let context = try Self.deviceContext(fields)
        let previous = try log.device(device)?.user.flatMap { try log.find($0) }
        let (receipt, sent) = try await store.perform { log in
            let before = try log.lastPosition()
            if try log.isOutdated(id) { _ = try log.commit(.release(id)) }
            let receipt = try log.changeUser(device: device, to: log.writtenID(id), context: context)
            return (receipt, try log.sent(on: device, after: before))
        }
        let user = try log.device(device)?.user.flatMap { try log.find($0) } ?? log.user(meantBy: id)
        let state = try log.deviceState(device)
        var events = EventJSON(log: log)
        return try APIAnswer.ok(version: user?.version) { json in
            json.key("position")
            if receipt.places.isEmpty { json.null() } else { json.value(receipt.last.rawValue) }
            json.key("version")
            json.value(user?.version.rawValue ?? 0)
            json.key("device")
            json.value(device)
            json.key("user")
            json.user(user)
            json.key("previous")
            json.user(previous)
            json.key("merged")
            json.value(try merges(receipt))
            json.key("events")
            json.value(receipt.places.count)
            json.key("changed")
            json.value(!receipt.places.isEmpty)
            json.key("created")
            json.value(receipt.createdUser)
            json.key("sent")
            try writeSent(sent, &events, to: &json)
            json.key("waiting")
            json.value(state.waiting.count)
            json.key("queued")
            json.value(state.queued.count)
        }
    }

    /// Whether an event of `receipt` merged one user into another.
    private func merges(_ receipt: AppendReceipt) throws -> Bool {
        try (0..<UInt64(receipt.places.count)).contains { offset in
            let event = try log.event(at: Position(rawValue: receipt.first.rawValue + offset))
            return event?.event.kind == .usersMerged
        }
    }
}

extension EventLog {
    /// Positions of the events after `position` by which the SDK on `device` sent something.
    fileprivate func sent(on device: String, after position: Position) throws -> [Position] {
        var sent: [Position] = []
        var next = position.next
        while true {
            let page = try events(from: next, limit: 1_000, where: EventFilter(kinds: [.dataSent]))
            sent += page.events.filter { $0.context.device.map { $0.utf8.elementsEqual(device.utf8) } ?? false }
                .map(\.position)
            if page.scanned >= page.last { return sent }
            next = page.scanned.next
        }
    }
}
