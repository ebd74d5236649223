/// The name of a user as a caller gives it.
public enum UserID: Codable, Hashable, Sendable {
    /// The ID under which the customer's own systems know the user; permanent once set.
    case externalID(String)
    /// A name under a label; the pair is unique in the store.
    case alias(label: String, name: String)
    /// 24 hexadecimal digits that the store assigned: the `braze_id` of its answers, written `braze:ID`.
    case assignedID(String)
    /// An e-mail address: the user that was created with it. `AddressReader.users(sharing:)` finds users by the
    /// attribute.
    case email(String)
    /// A phone number, likewise.
    case phone(String)
    /// The user who is on this device now.
    case device(String)

    /// The names that states of projections have in their bytes: stored, so one is older than its case.
    private enum CodingKeys: String, CodingKey {
        case externalID, alias
        case assignedID = "brazeID"
        case email, phone, device
    }

    /// Reads `alias:LABEL:NAME`, `braze:ID`, `email:ADDRESS`, `phone:NUMBER`, `device:ID`; anything else is an external
    /// ID. An external ID that begins like one of these is written `id:…`. A colon or a backslash in a label is
    /// escaped with a backslash.
    package init(_ text: String) {
        // By bytes: with a combining mark after it, a colon is another character.
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            self = .externalID(text)
            return
        }
        let rest = String(text[text.utf8.index(after: colon)...])
        switch text[..<colon] {
        case "id": self = .externalID(rest)
        case "braze": self = .assignedID(rest)
        case "email": self = .email(rest)
        case "phone": self = .phone(rest)
        case "device": self = .device(rest)
        case "alias": self = Self.readAlias(rest) ?? .externalID(text)
        default: self = .externalID(text)
        }
    }

    /// The alias `LABEL:NAME`; nil if nothing ends the label.
    private static func readAlias(_ text: String) -> UserID? {
        var label: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch (byte, rest.first) {
            case (UInt8(ascii: ":"), _):
                return .alias(label: String(decoding: label, as: UTF8.self), name: String(Substring(rest)))
            case (UInt8(ascii: "\\"), let escaped?) where isEscaped(escaped): label.append(rest.removeFirst())
            default: label.append(byte)
            }
        }
        return nil
    }

    /// Tells whether this byte of a label is escaped with a backslash.
    private static func isEscaped(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ":") || byte == UInt8(ascii: "\\") }

    private static func escaped(_ label: String) -> String {
        guard label.utf8.contains(where: isEscaped) else { return label }
        let bytes = label.utf8.flatMap { isEscaped($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Tells whether both are the same, text compared by its bytes.
    public static func == (left: UserID, right: UserID) -> Bool {
        switch (left, right) {
        case (.externalID(let left), .externalID(let right)), (.assignedID(let left), .assignedID(let right)),
            (.email(let left), .email(let right)), (.phone(let left), .phone(let right)),
            (.device(let left), .device(let right)):
            left.hasSameBytes(as: right)
        case (.alias(let leftLabel, let left), .alias(let rightLabel, let right)):
            leftLabel.hasSameBytes(as: rightLabel) && left.hasSameBytes(as: right)
        default: false
        }
    }

    /// As `==`, without a copy of an external ID, the usual type.
    @inline(__always)
    package borrowing func isSame(as other: borrowing UserID) -> Bool {
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

    /// Tells whether it is a device.
    package var isDevice: Bool { if case .device = self { true } else { false } }

    package var kindNumber: UInt8 {
        switch self {
        case .externalID: 1
        case .alias: 2
        case .assignedID: 3
        case .email: 4
        case .phone: 5
        case .device: 6
        }
    }

    package var parts: [String] {
        switch self {
        case .externalID(let text), .assignedID(let text), .email(let text), .phone(let text), .device(let text): [text]
        case .alias(let label, let name): [label, name]
        }
    }
}

extension UserID: ExpressibleByStringLiteral {
    /// Reads the form of ``description``: `"ana"` is an external ID, `"email:ana@example.com"` an e-mail address. Text
    /// that is no literal of your own may begin like one of these forms: name its case, as in `.externalID(text)`.
    public init(stringLiteral text: String) { self.init(text) }
}

extension UserID: CustomStringConvertible {
    /// `alias:LABEL:NAME`, `braze:ID`, `email:ADDRESS`, `phone:NUMBER`, `device:ID`, or an external ID; `id:…` if
    /// that begins like one of these.
    public var description: String {
        switch self {
        case .externalID(let id): Self.prefixes.contains { id.utf8.starts(with: $0.utf8) } ? "id:\(id)" : id
        case .alias(let label, let name): "alias:\(Self.escaped(label)):\(name)"
        case .assignedID(let id): "braze:\(id)"
        case .email(let address): "email:\(address)"
        case .phone(let number): "phone:\(number)"
        case .device(let id): "device:\(id)"
        }
    }

    private static let prefixes = ["id:", "alias:", "braze:", "email:", "phone:", "device:"]
}
