/// A piece of UTF-8 text that names something, compared byte for byte.
///
/// Swift's `String` compares the composed and the decomposed form of "é" as equal. A store must not: two users would
/// silently become one. The order is that of the bytes.
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

    /// Tells whether both are the same, text compared by its bytes.
    @inlinable
    public static func == (left: Name, right: Name) -> Bool { left.text.hasSameBytes(as: right.text) }

    /// Orders by the bytes.
    @inlinable
    public static func < (left: Name, right: Name) -> Bool { left.text.order(to: right.text) < 0 }

    /// Feeds in what `==` compares.
    @inlinable
    public func hash(into hasher: inout Hasher) {
        text.withRawUTF8 { hasher.combine(bytes: $0) }
    }
}

extension Name: Codable, CodingKeyRepresentable {
    /// Reads the text.
    public init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// The text as a key.
    public var codingKey: any CodingKey { NameKey(stringValue: text) }

    /// The text of `codingKey`.
    public init?<Key: CodingKey>(codingKey: Key) { text = codingKey.stringValue }
}

private struct NameKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension String {
    /// Tells whether both are the same UTF-8, without Unicode's canonical equivalence.
    @inlinable
    @inline(__always)
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && order(to: other) == 0
    }

    /// Negative, zero or positive, by the bytes of the UTF-8.
    @inlinable
    @inline(__always)
    package func order(to other: String) -> Int {
        withRawUTF8 { left in other.withRawUTF8 { right in left.order(to: right) } }
    }

    /// Lends the UTF-8.
    @inlinable
    @inline(__always)
    package borrowing func withRawUTF8<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
        var copy = copy self
        return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
