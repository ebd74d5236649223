/// A number with a meaning, or a case with a stored number, in the order of these numbers.
public protocol OrderedByNumber: RawRepresentable, Comparable where RawValue: Comparable {}

extension OrderedByNumber {
    /// Orders by the number.
    @inlinable
    @inline(__always)
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
