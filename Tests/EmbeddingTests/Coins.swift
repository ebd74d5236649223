import ProfileLog

/// Counts what a user earned and did not spend: one coin for each event of that name.
enum Coins: Projection {
    static let name = "coins"
    static let revision: UInt32 = 1
    static var initial: Int { 0 }

    static func apply(_ event: borrowing EventView, to coins: inout Int) {
        guard event.kind == .customEventLogged, case .customEventLogged(let event) = event.recorded()?.event
        else { return }
        switch event.name {
        case "earned": coins += 1
        case "spent": coins -= 1
        default: break
        }
    }

    static func merge(_ source: Int, into target: inout Int) { target += source }

    static func encode(_ coins: Int) -> [UInt8] { Array("\(coins)".utf8) }

    static func decode(_ bytes: UnsafeRawBufferPointer) -> Int? { Int(String(decoding: bytes, as: UTF8.self)) }
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
