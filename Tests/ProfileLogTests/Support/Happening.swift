import ProfileLog

/// Something that happens to the one user of a fold's story, told without its place: that is 1, 2, 3 … in the order
/// of telling.
///
/// Times are plain numbers. What gives none happened when it was recorded: at `1000 * position`.
struct Happening {
    let event: ProfileEvent
    var context = EventContext(source: .app)

    static let device = "phone"

    static func recordedAt(_ position: Int) -> Int64 { Int64(1000 * position) }

    func at(_ time: Int64) -> Happening {
        var happening = self
        happening.context.occurredAt = OccurredAt(Timestamp(rawValue: time))
        return happening
    }

    func from(_ source: EventSource) -> Happening {
        var happening = self
        happening.context.source = source
        return happening
    }

    func inApp(_ id: String) -> Happening {
        var happening = self
        happening.context.app = id
        return happening
    }

    var onDevice: Happening {
        var happening = self
        happening.context.device = Self.device
        return happening
    }

    private var inAppGroup: Happening {
        var happening = onDevice
        happening.context.source = .extension
        happening.context.process = "push"
        happening.context.storage = .appGroup("group.test")
        return happening
    }
}

// MARK: - Effective at once

extension Happening {
    static var userCreated: Happening { Happening(event: .userCreated([.externalID("ana")])) }

    static func logged(_ name: Name) -> Happening { Happening(event: .customEventLogged(CustomEvent(name: name))) }

    static func changed(_ name: Name, _ operation: AttributeOperation) -> Happening {
        Happening(event: .customAttributesChanged([AttributeChange(name, operation)]))
    }

    static func set(_ name: Name, _ value: AttributeValue) -> Happening { changed(name, .set(value)) }

    static func set(_ attribute: StandardAttribute, _ value: AttributeValue) -> Happening {
        Happening(event: .userAttributesChanged([UserAttributeChange(attribute, value)]))
    }

    static func bought(
        _ quantity: UInt32, _ product: Name, for price: Double, _ currency: String
    ) -> Happening {
        Happening(
            event: .purchaseLogged(
                Purchase(product: product, currency: currency, price: price, quantity: quantity)))
    }
}

// MARK: - On the device

extension Happening {
    static func saved(_ name: Name) -> Happening {
        Happening(event: .customEventSaved(CustomEvent(name: name))).inAppGroup
    }

    static func saved(_ name: Name, _ operation: AttributeOperation) -> Happening {
        Happening(event: .customAttributesSaved([AttributeChange(name, operation)])).inAppGroup
    }

    static func saved(_ attribute: StandardAttribute, _ value: AttributeValue) -> Happening {
        Happening(event: .userAttributeSaved(UserAttributeChange(attribute, value))).inAppGroup
    }

    static var launched: Happening { Happening(event: .appLaunched(.cold)).onDevice }

    static var sessionStarted: Happening { Happening(event: .sessionStarted).onDevice }

    static func queued(_ name: Name) -> Happening {
        Happening(event: .queued(.customEventLogged(CustomEvent(name: name)))).onDevice
    }

    /// Lets items queued at `positions` take effect.
    static func sent(_ positions: UInt64...) -> Happening {
        Happening(event: .dataSent(positions.map(Position.init(rawValue:)))).onDevice
    }

    /// Lets items saved at `positions` take effect in this order; what was saved at `rejected` never will.
    static func flushed(_ positions: UInt64..., rejecting rejected: UInt64...) -> Happening {
        let rejections = rejected.map { Flush.Rejection(position: Position(rawValue: $0), reason: "a test") }
        return Happening(
            event: .pendingFlushed(
                Flush(launch: .start, chunk: 0, flushed: positions.map(Position.init(rawValue:)), rejected: rejections))
        ).onDevice
    }

    static func discarded(_ positions: UInt64...) -> Happening {
        Happening(
            event: .pendingDiscarded(
                Discard(positions: positions.map(Position.init(rawValue:)), actor: "a test", reason: "a test"))
        ).onDevice
    }
}
