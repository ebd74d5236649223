/// The kind of an identifier: the cases of ``UserID``.
package enum IdentifierKind: UInt8, Sendable, CaseIterable, OrderedByNumber {
    case externalID = 1
    case alias = 2
    case assignedID = 3
    case email = 4
    case phone = 5
    case device = 6

    /// The word for it in answers.
    package var name: String {
        switch self {
        case .externalID: "external_id"
        case .alias: "alias"
        case .assignedID: "braze_id"
        case .email: "email"
        case .phone: "phone"
        case .device: "device"
        }
    }

    /// Tells whether several users may have it: an e-mail address or a phone number.
    package var isAddress: Bool { self == .email || self == .phone }
}

extension UserID {
    package var kind: IdentifierKind {
        switch self {
        case .externalID: .externalID
        case .alias: .alias
        case .assignedID: .assignedID
        case .email: .email
        case .phone: .phone
        case .device: .device
        }
    }
}
