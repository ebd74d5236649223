import ProfileLog

/// The coins that a user has.
enum Coins: UserProjection {
    static let name = "coins"
    static let revision: UInt32 = 1
    static let initial: Int64 = 0

    static func apply(_ event: borrowing EventView, to coins: inout Int64) {
        guard case .int(let number)? = event.property("coins") else { return }
        switch event.name {
        case "coins earned": coins += number
        case "coins spent": coins -= number
        default: break
        }
    }

    static func merge(_ source: Int64, into target: inout Int64, by event: borrowing EventView) { target += source }
}

/// An event that moves coins.
func moved(_ coins: Int64, _ name: Name) -> ProfileEvent {
    .customEventLogged(CustomEvent(name: name, properties: [.init("coins", .int(coins))]))
}
