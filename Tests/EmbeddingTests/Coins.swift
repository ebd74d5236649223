import ProfileLog

/// Counts what a user earned and did not spend: one coin for each event of that name.
enum Coins: UserProjection {
    static let name = "coins"
    static let revision: UInt32 = 1
    static let initial = 0

    static func apply(_ event: borrowing EventView, to coins: inout Int) {
        guard case .customEvent(let event)? = event.content else { return }
        switch event.name {
        case "earned": coins += 1
        case "spent": coins -= 1
        default: break
        }
    }

    static func merge(_ source: Int, into target: inout Int, by event: borrowing EventView) { target += source }
}

/// The coins of all users.
enum CoinsOfAll: StoreProjection {
    static let name = "coins-of-all"
    static let revision: UInt32 = 1
    static let initial = 0
    static func apply(_ event: borrowing EventView, to coins: inout Int) { Coins.apply(event, to: &coins) }
}

/// The coins of those on a device.
enum CoinsOnDevice: DeviceProjection {
    static let name = "coins-on-device"
    static let revision: UInt32 = 1
    static let initial = 0
    static func apply(_ event: borrowing EventView, to coins: inout Int) { Coins.apply(event, to: &coins) }
}

extension ProfileEvent {
    /// A custom event that is effective at once.
    static func happened(_ name: String) -> ProfileEvent { .customEventLogged(CustomEvent(name: Name(name))) }

    /// A custom event that waits for a launch.
    static func saved(_ name: String) -> ProfileEvent { .customEventSaved(CustomEvent(name: Name(name))) }

    /// The name of a custom event.
    var customName: String? {
        switch self {
        case .customEventLogged(let event), .customEventSaved(let event): event.name.text
        default: nil
        }
    }
}

extension UserID {
    static let ana = UserID.externalID("ana")
    static let bo = UserID.externalID("bo")
}

extension EventContext {
    /// The context of items that a push extension saves on `device`.
    static func push(on device: String) -> EventContext {
        .extension("PushContent", on: device, storage: .appGroup("group.app"))
    }
}
