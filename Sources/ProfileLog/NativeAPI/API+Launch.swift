internal import ProfileLogRequests

extension NativeAPI {
    /// What a launch is told.
    private struct LaunchOrder {
        var device: String
        var kind: LaunchKind
        var kinds: Set<PendingKind>
        var step: LaunchStep?
    }

    func launch(_ request: APIRequest) async throws -> APIAnswer {
        let (device, fields) = try Self.deviceFields(request, ["kind", "only", "die_after"])
        let order = LaunchOrder(
            device: device, kind: try Self.launchKind(fields), kinds: try Self.flushedKinds(fields),
            step: try Self.launchStep(fields))
        let context = try Self.deviceContext(fields)
        let isNew = try log.device(order.device) == nil
        let report = try await store.perform { log in
            try log.launch(
                device: order.device, kind: order.kind, flushing: order.kinds, dyingAfter: order.step, context: context)
        }
        return try answer(report, order, isNew: isNew)
    }

    private static func launchKind(_ fields: Fields) throws -> LaunchKind {
        guard let name = try fields.text("kind") else { return .cold }
        guard let kind = LaunchKind.allCases.first(where: { $0.name == name }) else {
            throw APIProblem.invalid("kind", "must be cold, background or return")
        }
        return kind
    }

    private static func launchStep(_ fields: Fields) throws -> LaunchStep? {
        guard let name = try fields.text("die_after") else { return nil }
        guard let step = LaunchStep(rawValue: name) else {
            throw APIProblem.invalid("die_after", "must be launched or handed")
        }
        return step
    }

    private static func flushedKinds(_ fields: Fields) throws -> Set<PendingKind> {
        guard let only = try fields.array("only") else { return PendingKind.all }
        let kinds = try only.map { value in
            guard case .string(let word) = value, let kind = PendingKind.allCases.first(where: { $0.word == word })
            else {
                throw APIProblem.invalid("only", "must list events, attributes or user-attributes")
            }
            return kind
        }
        guard !kinds.isEmpty else { throw APIProblem.invalid("only", "must not be empty") }
        return Set(kinds)
    }

    private func answer(_ report: LaunchReport, _ order: LaunchOrder, isNew: Bool) throws -> APIAnswer {
        var events = EventJSON(log: log)
        let user = try report.user.flatMap { try log.find($0) }
        let settings = try log.deviceState(order.device).settings
        let why = settings.reasonQueued(died: order.step == .handed)
        let flushed = try outcomes(report.flushed, why)
        let finished = try outcomes(report.finished, why)
        return try APIAnswer.ok { json in
            json.key("position")
            json.value(report.position.rawValue)
            json.key("device")
            json.value(order.device)
            json.key("new_device")
            json.value(isNew)
            json.key("user")
            json.user(user)
            json.key("flushed")
            try json.array(flushed.filter { $0.state.why == nil }) { try write($1.item, $1.state, &events, to: &$0) }
            json.key("finished")
            try json.array(finished) { try write($1.item, $1.state, &events, to: &$0) }
            json.key("sent")
            try writeSent(report.sent, &events, to: &json)
            json.key("queued")
            try json.array(flushed.filter { $0.state.why != nil }) { try write($1.item, $1.state, &events, to: &$0) }
            json.key("left")
            try json.array(try log.pending(on: order.device)) { json, item in
                try write(item.event, Self.left(item, report, order, settings), &events, to: &json)
            }
        }
    }

    /// Why the launch left `item` where it is.
    private static func left(
        _ item: PendingSave, _ report: LaunchReport, _ order: LaunchOrder, _ settings: DeviceSettings
    ) -> ItemState {
        var state = ItemState(outcome: "left", reason: "the next launch flushes it")
        if let hidden = settings.reasonHidden(item.storage) {
            state.reason = hidden
        } else if item.event.position > report.position {
            state.reason = "saved during the launch: the next one flushes it"
        } else if order.step == .launched {
            state.reason = "the app died before it was handed to the SDK: the next launch flushes it"
            state.why = .died
        } else if !order.kinds.contains(item.kind) {
            state.reason = "not among the kinds that this launch was told to flush"
        } else if !settings.isSDKEnabled {
            state.reason = "the SDK is disabled and takes nothing"
            state.why = .disabled
        }
        return state
    }

    /// What the `pendingFlushed` events at `positions` decided about each item that they name, in the order in which it
    /// took effect. What they only handed to the SDK is queued, for the reason `why`.
    private func outcomes(
        _ positions: [Position], _ why: QueueReason
    ) throws -> [(item: Position, state: ItemState)] {
        var outcomes: [(item: Position, state: ItemState)] = []
        for position in positions {
            guard let event = try log.event(at: position), case .pendingFlushed(let flush) = event.event else {
                continue
            }
            let taken =
                flush.isQueued
                ? ItemState(outcome: "queued", why: why, decision: event)
                : ItemState(outcome: "flushed", decision: event)
            outcomes += flush.flushed.map { ($0, taken) }
            outcomes += flush.rejected.map {
                ($0.position, ItemState(outcome: "rejected", reason: $0.reason, decision: event))
            }
        }
        return outcomes
    }
}

extension PendingKind {
    /// How a launch is told of the list, and tells of it.
    package var word: String {
        switch self {
        case .customEvents: "events"
        case .customAttributes: "attributes"
        case .userAttributes: "user-attributes"
        }
    }
}
