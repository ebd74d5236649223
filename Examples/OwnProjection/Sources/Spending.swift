import ProfileLog

/// The money that a user spent.
enum Spending: UserProjection {
    static let name = "spending"
    static let revision: UInt32 = 1
    static let initial = Money()

    static func apply(_ event: borrowing EventView, to money: inout Money) {
        if case .purchase(let purchase)? = event.content { money.add(purchase) }
    }

    static func merge(_ source: Money, into target: inout Money, by event: borrowing EventView) { target.add(source) }
}

/// The money that each product brought, over the whole store.
enum Sales: StoreProjection {
    static let name = "sales"
    static let revision: UInt32 = 1
    static let initial: [Name: Money] = [:]

    static func apply(_ event: borrowing EventView, to sales: inout [Name: Money]) {
        if case .purchase(let purchase)? = event.content { sales[purchase.product, default: Money()].add(purchase) }
    }
}

/// The money that was spent on a device.
enum Till: DeviceProjection {
    static let name = "till"
    static let revision: UInt32 = 1
    static let initial = Money()

    static func apply(_ event: borrowing EventView, to money: inout Money) {
        if case .purchase(let purchase)? = event.content { money.add(purchase) }
    }
}
