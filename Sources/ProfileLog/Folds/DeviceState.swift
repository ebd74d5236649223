/// The state of a device: its user, its settings, what waits for a launch, and what its SDK has not sent yet.
package struct DeviceState: Hashable, Sendable {
    package var status = DeviceStatus()
    /// Items that have not taken effect, by position.
    package var items: [UInt64: PendingItem] = [:]

    package init(status: DeviceStatus = DeviceStatus(), items: [UInt64: PendingItem] = [:]) {
        self.status = status
        self.items = items
    }

    /// The user on it; nil if there is none.
    package var user: UserNumber? { status.user.map(UserNumber.init(rawValue:)) }
    /// The position of its last launch; nil if there was none.
    package var lastLaunch: Position? { status.launch == 0 ? nil : Position(rawValue: status.launch) }
    /// The position at which its open session started; nil if none is open.
    package var session: Position? { status.session == 0 ? nil : Position(rawValue: status.session) }
    package var settings: DeviceSettings { status.settings }
    /// Positions of the saved items that wait for a launch, in saved order.
    package var waiting: [Position] {
        items.values.filter { $0.queued == nil }.map { Position(rawValue: $0.position) }.sorted()
    }
    /// Positions of what the SDK took and has not sent, in the order in which it will.
    package var queued: [Position] { queue.map { Position(rawValue: $0.position) } }

    /// Items that the SDK has not sent, in the order in which it will send them.
    package var queue: [PendingItem] {
        items.values.compactMap { item in item.queued.map { ($0, item) } }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    package mutating func apply(_ change: DeviceChange) {
        status.apply(change)
        items.apply(change)
    }
}

extension [UInt64: PendingItem] {
    package mutating func apply(_ change: DeviceChange) {
        switch change {
        case .saved(let item): self[item.position] = item
        case .handed(let positions, let handedAt):
            for (index, position) in positions.enumerated() {
                self[position]?.queued = .init(position: handedAt, index: UInt64(index))
            }
        case .sent(let positions, _), .gone(let positions): for position in positions { self[position] = nil }
        default: break
        }
    }
}
