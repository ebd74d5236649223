/// JSON text to values, by the letter of RFC 8259.
///
/// Stricter where the RFC leaves a choice: a key may stand once in an object, and only well-formed Unicode is text. An
/// integer stays an integer: a number is `.int` unless it has a fraction or an exponent. No string becomes a date here;
/// whoever knows what a member means converts it.
public enum JSON {
    /// The levels of nesting that `parse` accepts unless told otherwise.
    public static let defaultMaxDepth = 64

    /// Reads the one value that `bytes` hold, with white space around it or without.
    ///
    /// - Parameter maxDepth: how many arrays and objects may be open at once. Each takes about 700 bytes of stack.
    public static func parse(
        _ bytes: UnsafeRawBufferPointer, maxDepth: Int = defaultMaxDepth
    ) throws(JSONError) -> AttributeValue {
        guard let base = bytes.baseAddress else { throw JSONError(.unexpectedEnd, at: 0) }
        var parser = JSONParser(base.assumingMemoryBound(to: UInt8.self), count: bytes.count, maxDepth: maxDepth)
        return try parser.document()
    }

    /// Reads the one value that `bytes` hold.
    public static func parse(
        _ bytes: [UInt8], maxDepth: Int = defaultMaxDepth
    ) throws(JSONError) -> AttributeValue {
        try parse(bytes.span.bytes, maxDepth: maxDepth)
    }

    /// Reads the one value that `bytes` hold.
    public static func parse(
        _ bytes: RawSpan, maxDepth: Int = defaultMaxDepth
    ) throws(JSONError) -> AttributeValue {
        try bytes.withUnsafeBytes { (buffer) throws(JSONError) in try parse(buffer, maxDepth: maxDepth) }
    }

    /// Reads the one value that `text` holds; offsets in errors count its UTF-8 bytes.
    public static func parse(_ text: String, maxDepth: Int = defaultMaxDepth) throws(JSONError) -> AttributeValue {
        try parse(text.utf8.span.bytes, maxDepth: maxDepth)
    }
}
