extension EventLog {
    /// Starts the app on `device` and flushes what waits there and the app can see: custom events, then custom attributes, then user
    /// attributes, each in saved order.
    ///
    /// A launch that died before its flush was done is finished first, under its own position. What is saved while this one runs
    /// waits for the next. Each chunk is durable on its own, so a caller that dies leaves a launch that the next call finishes.
    public func launch(
        device: String, kind: LaunchKind = .cold, flushing kinds: Set<PendingKind> = Set(PendingKind.allCases),
        context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> LaunchReport {
        let launch = try PreparedAppend.launch(device: device, kind: kind, context: context)
        var report = LaunchReport()
        report.finished = try flush(device, kinds, context)
        let receipt = try commit(launch)
        report.position = receipt.last
        report.user = receipt.places.last?.user
        report.flushed = try flush(device, kinds, context)
        return report
    }

    /// Flushes chunk by chunk until nothing is left that the device's last launch must flush.
    private func flush(
        _ device: String, _ kinds: Set<PendingKind>, _ context: EventContext
    ) throws(AppendError) -> [Position] {
        var flushes: [Position] = []
        while true {
            let receipt = try commit(
                PreparedAppend(
                    .flush(device: Name(device), kinds: kinds, limit: options.itemsPerFlush, context: context)))
            if receipt.places.isEmpty { return flushes }
            flushes.append(receipt.last)
        }
    }
}

/// What a launch did.
public struct LaunchReport: Hashable, Sendable {
    /// Position of its `appLaunched`.
    public var position: Position = .start
    /// Who was on the device.
    public var user: UserNumber?
    /// Positions of the `pendingFlushed` events by which an earlier launch was finished.
    public var finished: [Position] = []
    /// Positions of the `pendingFlushed` events of this launch.
    public var flushed: [Position] = []
}
