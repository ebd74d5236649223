internal import ProfileLog

extension API {
    func launch(_ request: APIRequest) async throws -> APIAnswer {
        try Self.refuseConditions(request)
        let fields = try Fields(request.body, ["device", "kind", "only"])
        let device = try fields.text("device").map { try Identifiers.device($0) } ?? Self.defaultDevice
        let kind = try Self.launchKind(fields)
        let kinds = try Self.flushedKinds(fields)
        let context = EventContext(source: .app, process: DeviceStorage.app)
        let isNew = try log.device(device) == nil
        let report = try await perform { log in
            try log.launch(device: device, kind: kind, flushing: kinds, context: context)
        }
        return try answer(report, device: device, isNew: isNew, kinds: kinds)
    }

    private static func launchKind(_ fields: Fields) throws -> LaunchKind {
        guard let name = try fields.text("kind") else { return .cold }
        guard let kind = LaunchKind.allCases.first(where: { $0.name == name }) else {
            throw APIProblem.invalid("kind", "must be cold, background or return")
        }
        return kind
    }

    private static func flushedKinds(_ fields: Fields) throws -> Set<PendingKind> {
        guard let only = try fields.array("only") else { return Set(PendingKind.allCases) }
        let kinds = try only.map { value -> PendingKind in
            switch value {
            case .string("events"): return .customEvents
            case .string("attributes"): return .customAttributes
            case .string("user-attributes"): return .userAttributes
            default: throw APIProblem.invalid("only", "must list events, attributes or user-attributes")
            }
        }
        guard !kinds.isEmpty else { throw APIProblem.invalid("only", "must not be empty") }
        return Set(kinds)
    }

    private func answer(
        _ report: LaunchReport, device: String, isNew: Bool, kinds: Set<PendingKind>
    ) throws -> APIAnswer {
        var events = EventJSON(log: log)
        let user = try report.user.flatMap { try log.find($0) }
        return try APIAnswer.ok { json in
            json.key("position")
            json.value(report.position.rawValue)
            json.key("device")
            json.value(device)
            json.key("new_device")
            json.value(isNew)
            json.key("user")
            json.user(user)
            json.key("flushed")
            try writeOutcomes(report.flushed, &events, to: &json)
            json.key("finished")
            try writeOutcomes(report.finished, &events, to: &json)
            json.key("left")
            try json.array(try log.pending(on: device)) { json, item in
                try write(item, reason: Self.whyLeft(item, after: report, kinds: kinds), &events, to: &json)
            }
        }
    }

    private static func whyLeft(_ item: PendingSave, after report: LaunchReport, kinds: Set<PendingKind>) -> String {
        if case .privateTo(let process) = item.storage, !item.storage.isVisibleToApp {
            return "private to \(process.text): the app cannot see it"
        }
        if item.event.position > report.position { return "saved during the launch: the next one flushes it" }
        if !kinds.contains(item.kind) { return "not among the kinds that this launch was told to flush" }
        return "the next launch flushes it"
    }

    /// One object for each item that the `pendingFlushed` events at `positions` name, in the order in which they took effect.
    private func writeOutcomes(
        _ positions: [Position], _ events: inout EventJSON, to json: inout JSONWriter
    ) throws {
        json.beginArray()
        for position in positions {
            guard let event = try log.event(at: position), case .pendingFlushed(let flush) = event.event else {
                continue
            }
            for item in flush.flushed {
                try writeOutcome(item, "flushed", reason: nil, of: event, &events, to: &json)
            }
            for item in flush.rejected {
                try writeOutcome(item.position, "rejected", reason: item.reason, of: event, &events, to: &json)
            }
        }
        json.endArray()
    }

    private func writeOutcome(
        _ position: Position, _ outcome: String, reason: String?, of flush: RecordedEvent, _ events: inout EventJSON,
        to json: inout JSONWriter
    ) throws {
        guard let item = try log.event(at: position) else { return }
        json.beginObject()
        try Self.write(item, &events, to: &json)
        json.key("outcome")
        json.value(outcome)
        json.member("reason", reason)
        json.key("waited_s")
        json.value(item.seconds(until: flush.occurredAt.timestamp))
        json.key("flush")
        json.value(flush.position.rawValue)
        json.endObject()
    }

    private func write(
        _ item: PendingSave, reason: String, _ events: inout EventJSON, to json: inout JSONWriter
    ) throws {
        json.beginObject()
        try Self.write(item.event, &events, to: &json)
        json.key("outcome")
        json.value("left")
        json.key("reason")
        json.value(reason)
        json.endObject()
    }

    /// The members that say what was saved: of an outcome, and of an item that waits.
    static func write(_ item: RecordedEvent, _ events: inout EventJSON, to json: inout JSONWriter) throws {
        json.key("position")
        json.value(item.position.rawValue)
        json.member("kind", PendingKind(item.event.kind)?.key)
        json.member("user", try events.id(of: item.user))
        json.key("user_number")
        json.value(item.user.rawValue)
        json.key("saved_at")
        json.value(item.occurredAt)
        json.member("process", item.context.process?.text)
        json.member("storage", item.context.storage?.name)
        json.member("item", item.context.item)
        EventJSON.writeContent(item.event, to: &json)
    }
}

extension RecordedEvent {
    /// From the moment at which it happened to `time`; negative if clocks disagree.
    func seconds(until time: Timestamp) -> Double {
        Double(time.rawValue - occurredAt.timestamp.rawValue) / 1_000_000
    }
}
