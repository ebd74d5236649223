/// Writes compact JSON, with commas and colons where they belong.
///
///     var writer = JSONWriter()
///     writer.beginObject()
///     writer.key("version")
///     writer.value(3)
///     writer.endObject()  // {"version":3}
///
/// The caller writes a key before each value in an object, and an end for each begin. Text is escaped only where RFC
/// 8259 demands it; what is not ASCII stays UTF-8. Several documents may go to one writer, each finished by
/// `endLine()`.
package struct JSONWriter: Sendable {
    /// The bytes written so far.
    package var bytes: [UInt8]
    /// Tells whether `bytes` ends with a value, so that the next key or value needs a comma first.
    private var followsValue = false

    /// Makes a writer that appends to `bytes`.
    package init(appendingTo bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    /// The bytes written so far, as text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Opens an object.
    package mutating func beginObject() { begin(UInt8(ascii: "{")) }

    /// Closes the object opened last.
    package mutating func endObject() { end(UInt8(ascii: "}")) }

    /// Opens an array.
    package mutating func beginArray() { begin(UInt8(ascii: "[")) }

    /// Closes the array opened last.
    package mutating func endArray() { end(UInt8(ascii: "]")) }

    /// Ends a document with a line feed; the next value begins a new one.
    package mutating func endLine() {
        bytes.append(0x0A)
        followsValue = false
    }

    /// Writes the key of the value that comes next.
    package mutating func key(_ key: String) {
        separate()
        appendQuoted(key)
        bytes.append(UInt8(ascii: ":"))
        followsValue = false
    }

    /// Writes the key of the value that comes next.
    package mutating func key(_ key: Name) { self.key(key.text) }

    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        followsValue = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        followsValue = true
    }

    /// Writes the comma that the next key or value needs.
    @inline(__always)
    private mutating func separate() {
        if followsValue { bytes.append(UInt8(ascii: ",")) }
        followsValue = true
    }
}

extension JSONWriter {
    /// Writes `null`.
    package mutating func null() { appendWord("null") }

    /// Writes `true` or `false`.
    package mutating func value(_ value: Bool) { appendWord(value ? "true" : "false") }

    /// Writes a string.
    package mutating func value(_ value: String) {
        separate()
        appendQuoted(value)
    }

    /// Writes an integer.
    package mutating func value(_ value: Int) { self.value(Int64(value)) }

    /// Writes an integer.
    package mutating func value(_ value: Int64) {
        separate()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        appendDigits(of: value.magnitude)
    }

    /// Writes an integer.
    package mutating func value(_ value: UInt64) {
        separate()
        appendDigits(of: value)
    }

    /// Writes the shortest decimal number that reads back as `value`, always with a fraction or an exponent: `1.0`,
    /// `1e+16`.
    ///
    /// - Precondition: `value` is finite; JSON has no other numbers.
    package mutating func value(_ value: Double) {
        precondition(value.isFinite, "JSON cannot express \(value)")
        separate()
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Writes all digits of a sum, always with a fraction or an exponent.
    package mutating func value(_ sum: ExactSum) {
        separate()
        bytes.append(contentsOf: sum.description.utf8)
    }

    /// Writes the value that `other` has.
    package mutating func value(written other: JSONWriter) {
        separate()
        bytes.append(contentsOf: other.bytes)
    }

    /// Writes `value`: an object's members in their order, a date as a string.
    package mutating func value(_ value: AttributeValue) {
        switch value {
        case .null: null()
        case .bool(let value): self.value(value)
        case .int(let value): self.value(value)
        case .double(let value): self.value(value)
        case .string(let value): self.value(value)
        case .date(let moment): self.value(moment)
        case .array(let elements):
            beginArray()
            for element in elements { self.value(element) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members {
                key(member.key)
                self.value(member.value)
            }
            endObject()
        }
    }

    /// Writes `moment` as a string in the form of RFC 3339, in its own offset from UTC.
    package mutating func value(_ moment: OccurredAt) {
        self.value(moment.timestamp, utcOffsetMinutes: moment.utcOffsetMinutes)
    }

    /// Writes `timestamp` as a string in the form of RFC 3339.
    package mutating func value(_ timestamp: Timestamp, utcOffsetMinutes: Int32 = 0) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        timestamp.appendRFC3339(to: &bytes, utcOffsetMinutes: utcOffsetMinutes)
        bytes.append(UInt8(ascii: "\""))
    }
}

extension JSONWriter {
    private mutating func appendWord(_ word: StaticString) {
        separate()
        bytes.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    private mutating func appendDigits(of value: UInt64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var first = digits.endIndex
            var rest = value
            repeat {
                first -= 1
                digits.initializeElement(at: first, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
                rest /= 10
            } while rest != 0
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[first...]))
        }
    }

    private mutating func appendQuoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        text.utf8.span.withUnsafeBufferPointer { content in
            guard var next = content.baseAddress else { return }
            let end = next + content.count
            while next < end {
                let stop = JSONScan.plainRun(from: next, to: end).end
                bytes.append(contentsOf: UnsafeBufferPointer(start: next, count: stop - next))
                guard stop < end else { return }
                appendEscape(of: stop.pointee)
                next = stop + 1
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscape(of byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0..<0x20:
            let high = UInt8(ascii: "0") + byte >> 4
            let low = byte & 0xF
            bytes.append(contentsOf: [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0"), high])
            bytes.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        default: bytes.append(byte)
        }
    }
}

extension AttributeValue {
    /// The value as compact JSON; a date is a string in the form of RFC 3339.
    package var json: String {
        var writer = JSONWriter()
        writer.value(self)
        return writer.text
    }
}
