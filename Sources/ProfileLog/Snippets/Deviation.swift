/// One difference between what the published code did with an item and what was saved, and the causing fault.
package struct Deviation: Hashable, Comparable, Sendable {
    /// The fault that caused it.
    package var fault: Fault
    /// The effect on the item.
    package var effect: FaultEffect

    init(_ fault: Fault, _ effect: FaultEffect) {
        self.fault = fault
        self.effect = effect
    }

    /// Orders by fault, then effect.
    package static func < (left: Deviation, right: Deviation) -> Bool {
        (left.fault, left.effect) < (right.fault, right.effect)
    }

    /// The deviation in one sentence without values.
    package var sentence: String { "\(effect.sentence): \(fault.title)." }
}

/// The effect of a fault on a saved item, compared with one exact delivery to its user, with its own time. The worst
/// first.
package enum FaultEffect: String, Sendable, CaseIterable, Comparable {
    case lost
    case partlyLost = "partly_lost"
    case doubled
    case wrongUser = "wrong_user"
    case misdated
    case mistyped
    case renamed
    case becameAttributes = "became_attributes"
    case truncated
    case reordered
    case delayed
    case kept

    /// The effect in words.
    package var name: String {
        switch self {
        case .partlyLost: "partly lost"
        case .wrongUser: "wrong user"
        case .becameAttributes: "became attributes"
        default: rawValue
        }
    }

    /// Orders like the cases: the worst first.
    package static func < (left: FaultEffect, right: FaultEffect) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    fileprivate var sentence: String {
        switch self {
        case .lost: "It never reached the SDK"
        case .partlyLost: "Some of its attributes never reached the SDK"
        case .doubled: "It reached the SDK more than once"
        case .wrongUser: "It went to the user of the flush and not of the save"
        case .misdated: "It got the time of the flush and not of the save"
        case .mistyped: "A value changed its type"
        case .renamed: "It was logged under another name"
        case .becameAttributes: "Its name and properties became custom attributes"
        case .truncated: "A key or a text was cut"
        case .reordered: "It overtook an item that was saved before it"
        case .delayed: "A launch passed without flushing it"
        case .kept: "It lies where no launch finds it"
        }
    }
}
