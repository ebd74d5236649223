/// The log's own number of a user: 1, 2, 3 … in the order of creation. Number 0 is the system.
public struct UserNumber: OrderedByNumber, Codable, Hashable, Sendable {
    /// The number.
    public var rawValue: UInt64

    /// Store-level facts are in this user's stream.
    package static let system = UserNumber(rawValue: 0)

    /// Makes the user number with this value.
    @inlinable
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension UserNumber: CustomStringConvertible {}
