internal import ProfileLogRequests

/// Whether bytes are JSON by the grammar of RFC 8259, whatever their values are: for text with a value that cannot be
/// kept.
///
/// Nothing is made of what is read, and nesting has no limit: time and memory are proportional to the number of bytes.
struct JSONSyntax {
    private let bytes: [UInt8]
    private var next = 0
    /// The closing brackets that are still to come.
    private var brackets: [UInt8] = []

    init(_ bytes: [UInt8], from start: Int = 0) { (self.bytes, next) = (bytes, start) }

    /// Throws the first fault of the one value that `bytes` must be.
    static func check(_ bytes: [UInt8]) throws(JSONError) {
        var syntax = JSONSyntax(bytes)
        _ = try syntax.readValue()
        syntax.skipBlanks()
        if syntax.next < bytes.count { throw syntax.fault(.trailingContent) }
    }

    /// Reads one value and returns where it is.
    mutating func readValue() throws(JSONError) -> Range<Int> {
        skipBlanks()
        let start = next
        repeat {
            try readInnermost()
            try readAfterValue()
        } while !brackets.isEmpty
        return start..<next
    }

    /// Reads the parts of the array or object that comes next, each by `read`; nil if another value comes.
    mutating func readParts<Part>(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar,
        _ read: (inout JSONSyntax) throws(JSONError) -> Part?
    ) throws(JSONError) -> [Part]? {
        skipBlanks()
        guard try peek() == UInt8(ascii: open) else { return nil }
        var parts: [Part] = []
        repeat {
            next += 1
            skipBlanks()
            if parts.isEmpty, try peek() == UInt8(ascii: close) { return [] }
            guard let part = try read(&self) else { return nil }
            parts.append(part)
            skipBlanks()
        } while try peek() == UInt8(ascii: ",")
        return try peek() == UInt8(ascii: close) ? parts : nil
    }

    /// Reads the next value that has no other in it, and what opens the arrays and objects around it.
    private mutating func readInnermost() throws(JSONError) {
        while true {
            skipBlanks()
            switch try peek() {
            case UInt8(ascii: "\""): return try readString()
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try readNumber()
            case UInt8(ascii: "t"): return try read("true")
            case UInt8(ascii: "f"): return try read("false")
            case UInt8(ascii: "n"): return try read("null")
            case UInt8(ascii: "["): if try opens(until: UInt8(ascii: "]")) { return }
            case UInt8(ascii: "{"):
                if try opens(until: UInt8(ascii: "}")) { return }
                _ = try readKey()
            default: throw fault(.unexpectedByte)
            }
        }
    }

    /// Reads an opening bracket, and the closing one too if nothing is between them: then true.
    private mutating func opens(until bracket: UInt8) throws(JSONError) -> Bool {
        next += 1
        skipBlanks()
        if try peek() == bracket {
            next += 1
            return true
        }
        brackets.append(bracket)
        return false
    }

    /// Reads the brackets that close after a value, and if another value follows, what is before that.
    private mutating func readAfterValue() throws(JSONError) {
        while let bracket = brackets.last {
            skipBlanks()
            let byte = try peek()
            next += 1
            if byte == bracket {
                brackets.removeLast()
                continue
            }
            guard byte == UInt8(ascii: ",") else { throw fault(.unexpectedByte, at: next - 1) }
            let comma = next - 1
            skipBlanks()
            if try peek() == bracket { throw fault(.trailingComma, at: comma) }
            if bracket == UInt8(ascii: "}") { _ = try readKey() }
            return
        }
    }

    /// Reads a key and its colon; returns where the key is, with its quotation marks.
    mutating func readKey() throws(JSONError) -> Range<Int> {
        guard try peek() == UInt8(ascii: "\"") else { throw fault(.unexpectedByte) }
        let start = next
        try readString()
        let key = start..<next
        skipBlanks()
        guard try peek() == UInt8(ascii: ":") else { throw fault(.unexpectedByte) }
        next += 1
        return key
    }

    private mutating func readString() throws(JSONError) {
        let start = next
        next += 1
        while true {
            switch try peek() {
            case UInt8(ascii: "\""):
                next += 1
                guard String(validating: bytes[start..<next], as: UTF8.self) != nil else {
                    throw fault(.invalidUTF8, at: start)
                }
                return
            case UInt8(ascii: "\\"): try readEscape()
            case 0..<0x20: throw fault(.controlCharacter)
            default: next += 1
            }
        }
    }

    private mutating func readEscape() throws(JSONError) {
        let backslash = next
        next += 1
        let isUnicode = try peek() == UInt8(ascii: "u")
        guard isUnicode || "\"\\/bfnrt".utf8.contains(bytes[next]) else { throw fault(.invalidEscape, at: backslash) }
        next += 1
        for _ in 0..<(isUnicode ? 4 : 0) {
            guard Unicode.Scalar(try peek()).properties.isASCIIHexDigit else {
                throw fault(.invalidEscape, at: backslash)
            }
            next += 1
        }
    }

    private mutating func readNumber() throws(JSONError) {
        if bytes[next] == UInt8(ascii: "-") { next += 1 }
        let first = next
        try readDigits()
        if bytes[first] == UInt8(ascii: "0"), next > first + 1 { throw fault(.leadingZero, at: first) }
        if next < bytes.count, bytes[next] == UInt8(ascii: ".") {
            next += 1
            try readDigits()
        }
        guard next < bytes.count, bytes[next] | 0x20 == UInt8(ascii: "e") else { return }
        next += 1
        if [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(try peek()) { next += 1 }
        try readDigits()
    }

    /// Reads one digit at least.
    private mutating func readDigits() throws(JSONError) {
        let first = next
        while next < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[next]) { next += 1 }
        if next == first { throw fault(next < bytes.count ? .invalidNumber : .unexpectedEnd) }
    }

    private mutating func read(_ word: String) throws(JSONError) {
        guard bytes[next...].starts(with: word.utf8) else { throw fault(.invalidLiteral) }
        next += word.utf8.count
    }

    private mutating func skipBlanks() {
        while next < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[next]) { next += 1 }
    }

    private func peek() throws(JSONError) -> UInt8 {
        guard next < bytes.count else { throw fault(.unexpectedEnd) }
        return bytes[next]
    }

    private func fault(_ kind: JSONError.Kind, at offset: Int? = nil) -> JSONError {
        JSONError(kind, at: offset ?? next)
    }
}
