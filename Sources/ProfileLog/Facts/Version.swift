/// The number of a user's events: an unknown user is at 0, the first event is version 1.
public struct Version: OrderedByNumber, Codable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The count.
    public var rawValue: UInt64

    /// The version of a user without events.
    package static let none = Version(rawValue: 0)

    /// Makes the version with this number.
    @inlinable
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The version that the next event gets.
    @inlinable package var next: Version { Version(rawValue: rawValue + 1) }
}

extension Version: CustomStringConvertible {}
