/// Lets a made-up history happen to the devices of a log.
public struct SimulationRunner {
    private let log: EventLog

    /// A runner for `log`.
    public init(_ log: EventLog) { self.log = log }

    /// Plays `history`; each step is durable before the next. `progress` may stop it by answering false.
    ///
    /// Returns whether the end was reached.
    @discardableResult
    public func run(_ history: DeviceHistory, progress: (LogProgress) -> Bool = { _ in true }) throws -> Bool {
        let total = UInt64(history.steps.count)
        for (index, step) in history.steps.enumerated() {
            try play(step)
            let done = UInt64(index) + 1
            if done % 64 == 0 || done == total,
                !progress(LogProgress(stage: "simulate", done: done, total: total, unit: "steps"))
            {
                return done == total
            }
        }
        return true
    }

    private func play(_ step: DeviceHistory.Step) throws {
        let device = step.device
        let at = OccurredAt(step.time)
        let app = EventContext(source: .app, occurredAt: at, process: DeviceStorage.app)
        switch step.action {
        case .save(let event):
            let context = EventContext(
                source: .extension, occurredAt: at, process: DeviceHistory.process, device: device,
                storage: .appGroup(DeviceHistory.appGroup))
            _ = try log.append([event], to: .device(device), context: context)
        case .launch(let kind): _ = try log.launch(device: device, kind: kind, context: app)
        case .leave: _ = try log.leave(device: device, context: app)
        case .logIn(let id): _ = try log.changeUser(device: device, to: .externalID(id), context: app)
        case .network(let isOnline):
            var change = SettingsChange()
            change.isOnline = isOnline
            _ = try log.change(change, of: device, context: app)
        }
    }
}
