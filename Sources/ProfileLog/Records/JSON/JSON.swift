/// Reads JSON text as values, strictly by RFC 8259.
///
/// Where the RFC leaves a choice, it is strict: no key twice in an object, only well-formed Unicode. A number is `.int`
/// unless it has a fraction or an exponent; a whole one that a double would round, as `9007199254740993.0`, is too.
/// Strings never become dates here: the caller, who knows what a member means, converts them.
package enum JSON {
    /// The levels of nesting that `parse` accepts unless told otherwise.
    package static let defaultMaxDepth = 64

    /// Reads the one value that `bytes` hold, with optional white space around it.
    ///
    /// - Parameter maxDepth: how deep arrays and objects may be nested. Each level takes about 700 bytes of stack.
    package static func parse(
        _ bytes: UnsafeRawBufferPointer, maxDepth: Int = defaultMaxDepth
    ) throws(JSONError) -> AttributeValue {
        var parser = try JSONParser(bytes, maxDepth: maxDepth)
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

    /// Reads an object whose members are arrays of objects, or single ones, as far as they can be kept: what is JSON
    /// and cannot be kept (as a number beyond 64 bits, or a key twice) is an error of the object that has it. `errors`
    /// has those of each member, element by element; such an element has a value of no meaning.
    package static func parseObjectwise(
        _ bytes: [UInt8], maxDepth: Int
    ) throws(JSONError) -> (value: AttributeValue, errors: [Name: [JSONError?]]) {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(JSONError) in
            var parser = try JSONParser(bytes, maxDepth: maxDepth, .objectwise)
            return (try parser.document(), parser.errors)
        }
    }

    /// Reads JSON with the members of all objects in the order of the text, for their keys: the value is in no order
    /// that others expect, and what cannot be kept has a value of no meaning.
    package static func parseInSentOrder(_ bytes: [UInt8]) throws(JSONError) -> AttributeValue {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(JSONError) in
            var parser = try JSONParser(bytes, maxDepth: defaultMaxDepth, .inSentOrder)
            return try parser.document()
        }
    }
}

extension AttributeValue {
    /// The value that `bytes` hold as JSON (RFC 8259). Integers stay integers; no text becomes a date. The error says
    /// in one sentence what is wrong, and at which byte.
    package init(json bytes: UnsafeRawBufferPointer) throws { self = try JSON.parse(bytes) }
}
