/// How a caller names a user.
public enum UserID: Hashable, Sendable {
    /// The ID under which the customer's own systems know the user; permanent once set.
    case externalID(String)
    /// A name under a label; the pair is unique in the store.
    case alias(label: String, name: String)
    /// 24 hexadecimal digits that the store assigned.
    case brazeID(String)
    /// An e-mail address: the user made by it. Who has it as an attribute, `EventLog.users(sharing:)` tells.
    case email(String)
    /// A phone number, likewise.
    case phone(String)
    /// Whoever is on this device now.
    case device(String)

    /// Reads `alias:LABEL:NAME`, `braze:ID`, `email:ADDRESS`, `phone:NUMBER`, `device:ID`; all else is an external ID.
    /// An external ID that begins like one of these is written `id:…`.
    public init(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else {
            self = .externalID(text)
            return
        }
        let rest = String(text[text.index(after: colon)...])
        switch text[..<colon] {
        case "id": self = .externalID(rest)
        case "braze": self = .brazeID(rest)
        case "email": self = .email(rest)
        case "phone": self = .phone(rest)
        case "device": self = .device(rest)
        case "alias":
            let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            self = parts.count == 2 ? .alias(label: String(parts[0]), name: String(parts[1])) : .externalID(text)
        default: self = .externalID(text)
        }
    }

    /// Whether both are the same, text compared by its bytes.
    public static func == (left: UserID, right: UserID) -> Bool {
        switch (left, right) {
        case (.externalID(let left), .externalID(let right)), (.brazeID(let left), .brazeID(let right)),
            (.email(let left), .email(let right)), (.phone(let left), .phone(let right)),
            (.device(let left), .device(let right)):
            left.hasSameBytes(as: right)
        case (.alias(let leftLabel, let left), .alias(let rightLabel, let right)):
            leftLabel.hasSameBytes(as: rightLabel) && left.hasSameBytes(as: right)
        default: false
        }
    }

    /// As `==`, without a copy of the ID that most are.
    @inline(__always)
    borrowing func isSame(as other: borrowing UserID) -> Bool {
        switch self {
        case .externalID(let id):
            switch other {
            case .externalID(let other): return id.hasSameBytes(as: other)
            default: return false
            }
        default: return copy self == copy other
        }
    }

    /// Feeds in what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kindNumber)
        for part in parts { hasher.combine(Name(part)) }
    }

    var kindNumber: UInt8 {
        switch self {
        case .externalID: 1
        case .alias: 2
        case .brazeID: 3
        case .email: 4
        case .phone: 5
        case .device: 6
        }
    }

    var parts: [String] {
        switch self {
        case .externalID(let text), .brazeID(let text), .email(let text), .phone(let text), .device(let text): [text]
        case .alias(let label, let name): [label, name]
        }
    }
}

extension UserID: CustomStringConvertible {
    /// The form that `init(_:)` reads.
    public var description: String {
        switch self {
        case .externalID(let id): Self.prefixes.contains { id.hasPrefix($0) } ? "id:\(id)" : id
        case .alias(let label, let name): "alias:\(label):\(name)"
        case .brazeID(let id): "braze:\(id)"
        case .email(let address): "email:\(address)"
        case .phone(let number): "phone:\(number)"
        case .device(let id): "device:\(id)"
        }
    }

    private static let prefixes = ["id:", "alias:", "braze:", "email:", "phone:", "device:"]
}
