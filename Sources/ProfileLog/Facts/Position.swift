/// An event's place in the whole log, from 1, in commit order and without gaps.
public struct Position: OrderedByNumber, Codable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The place; 0 is before the first event.
    public var rawValue: UInt64

    /// The position before the first event.
    package static let start = Position(rawValue: 0)

    /// Makes the position with this number.
    @inlinable
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The next place.
    @inlinable package var next: Position { Position(rawValue: rawValue + 1) }
}

extension Position: CustomStringConvertible {}
