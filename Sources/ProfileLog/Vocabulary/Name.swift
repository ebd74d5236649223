/// A piece of UTF-8 text that names something, compared byte for byte.
///
/// Swift's `String` holds the composed and the decomposed form of "é" for equal; a store must not, or one user would silently
/// become another. Order is that of the bytes.
public struct Name: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The text.
    public let text: String

    /// Names `text` as it is.
    public init(_ text: String) {
        self.text = text
    }

    /// Names `value` as it is.
    public init(stringLiteral value: String) {
        text = value
    }

    /// The text itself.
    public var description: String { text }

    public static func == (left: Name, right: Name) -> Bool { left.text.hasSameBytes(as: right.text) }

    public static func < (left: Name, right: Name) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }

    public func hash(into hasher: inout Hasher) {
        var copy = text
        copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether both are the same UTF-8, without Unicode's canonical equivalence.
    func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
