/// What a fault does to a saved item, compared with its delivery once, exact, to its user, with its own time.
public enum FaultEffect: String, Sendable, CaseIterable, Comparable {
    /// It never reaches the SDK.
    case lost
    /// Some of its attributes never reach the SDK.
    case partlyLost = "partly_lost"
    /// It reaches the SDK more than once.
    case doubled
    /// It goes to somebody else.
    case wrongUser = "wrong_user"
    /// It gets the time of the flush.
    case misdated
    /// A value gets another type.
    case mistyped
    /// The event gets another name.
    case renamed
    /// The event arrives as custom attributes.
    case becameAttributes = "became_attributes"
    /// A key or a text is cut.
    case truncated
    /// It overtakes an item that was saved before it.
    case reordered
    /// A launch that should have flushed it did not.
    case delayed
    /// It lies where no launch finds it.
    case kept

    /// The effect in words.
    public var name: String {
        switch self {
        case .partlyLost: "partly lost"
        case .wrongUser: "wrong user"
        case .becameAttributes: "became attributes"
        default: rawValue
        }
    }

    /// In the order of the cases: the worst first.
    public static func < (left: FaultEffect, right: FaultEffect) -> Bool { left.severity > right.severity }

    private var severity: Int { Self.allCases.count - (Self.allCases.firstIndex(of: self) ?? 0) }
}
