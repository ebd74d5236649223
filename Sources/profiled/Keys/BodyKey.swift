/// The `api_key` in the body of a request that has no other key: found without parsing JSON, as its sender is not yet
/// known.
///
/// Looks only at strings and brackets. Other mistakes in the body are for its endpoint to report, to a client with a
/// key.
enum BodyKey {
    private static let name = Array("\"api_key\"".utf8)

    /// The text of the member of the object that `body` is; nil if there is none, or if its name or text has escapes,
    /// as no key has.
    static func find(in body: [UInt8]) -> String? {
        var depth = 0
        var next = 0
        while next < body.count {
            switch body[next] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                let end = endOfString(at: next, in: body)
                // A key follows the opening bracket or a comma; what follows a colon is a value.
                if depth == 1, body[next..<end].elementsEqual(name), followsCommaOrBracket(next, in: body) {
                    return text(after: end, in: body)
                }
                next = end
                continue
            default: break
            }
            next += 1
        }
        return nil
    }

    private static func followsCommaOrBracket(_ place: Int, in body: [UInt8]) -> Bool {
        let before = body[..<place].last { !isBlank($0) }
        return before == UInt8(ascii: ",") || before == UInt8(ascii: "{")
    }

    /// The string after a colon at `place`.
    private static func text(after place: Int, in body: [UInt8]) -> String? {
        guard let colon = body[place...].firstIndex(where: { !isBlank($0) }), body[colon] == UInt8(ascii: ":"),
            let begin = body[(colon + 1)...].firstIndex(where: { !isBlank($0) }), body[begin] == UInt8(ascii: "\"")
        else { return nil }
        let end = endOfString(at: begin, in: body)
        guard end > begin + 1 else { return nil }
        let text = body[(begin + 1)..<(end - 1)]
        return text.contains(UInt8(ascii: "\\")) ? nil : String(validating: text, as: UTF8.self)
    }

    /// The place after the string that begins at `begin`; the end of the body if the string does not end.
    private static func endOfString(at begin: Int, in body: [UInt8]) -> Int {
        var next = begin + 1
        while next < body.count, body[next] != UInt8(ascii: "\"") { next += body[next] == UInt8(ascii: "\\") ? 2 : 1 }
        return min(next + 1, body.count)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
