/// Makes benchmark events as JSON Lines, the same for the same seed and number of users, without end.
///
///     {"kind":"custom_event","user":"u-000123","time":"2026-01-01T00:00:00.123Z","name":"…","properties":{…}}
///     {"kind":"custom_attribute","user":"u-000123","time":"…","attributes":{…}}
///     {"kind":"user_attribute","user":"u-000123","time":"…","attribute":"email","value":"…"}
///
/// Six of ten lines are custom events with four properties, three set one or two custom attributes, and one sets a
/// standard attribute. Few users are busy: the user of rank r is drawn in proportion to 1/r, and ranks are given at
/// random. Time starts with 2026 and moves on by 0 to 2 seconds with each line. A key always holds the same type of
/// value.
package struct WorkloadGenerator: Sendable {
    private var random: SeededGenerator
    private let ranks: ZipfSampler
    /// The user of each rank.
    private var users: [UInt32]
    private var time = Timestamp(rawValue: 1_767_225_600_000_000)  // 2026-01-01T00:00:00Z

    /// Makes the generator of `seed` for users `u-000000` up to and without `users`.
    ///
    /// - Precondition: `users` is above 0 and below 2^32.
    package init(seed: UInt64, users: Int) {
        random = SeededGenerator(seed: seed)
        ranks = ZipfSampler(count: users)
        self.users = Array(0..<UInt32(users))
        for dealt in self.users.indices.dropLast() {
            self.users.swapAt(dealt, dealt + random.next(below: users - dealt))
        }
    }

    /// Appends the next event, one line of JSON with a line feed.
    package mutating func appendLine(to buffer: inout [UInt8]) {
        let user = users[ranks.next(using: &random)]
        let kind = random.next(below: 10)
        time.rawValue += Int64(random.next(below: 2001)) * 1000
        buffer.append(#"{"kind":""#)
        buffer.append(kind < 6 ? "custom_event" : kind < 9 ? "custom_attribute" : "user_attribute")
        buffer.append(#"","user":"u-"#)
        buffer.append(UInt64(user), digits: 6)
        buffer.append(#"","time":""#)
        time.appendRFC3339(to: &buffer)
        switch kind {
        case ..<6: appendEvent(to: &buffer)
        case ..<9: appendCustomAttributes(to: &buffer)
        default: appendUserAttribute(to: &buffer)
        }
        buffer.append("}\n")
    }

    private mutating func appendEvent(to buffer: inout [UInt8]) {
        let event = random.next(below: Words.events.count)
        buffer.append(#"","name":""#)
        buffer.append(Words.events[event])
        buffer.append(#"","properties":{"#)
        for index in 0..<4 {
            // 7 has no factor in common with 24: an event's four keys differ, and are the same each time.
            let (key, shape) = Words.properties[(event * 3 + index * 7) % Words.properties.count]
            if index > 0 { buffer.append(",") }
            appendMember(key, shape, to: &buffer)
        }
        buffer.append("}")
    }

    private mutating func appendCustomAttributes(to buffer: inout [UInt8]) {
        let first = random.next(below: Words.customAttributes.count)
        buffer.append(#"","attributes":{"#)
        for index in 0...random.next(below: 2) {
            let (key, shape) = Words.customAttributes[(first + index * 17) % Words.customAttributes.count]
            if index > 0 { buffer.append(",") }
            appendMember(key, shape, to: &buffer)
        }
        buffer.append("}")
    }

    private mutating func appendUserAttribute(to buffer: inout [UInt8]) {
        let (key, shape) = Words.userAttributes[random.next(below: Words.userAttributes.count)]
        buffer.append(#"","attribute":""#)
        buffer.append(key)
        buffer.append(#"","value":"#)
        append(shape, to: &buffer)
    }

    private mutating func appendMember(_ key: StaticString, _ shape: Shape, to buffer: inout [UInt8]) {
        buffer.append("\"")
        buffer.append(key)
        buffer.append("\":")
        append(shape, to: &buffer)
    }
}

extension WorkloadGenerator {
    /// The shape of a value.
    enum Shape {
        case code, phrase, sentence, flag, amount, uuid, link, email, phone, birthday
        case below(UInt64)
        case oneOf([StaticString])
    }

    private mutating func append(_ shape: Shape, to buffer: inout [UInt8]) {
        let bits = random.next()
        switch shape {
        case .below(let limit): buffer.append(bits % limit, digits: 1)
        case .flag: buffer.append(bits & 1 == 0 ? "false" : "true")
        case .amount:
            buffer.append(bits % 250, digits: 1)
            buffer.append(".")
            buffer.append(bits >> 32 % 100, digits: 2)
        default:
            buffer.append("\"")
            appendText(shape, bits, to: &buffer)
            buffer.append("\"")
        }
    }

    private mutating func appendText(_ shape: Shape, _ bits: UInt64, to buffer: inout [UInt8]) {
        switch shape {
        case .code:
            buffer.append("REF-")
            buffer.append(bits % 100_000_000, digits: 8)
        case .sentence:
            buffer.append(Words.phrases[Int(bits % 32)])
            buffer.append(" with ")
            buffer.append(Words.phrases[Int(bits >> 8 % 32)])
            buffer.append(", part ")
            buffer.append(bits >> 16 % 500, digits: 1)
        case .uuid: appendUUID(bits, random.next(), to: &buffer)
        case .link:
            buffer.append("https://kitchen.example.org/go/")
            buffer.append(hex: bits, digits: 14)
        case .email:
            buffer.append("cook.")
            buffer.append(bits % 50_000_000, digits: 1)
            buffer.append("@inbox.example.org")
        case .phone:
            buffer.append("+1555")
            buffer.append(bits % 10_000_000, digits: 7)
        case .birthday:
            buffer.append(1945 + bits % 62, digits: 4)
            buffer.append("-")
            buffer.append(1 + bits >> 16 % 12, digits: 2)
            buffer.append("-")
            buffer.append(1 + bits >> 32 % 28, digits: 2)
        case .oneOf(let words): buffer.append(words[Int(bits % UInt64(words.count))])
        default: buffer.append(Words.phrases[Int(bits % 32)])
        }
    }

    /// A UUID of version 4 from 122 of the given bits.
    private func appendUUID(_ high: UInt64, _ low: UInt64, to buffer: inout [UInt8]) {
        buffer.append(hex: high >> 32, digits: 8)
        buffer.append("-")
        buffer.append(hex: high >> 16, digits: 4)
        buffer.append("-4")
        buffer.append(hex: high, digits: 3)
        buffer.append("-")
        buffer.append(hex: low >> 48 & 0x3FFF | 0x8000, digits: 4)
        buffer.append("-")
        buffer.append(hex: low, digits: 12)
    }
}

extension [UInt8] {
    @inline(__always)
    fileprivate mutating func append(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends `value` in decimal, with zeros before it up to `digits`.
    fileprivate mutating func append(_ value: UInt64, digits: Int, radix: Int = 10) {
        let text = String(value, radix: radix).utf8
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: Swift.max(0, digits - text.count)))
        append(contentsOf: text)
    }

    /// Appends the last `digits` hexadecimal digits of `value`.
    fileprivate mutating func append(hex value: UInt64, digits: Int) {
        append(value & (1 << UInt64(4 * digits) - 1), digits: digits, radix: 16)
    }
}
