import ProfileLog

@testable import ProfileLogFolds
@testable import ProfileLogMachines

/// Pushes to devices without a log.
extension MachineRun {
    /// The payload of a push of Braze's.
    struct Payload {
        var alert: AttributeValue? = .string("Hello")
        var isBrazes = true
        var wakesApp = false
        var category: String?
        var pairs: [Name: AttributeValue] = [:]
        /// Members of `aps` other than the alert, the category and what wakes the app.
        var aps: [Name: AttributeValue] = [:]
        var buttons: [(id: String, action: String)] = []
        var link: String?
        var collapseID: String?
        var expiry: String?

        /// Wakes the app and shows nothing.
        static func silent(_ pairs: [Name: AttributeValue] = [:]) -> Payload {
            Payload(alert: nil, wakesApp: true, pairs: pairs)
        }

        static let serverEvent = silent(["IS_SERVER_EVENT": "true", "CAMPAIGN_NAME": "spring"])

        var content: [AttributeValue.Member] {
            var aps = aps
            aps["alert"] = alert
            if wakesApp { aps["content-available"] = .int(1) }
            aps["category"] = category.map { .string($0) }
            var payload = pairs
            payload["aps"] = Self.object(aps)
            payload["ab_uri"] = link.map { .string($0) }
            let buttons = buttons.map { Self.object(["action_id": .string($0.id), "action": .string($0.action)]) }
            if isBrazes { payload["ab"] = Self.object(buttons.isEmpty ? [:] : ["buttons": .array(buttons)]) }
            var content: [Name: AttributeValue] = ["payload": Self.object(payload)]
            content["collapse_id"] = collapseID.map { .string($0) }
            content["expiry"] = expiry.map { .string($0) }
            return content.map { .init($0, $1) }.sorted { $0.key < $1.key }
        }

        private static func object(_ members: [Name: AttributeValue]) -> AttributeValue {
            .object(members.map { .init($0, $1) }.sorted { $0.key < $1.key })
        }
    }

    /// The server sends a push to the device; the answer is the position of its `sent` step.
    @discardableResult
    mutating func send(_ payload: Payload, to device: Name = "d") -> UInt64 {
        let user = devices[device]?.status.user ?? create(.device(device.text), on: device)
        let step = MessageStep(.sent, of: "spring", by: .applePush, content: payload.content)
        record(.message(step), user, EventContext(source: .rest, device: device.text), device)
        return position
    }

    /// Plays an input of the device's pushes; nil if it is refused, else the steps that it made.
    @discardableResult
    mutating func push(_ intent: PushIntent, _ device: Name = "d") -> [MessageStep]? {
        let state = devices[device] ?? DeviceState()
        let before = position
        var input = PushInput(intent)
        let pushes = state.status.pushes
        switch intent {
        case .deliver, .receive: input.pushes = pushes.pushes.map(known)
        case .initialize: input.captured = pushes.captured.map(known)
        case .removeApp:
            input.pushes = pushes.pushes.filter { !$0.isUnderway }.map(known)
            input.captured = pushes.captured.map(known)
        case .forceQuit: break
        case .expand, .input, .act, .open, .dismiss:
            let push: PushProgress? =
                if case .at(let position)? = intent.choice { pushes.push(at: position) } else { pushes.newestShown }
            if let push { input.pushes = [known(push)] }
        }
        if PushMachine(Device(state: state, now: now), input).refusal != nil { return nil }
        handle(.push(input), device)
        return steps(after: before).map(\.step)
    }

    @discardableResult
    mutating func deliver(_ device: Name = "d") -> [MessageStep] {
        var steps: [MessageStep] = []
        while let more = push(.deliver(limit: 3), device), !more.isEmpty { steps += more }
        return steps
    }

    /// The steps of messages after a position.
    func steps(after position: UInt64 = 0) -> [(position: UInt64, device: Name, step: MessageStep)] {
        events.drop { $0.position <= position }.compactMap { event in
            if case .message(let step) = event.event { (event.position, event.device, step) } else { nil }
        }
    }

    func step(at position: UInt64) -> MessageStep? {
        guard position > 0, position <= events.count, case .message(let step) = events[Int(position) - 1].event else {
            return nil
        }
        return step
    }

    /// Follows a step to the one without a cause: what was sent.
    func origin(of position: UInt64) -> UInt64 {
        var position = position
        while let cause = step(at: position)?.cause { position = cause.rawValue }
        return position
    }

    /// The names of the events that the app logged, also of those that its SDK has not sent.
    var logged: [Name] {
        events.compactMap { entry in
            switch entry.event {
            case .customEventLogged(let event), .queued(.customEventLogged(let event)): event.name
            default: nil
            }
        }
    }

    private func known(_ progress: PushProgress) -> KnownPush {
        guard let step = step(at: progress.sent) else { preconditionFailure("A push was never sent.") }
        return KnownPush(progress, DeliveredPush(step, sentAt: now))
    }

    private func known(_ captured: CapturedPush) -> KnownCapture {
        guard let capture = step(at: captured.position), let sent = step(at: origin(of: captured.position)),
            let cause = capture.cause.flatMap({ step(at: $0.rawValue) })
        else { preconditionFailure("A capture has no push.") }
        return KnownCapture(
            captured, DeliveredPush(sent, sentAt: now), action: capture.action, wasOpened: cause.stage == .opened)
    }

    /// Changes how the device is set up.
    mutating func set(_ device: Name = "d", _ change: (inout DeviceSettings) -> Void) {
        var settings = devices[device]?.settings ?? DeviceSettings()
        change(&settings)
        handle(.change(settings), device)
    }
}
