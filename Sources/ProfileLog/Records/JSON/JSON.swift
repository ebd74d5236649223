/// Reads JSON text as values, strictly by RFC 8259.
///
/// Where the RFC leaves a choice, it is strict: no key twice in an object, only well-formed Unicode. A number is `.int`
/// unless it has a fraction or an exponent. Strings never become dates here: the caller, who knows what a member means,
/// converts them.
package enum JSON {
    /// The levels of nesting that `parse` accepts unless told otherwise.
    package static let defaultMaxDepth = 64

    /// Reads the one value that `bytes` hold, with optional white space around it.
    ///
    /// - Parameter maxDepth: how deep arrays and objects may be nested. Each level takes about 700 bytes of stack.
    package static func parse(
        _ bytes: UnsafeRawBufferPointer, maxDepth: Int = defaultMaxDepth
    ) throws(JSONError) -> AttributeValue {
        guard let base = bytes.baseAddress else { throw JSONError(.unexpectedEnd, at: 0) }
        var parser = JSONParser(base.assumingMemoryBound(to: UInt8.self), count: bytes.count, maxDepth: maxDepth)
        return try parser.document()
    }

    /// Reads the one value that `bytes` hold.
    package static func parse(
        _ bytes: [UInt8], maxDepth: Int = defaultMaxDepth
    ) throws(JSONError) -> AttributeValue {
        try parse(bytes.span.bytes, maxDepth: maxDepth)
    }

    /// Reads the one value that `bytes` hold.
    package static func parse(
        _ bytes: RawSpan, maxDepth: Int = defaultMaxDepth
    ) throws(JSONError) -> AttributeValue {
        try bytes.withUnsafeBytes { (buffer) throws(JSONError) in try parse(buffer, maxDepth: maxDepth) }
    }

    /// Reads the one value that `text` holds; offsets in errors count its UTF-8 bytes.
    package static func parse(_ text: String, maxDepth: Int = defaultMaxDepth) throws(JSONError) -> AttributeValue {
        try parse(text.utf8.span.bytes, maxDepth: maxDepth)
    }
}

extension AttributeValue {
    /// The value that `bytes` hold as JSON (RFC 8259). Integers stay integers; no text becomes a date. The error says
    /// in one sentence what is wrong, and at which byte.
    public init(json bytes: UnsafeRawBufferPointer) throws { self = try JSON.parse(bytes) }
}
