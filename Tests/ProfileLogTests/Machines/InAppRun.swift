import ProfileLogMachines

/// A device with in-app messages in a test: folds the steps of each input, as a log does.
struct InAppRun {
    private(set) var state = InAppState()
    let table: TriggerTable
    var device = InAppMachine.Situation(user: 1)
    /// The time in seconds.
    var now: Int64 = 1_000
    private(set) var position: UInt64 = 0
    /// Each step, with its user and time.
    private(set) var history: [(step: MessageStep, user: UInt64, at: Int64)] = []

    init(_ messages: [InAppMessage]) throws {
        table = try TriggerTable(messages)
        send(.sessionStart(eligible: messages.map(\.id), catalogue: 1))
        history = []
    }

    @discardableResult
    mutating func send(_ input: InAppMachine.Input) -> InAppMachine.Reaction {
        let machine = InAppMachine(state: state, table: table, device: device, now: now * 1_000_000)
        let reaction = machine.handle(input, cause: nil)
        for step in reaction.steps {
            position += 1
            state.apply(step, user: device.user, position: position, at: now * 1_000_000)
            history.append((step, device.user, now))
        }
        return reaction
    }

    @discardableResult
    mutating func send(_ action: InAppAction) -> InAppMachine.Reaction { send(.action(action)) }

    @discardableResult
    mutating func words(_ action: InAppAction) -> [String] { words(.action(action)) }

    /// Logs a custom event, and says what became of the messages: "shown a", "ignored b: …".
    @discardableResult
    mutating func log(_ name: Name, _ properties: [AttributeValue.Member]? = nil) -> [String] {
        words(.event(.customEvent(CustomEvent(name: name, properties: properties))))
    }

    @discardableResult
    mutating func words(_ input: InAppMachine.Input) -> [String] { send(input).steps.map(Self.words) }

    mutating func wait(_ seconds: Int64) -> [String] {
        now += seconds
        return words(.timePassed)
    }

    mutating func merge(_ source: UInt64, into target: UInt64) { state.merge(source, into: target) }

    static func words(_ step: MessageStep) -> String {
        "\(step.stage) \(step.message)" + (step.reason.map { ": \($0)" } ?? "")
    }
}

extension InAppMessage {
    /// A message that the custom event of its own ID triggers, with changes.
    static func on(
        _ id: Name, event: Name? = nil, kind: Kind = .inApp, priority: Double = 0, startTime: Int64? = nil,
        endTime: Int64? = nil, reEligibility: Int = 0, delay: Int = 0, timeout: Int? = nil,
        orientation: Orientation = .any, form: Form = .modal, buttons: [Name] = [], assets: [Asset] = [],
        isControl: Bool = false
    ) throws -> InAppMessage {
        try InAppMessage(
            id: id, kind: kind, triggers: [.customEvent(event ?? id)], priority: priority,
            startTime: startTime.map { Timestamp(rawValue: $0 * 1_000_000) },
            endTime: endTime.map { Timestamp(rawValue: $0 * 1_000_000) }, reEligibility: reEligibility, delay: delay,
            timeout: timeout, orientation: orientation, form: form, buttons: buttons, assets: assets,
            isControl: isControl)
    }
}
