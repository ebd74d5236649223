/// A number with a meaning, or a case with a stored number, in the order of these numbers.
public protocol OrderedByNumber: RawRepresentable, Comparable where RawValue: Comparable {}

extension OrderedByNumber {
    /// Orders by the number.
    @inlinable
    @inline(__always)
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension OrderedByNumber where RawValue == UInt64 {
    /// The number, as in `7`.
    public var description: String { "\(rawValue)" }
}

extension OrderedByNumber where RawValue == UInt64, Self: ExpressibleByIntegerLiteral {
    /// Makes the value with this number.
    @inlinable
    public init(integerLiteral value: UInt64) {
        guard let made = Self(rawValue: value) else { preconditionFailure("\(value) is no \(Self.self)") }
        self = made
    }
}
