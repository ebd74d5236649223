/// The meaning of one event for a device.
package enum DeviceChange: Hashable, Sendable {
    /// Another user is on it from now on; nil for no user.
    case user(UInt64?)
    /// Replaces `source` by `target`, if it is on the device.
    case merged(source: UInt64, target: UInt64)
    /// The app started, and was to flush these lists; in the background it is not seen.
    case launched(position: UInt64, lists: Set<PendingKind>, isInBackground: Bool, at: Int64)
    case left(at: Int64)
    /// The app is no longer on it, nor anything that it had stored.
    case removed
    case sessionStarted(position: UInt64)
    case sessionEnded
    case settings(DeviceSettings)
    /// An item waits.
    case saved(PendingItem)
    /// The launch at this position has decided about some of this user's items.
    case flushed(user: UInt64, launch: UInt64)
    /// The SDK has taken these items, in this order.
    case handed([UInt64], position: UInt64)
    /// Items were sent at this time and are no longer pending.
    case sent([UInt64], at: Int64)
    /// Items are no longer pending.
    case gone([UInt64])
    /// A push went one step further.
    case push(PushStep)
    /// An in-app message went one step further.
    case inApp(InAppStep)

    /// Calls `body` with what the event with `header` and `body` at `position` means, device by device.
    package static func forEach(
        _ header: RecordHeader, _ record: RecordBody, _ position: UInt64, _ body: (Name, DeviceChange) -> Void
    ) {
        guard let kind = header.kind, !record.erased else { return }
        if case .identity(let change) = kind.role {
            forEach(change, of: header.user, record, body)
            if change != .merged || record.otherUser == nil { return }
        }
        guard let device = record.device.map({ Name(String(decoding: $0, as: UTF8.self)) }) else { return }
        let at = record.occurredAt ?? header.recordedAt
        switch kind.role {
        case .identity, .device(.userChanged): body(device, .user(header.user))
        case .device(.userLoggedOut): body(device, .user(nil))
        case .device(.launched):
            let kind = LaunchKind(rawValue: UInt8(truncatingIfNeeded: record.launchKind)) ?? .cold
            // Before the first unlock the app reads no list.
            let lists = kind == .locked ? [] : PendingKind.lists(skipping: record.skippedLists)
            body(device, .launched(position: position, lists: lists, isInBackground: kind.isInBackground, at: at))
        case .device(.left): body(device, .left(at: at))
        case .device(.removed): body(device, .removed)
        case .device(.sessionStarted): body(device, .sessionStarted(position: position))
        case .device(.sessionEnded): body(device, .sessionEnded)
        case .device(.settings): if let settings = record.settings { body(device, .settings(settings)) }
        case .content(_, .saved): body(device, .saved(.init(saved: kind, header.user, position, record)))
        case .content(_, .queued): body(device, .saved(.init(queued: header.user, position)))
        case .outcome(.flushed):
            body(device, .flushed(user: header.user, launch: record.launch))
            let flushed = record.flushed.map(\.rawValue)
            if !record.rejected.isEmpty { body(device, .gone(record.rejected.map(\.position.rawValue))) }
            if flushed.isEmpty { return }
            body(device, record.isQueued ? .handed(flushed, position: position) : .sent(flushed, at: at))
        case .outcome(.sent): body(device, .sent(record.flushed.map(\.rawValue), at: at))
        case .outcome(.discarded): body(device, .gone(record.discarded.map(\.rawValue)))
        case .message(let stage):
            if let change = record.inApp {
                body(
                    device,
                    .inApp(.init(stage: stage, change: change, user: header.user, position: position, at: at)))
            }
            guard let channel = MessageStep.Channel(rawValue: record.channel), channel.isPush else { return }
            body(
                device,
                .push(
                    PushStep(
                        stage: stage, position: position, cause: record.cause?.rawValue, user: header.user,
                        screen: record.screen)))
        case .content(_, .logged), .note: break
        }
    }

    /// Calls `body` with what a change of a user's IDs means for the devices among them.
    private static func forEach(
        _ change: EventRole.Identity, of user: UInt64, _ record: RecordBody, _ body: (Name, DeviceChange) -> Void
    ) {
        for case .device(let device) in record.identities {
            switch change {
            case .created, .identified: body(Name(device), .user(user))
            case .merged:
                if let source = record.otherUser { body(Name(device), .merged(source: source, target: user)) }
            case .renamed, .erased: break
            }
        }
    }
}

extension PendingItem {
    fileprivate init(saved kind: EventKind, _ user: UInt64, _ position: UInt64, _ record: RecordBody) {
        self.init(
            storage: StorageCode(appGroup: record.storage, process: record.process), user: user, position: position,
            kind: PendingKind(kind))
    }

    fileprivate init(queued user: UInt64, _ position: UInt64) {
        self.init(
            storage: StorageCode(rawValue: 0), user: user, position: position, kind: nil,
            queued: QueuePlace(position: position, index: 0))
    }
}
