extension EventLog {
    /// Lets `intent` happen to the pushes of `device`, and flushes what waits there if that launches the app or makes
    /// the SDK.
    ///
    ///     try log.push(.deliver(limit: 100), on: "phone")
    ///     try log.push(.open(.newest), on: "phone")
    package func push(
        _ intent: PushIntent, on device: String, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> PushReport {
        let append = try PreparedAppend.device(device, .push(intent), context)
        var report = PushReport()
        let makesSDK = try commit(&report) { decider, report in
            report.events = try decider.decide(append).positions
            return try report.events.contains { position in
                let kind = try decider.header(at: position.rawValue).kind
                return kind == .appLaunched || kind == .deviceChanged
            }
        }
        guard makesSDK else { return report }
        let done = try startSDK(on: device, FlushInput(limit: options.itemsPerFlush), context)
        report.events += done.processed
        (report.sent, report.flushed) = (done.sent, done.flushed)
        return report
    }
}

/// The report about the pushes of a device.
package struct PushReport: Hashable, Sendable {
    /// Positions of all that the device did: steps, launches, sessions, what the app logged.
    package var events: [Position] = []
    /// Positions of the `dataSent` events by which the SDK sent what it had taken before.
    package var sent: [Position] = []
    /// Positions of the `pendingFlushed` events.
    package var flushed: [Position] = []
}

extension AppendReceipt {
    /// The positions of the events.
    var positions: [Position] {
        places.isEmpty ? [] : (first.rawValue...last.rawValue).map(Position.init(rawValue:))
    }
}
