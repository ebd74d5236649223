/// Folds a user's events into the apps and devices that they used.
///
/// A saved or queued item counts from its effect on, with the time of its save. On a simulated device launches and
/// sessions are uses of the app; the `app_id` of an event, a purchase or a change is a use of the app that it names.
package enum UsageProjection: UserProjection {
    package static let name = "usage"
    package static let revision: UInt32 = 3
    package static var initial: UsageState { UsageState() }

    /// Adds the sessions and devices, and keeps the earlier first use and the later last use.
    package static func merge(_ source: UsageState, into target: inout UsageState, by event: borrowing EventView) {
        target.merge(source)
    }

    package static func apply(_ event: borrowing EventView, to state: inout UsageState) {
        let header = event.header
        switch header.kind?.role {
        case .content(_, let timing):
            let origin = Origin(header)
            if let app = origin.app { state.use(app, at: origin.at) }
            if timing == .logged, let device = origin.device { state.devices.insert(device) }
        case .device(.launched), .device(.sessionStarted):
            let origin = Origin(header)
            guard let device = origin.device else { return }  // it was erased
            state.useApp(on: device, at: origin.at, sessions: header.kind == .sessionStarted ? 1 : 0)
        case .identity(.identified), .identity(.merged), .device(.userChanged):
            if let device = Origin(header).device { state.devices.insert(device) }
        case .outcome: applyOutcome(header, &state)
        case .identity, .device, .message, .note, nil: break
        }
    }

    private static func applyOutcome(_ header: RecordHeader, _ state: inout UsageState) {
        guard let body = RecordBody(header.body), !body.erased, !body.flushed.isEmpty, !body.isQueued else { return }
        if let device = Origin(header).device { state.devices.insert(device) }
    }

    /// The time of something, with the app and the device.
    private struct Origin {
        var at: Timestamp
        var app: Name?
        var device: Name?

        init(_ header: RecordHeader) {
            at = Timestamp(rawValue: header.recordedAt)
            var reader = WireReader(header.body)
            while let field = reader.field() {
                switch field.number {
                case RecordField.occurredAtMilliseconds: at = Timestamp(rawValue: reader.milliseconds())
                case RecordField.occurredAt: at = Timestamp(rawValue: reader.signed())
                case RecordField.app: app = Name(reader.text())
                case RecordField.device: device = Name(reader.text())
                default: reader.skip(field.type)
                }
            }
        }
    }
}
