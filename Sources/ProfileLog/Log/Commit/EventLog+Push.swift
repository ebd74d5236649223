extension EventLog {
    /// Lets `intent` happen to the pushes of `device`, and flushes what waits there if that launches the app or makes
    /// the SDK.
    ///
    ///     try log.push(.deliver(limit: 100), on: "phone")
    ///     try log.push(.open(.newest), on: "phone")
    package func push(
        _ intent: PushIntent, on device: String, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> PushReport {
        var report = PushReport()
        report.events = try commit(PreparedAppend.device(device, .push(intent), context)).positions
        guard try makesSDK(report.events) else { return report }
        report.events += try processCaptured(on: device, context)
        var flush = FlushInput(limit: options.itemsPerFlush)
        report.sent = try send(device, .foreground, context)
        report.flushed = try handOver(on: device, &flush, context)
        return report
    }

    /// Processes what was captured, if a launch made the SDK: the app does not wait for it any more.
    @discardableResult
    func processCaptured(on device: String, _ context: EventContext) throws(AppendError) -> [Position] {
        guard try reading({ try $0.device(Name(device)).hasProcessible }) else { return [] }
        return try commit(PreparedAppend.device(device, .push(.initialize), context)).positions
    }

    /// Whether the SDK gets to run with these events.
    private func makesSDK(_ events: [Position]) throws(AppendError) -> Bool {
        try reading { view in
            try events.contains { position in
                let kind = try view.header(at: position.rawValue).kind
                return kind == .appLaunched || kind == .deviceChanged
            }
        }
    }

    /// The pushes of `device`.
    package func pushes(on device: String) throws -> PushState {
        try withView { try $0.device(Name(device)).pushes }
    }
}

/// What happened to the pushes of a device.
package struct PushReport: Hashable, Sendable {
    /// Positions of all that the device did: steps, launches, sessions, what the app logged.
    package var events: [Position] = []
    /// Positions of the `dataSent` events by which the SDK sent what it had taken before.
    package var sent: [Position] = []
    /// Positions of the `pendingFlushed` events.
    package var flushed: [Position] = []
}

extension AppendReceipt {
    /// Where the events are.
    fileprivate var positions: [Position] {
        places.isEmpty ? [] : (first.rawValue...last.rawValue).map(Position.init(rawValue:))
    }
}
