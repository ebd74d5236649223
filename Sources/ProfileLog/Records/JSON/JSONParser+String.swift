extension JSONParser {
    /// The string whose opening quotation mark is at `next`; afterwards `next` is after the closing one.
    @inline(__always)
    mutating func string() throws(JSONError) -> String {
        let content = next + 1
        let run = JSONScan.plainRun(from: content, to: end)
        guard run.end < end, run.end.pointee == UInt8(ascii: "\"") else { return try stringWithEscapes() }
        if !run.isASCII { try requireUTF8(from: content, to: run.end) }
        next = run.end + 1
        return String(decoding: UnsafeBufferPointer(start: content, count: run.end - content), as: UTF8.self)
    }

    /// The same for a string with escapes, or an invalid one.
    @inline(never)
    private mutating func stringWithEscapes() throws(JSONError) -> String {
        next += 1
        var text: [UInt8] = []
        while true {
            let run = JSONScan.plainRun(from: next, to: end)
            if !run.isASCII { try requireUTF8(from: next, to: run.end) }
            text.append(contentsOf: UnsafeBufferPointer(start: next, count: run.end - next))
            next = run.end
            guard next < end else { throw error(.unexpectedEnd) }
            switch next.pointee {
            case UInt8(ascii: "\""):
                next += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            default: throw error(.controlCharacter)
            }
        }
    }

    /// Reads the escape whose backslash is at `next`.
    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard end - next >= 2 else { throw error(.unexpectedEnd, at: end) }
        let plain: UInt8
        switch next[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain = next[1]
        case UInt8(ascii: "b"): plain = 0x08
        case UInt8(ascii: "f"): plain = 0x0C
        case UInt8(ascii: "n"): plain = 0x0A
        case UInt8(ascii: "r"): plain = 0x0D
        case UInt8(ascii: "t"): plain = 0x09
        case UInt8(ascii: "u"):
            text.append(contentsOf: String(Character(try unicodeEscape())).utf8)
            return
        default: throw error(.invalidEscape)
        }
        text.append(plain)
        next += 2
    }

    /// Reads `\uhhhh` at `next`, or two of them that make one character.
    private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let escape = next
        let unit = try hexUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, end - next >= 2, next[0] == UInt8(ascii: "\\"), next[1] == UInt8(ascii: "u") else {
            try refuse(.loneSurrogate, at: escape)
            return "\u{FFFD}"
        }
        let low = try hexUnit()
        guard 0xDC00...0xDFFF ~= low,
            let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
        else {
            try refuse(.loneSurrogate, at: escape)
            return "\u{FFFD}"
        }
        return scalar
    }

    /// The number in `\uhhhh` at `next`.
    private mutating func hexUnit() throws(JSONError) -> UInt16 {
        let escape = next
        next += 2
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard next < end else { throw error(.unexpectedEnd) }
            let digit: UInt8
            switch next.pointee {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = next.pointee - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = next.pointee - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = next.pointee - UInt8(ascii: "A") + 10
            default: throw error(.invalidEscape, at: escape)
            }
            unit = unit << 4 | UInt16(digit)
            next += 1
        }
        return unit
    }

    private func requireUTF8(
        from first: UnsafePointer<UInt8>, to last: UnsafePointer<UInt8>
    ) throws(JSONError) {
        if let place = JSONScan.firstInvalidUTF8(from: first, to: last) { throw error(.invalidUTF8, at: place) }
    }
}
