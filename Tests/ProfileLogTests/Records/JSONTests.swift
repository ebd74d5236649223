import ProfileLog
import Testing

@Suite("JSON is read by the letter of RFC 8259")
struct JSONParsingTests {
    @Test(
        "A document gives its value",
        arguments: [
            ("null", .null), ("true", .bool(true)), ("false", .bool(false)), (" \t\r\n0 \n", .int(0)),
            ("-1", .int(-1)), ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
            ("-0", .int(0)), ("-0.0", .double(-0.0)), ("0.0", .double(0)), ("1.0", .double(1)),
            ("1e2", .double(100)),
            ("1E+2", .double(100)), ("25e-1", .double(2.5)), ("0e0", .double(0)), ("1e-400", .double(0)),
            ("5e-324", .double(.leastNonzeroMagnitude)), ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
            ("0.1", .double(0.1)), ("123456789012345678901.5", .double(123456789012345678901.5)),
            ("9007199254740993.0", .int(9_007_199_254_740_993)), ("1e22", .double(1e22)), ("1e23", .double(1e23)),
            (#""""#, .string("")), (#""a""#, .string("a")), (#""é€😀""#, .string("é€😀")),
            ("\"\u{7F}\"", .string("\u{7F}")),
            (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{C}\n\r\t")), (#""\u0000""#, .string("\0")),
            (#""\u00e9\u20AC""#, .string("é€")), (#""\uD83D\uDE00""#, .string("😀")),
            (#""\uFFFF""#, .string("\u{FFFF}")),
            (#""a\u0062c""#, .string("abc")), ("[]", .array([])), ("[ ]", .array([])), ("{}", .object([])),
            ("{ }", .object([])), ("[1,[2],{}]", .array([.int(1), .array([.int(2)]), .object([])])),
            (#"{"b":1,"a":null}"#, .object([.init("a", .null), .init("b", .int(1))])),
            (#" { "a" : [ 1 , 2 ] } "#, .object([.init("a", .array([.int(1), .int(2)]))])),
        ] as [(String, AttributeValue)])
    func accepts(text: String, value: AttributeValue) throws {
        #expect(try JSON.parse(text) == value)
        #expect(try JSON.parse(Array(text.utf8)) == value)
    }

    @Test(
        "A fault is named, with its byte",
        arguments: [
            ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("[", .unexpectedEnd, 1), ("[1", .unexpectedEnd, 2),
            ("[1,", .unexpectedEnd, 3), ("{", .unexpectedEnd, 1), (#"{"a""#, .unexpectedEnd, 4),
            (#"{"a":"#, .unexpectedEnd, 5), (#"{"a":1"#, .unexpectedEnd, 6), (#"{"a":1,"#, .unexpectedEnd, 7),
            (#""abc"#, .unexpectedEnd, 4), (#""abc\"#, .unexpectedEnd, 5), (#""\u12"#, .unexpectedEnd, 5),
            ("-", .unexpectedEnd, 1), ("1.", .unexpectedEnd, 2), ("1e", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3),
            ("]", .unexpectedByte, 0), ("+1", .unexpectedByte, 0), (".5", .unexpectedByte, 0),
            ("NaN", .unexpectedByte, 0),
            ("Infinity", .unexpectedByte, 0), ("'a'", .unexpectedByte, 0), ("\u{FEFF}1", .unexpectedByte, 0),
            ("\u{A0}1", .unexpectedByte, 0), ("\u{C}1", .unexpectedByte, 0), ("[,1]", .unexpectedByte, 1),
            ("[1,,2]", .unexpectedByte, 3), ("[1 2]", .unexpectedByte, 3), ("[1}", .unexpectedByte, 2),
            ("{1:2}", .unexpectedByte, 1), ("{a:2}", .unexpectedByte, 1), (#"{"a" 2}"#, .unexpectedByte, 5),
            (#"{"a":}"#, .unexpectedByte, 5), (#"{"a":1 "b":2}"#, .unexpectedByte, 7),
            (#"{"a","b"}"#, .unexpectedByte, 4),
            ("[1]//", .trailingContent, 3), ("1 2", .trailingContent, 2), ("{}}", .trailingContent, 2),
            ("1\0", .trailingContent, 1), ("[1,]", .trailingComma, 2), (#"{"a":1 , }"#, .trailingComma, 7),
            ("tru", .invalidLiteral, 0), ("[True]", .unexpectedByte, 1), ("nul1", .invalidLiteral, 0),
            ("nullx", .trailingContent, 4), ("-a", .invalidNumber, 1), ("-.5", .invalidNumber, 1),
            ("[1.]", .invalidNumber, 3), ("1.e5", .invalidNumber, 2), ("1ex", .invalidNumber, 2),
            ("[1e-]", .invalidNumber, 4),
            ("1.2.3", .trailingContent, 3), ("0x10", .trailingContent, 1), ("01", .leadingZero, 0),
            ("-00", .leadingZero, 1),
            ("[00.5]", .leadingZero, 1), ("9223372036854775808", .integerTooLarge, 0),
            ("[-9223372036854775809]", .integerTooLarge, 1), ("100000000000000000000", .integerTooLarge, 0),
            ("1e309", .numberTooLarge, 0), ("[-1e99999999999999999999]", .numberTooLarge, 1),
            ("\"a\nb\"", .controlCharacter, 2), ("\"\u{1F}\"", .controlCharacter, 1), ("\"\0\"", .controlCharacter, 1),
            (#""\x41""#, .invalidEscape, 1), (#""abcdefgh\'""#, .invalidEscape, 9), (#""\u12G4""#, .invalidEscape, 1),
            (#""\U0041""#, .invalidEscape, 1), (#""\uD800""#, .loneSurrogate, 1), (#""x\uDC00""#, .loneSurrogate, 2),
            (#""\uD83D\u0041""#, .loneSurrogate, 1), (#""\uD83D\n""#, .loneSurrogate, 1),
            (#"{"a":1,"a":2}"#, .duplicateKey("a"), 7), (#"{"ab":1,"b":2,"a\u0062":3}"#, .duplicateKey("ab"), 14),
            (#"{"long key one":1,"long key two":2,"long key one":3}"#, .duplicateKey("long key one"), 35),
        ] as [(String, JSONError.Kind, Int)])
    func rejects(text: String, kind: JSONError.Kind, offset: Int) {
        #expect(throws: JSONError(kind, at: offset)) { try JSON.parse(text) }
    }

    @Test(
        "Text that is not UTF-8 is refused where it goes wrong",
        arguments: [
            ([0x80], 0), ([0xC3], 0), ([0xC0, 0x80], 0), ([0xC1, 0xBF], 0), ([0xE0, 0x9F, 0xBF], 0), ([0xE2, 0x82], 0),
            ([0xED, 0xA0, 0x80], 0), ([0xF0, 0x8F, 0xBF, 0xBF], 0), ([0xF4, 0x90, 0x80, 0x80], 0), ([0xF5], 0),
            ([0xFF], 0),
            ([0x61, 0xC3, 0xA9, 0xC3, 0x28], 3), (Array("twelve bytes".utf8) + [0xF0, 0x9F, 0x98], 12),
        ] as [([UInt8], Int)])
    func invalidUTF8(content: [UInt8], fault: Int) {
        #expect(throws: JSONError(.invalidUTF8, at: fault + 1)) { try JSON.parse([0x22] + content + [0x22]) }
        #expect(throws: JSONError(.invalidUTF8, at: fault + 3)) {
            try JSON.parse([0x22, 0x5C, 0x6E] + content + [0x22])
        }
    }

    @Test("Each pair of bytes counts as UTF-8 exactly when the standard library says so")
    func twoBytes() {
        for first in UInt8(0x80)...0xFF {
            for second in UInt8(0x80)...0xFF {
                for tail in [[], [0x80], [0x80, 0xBF]] as [[UInt8]] {
                    let content = [first, second] + tail
                    let expected = String(validating: content, as: UTF8.self).map(AttributeValue.string)
                    #expect((try? JSON.parse([0x22] + content + [0x22])) == expected)
                }
            }
        }
    }

    @Test("A string ends at its own end, wherever it lies in a word of eight bytes", arguments: 0..<40)
    func alignment(length: Int) throws {
        let letters = String(repeating: "x", count: length)
        #expect(
            try JSON.parse("[\"\(letters)\",\"\(letters)é\"]") == .array([.string(letters), .string(letters + "é")]))
        #expect(try JSON.parse("\"\(letters)\\n\(letters)\"") == .string("\(letters)\n\(letters)"))
        #expect(throws: JSONError(.controlCharacter, at: length + 1)) {
            try JSON.parse("\"\(letters)\u{1}\(letters)\"")
        }
        #expect(throws: JSONError(.unexpectedEnd, at: length + 1)) { try JSON.parse("\"\(letters)") }
    }

    @Test("Nesting has a limit")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try JSON.parse(nested(64)) }
        #expect(throws: JSONError(.tooDeep(limit: 64), at: 64)) { try JSON.parse(nested(65)) }
        #expect(throws: JSONError(.tooDeep(limit: 1), at: 5)) { try JSON.parse(#"{"a":{}}"#, maxDepth: 1) }
        #expect(throws: JSONError(.tooDeep(limit: 0), at: 0)) { try JSON.parse("[]", maxDepth: 0) }
        #expect(try JSON.parse("7", maxDepth: 0) == .int(7))
    }

    @Test("Members come in the order of their keys' bytes", arguments: [1, 2, 8, 24, 25, 300])
    func order(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        let stems = ["", "a", "é", "😀", "\u{FFFD}", "attribute", "attribute_", "e\u{301}", "\u{0}"]
        var keys = (0..<count).map { "\(stems[$0 % stems.count])\(stems[$0 / 9 % stems.count])\($0)" }
        keys.shuffle(using: &random)
        let members = keys.map { AttributeValue.Member(Name($0), .string($0)) }
        let text = AttributeValue.object(members).json
        #expect(try JSON.parse(text) == AttributeValue.object(sorting: members))
        #expect(throws: JSONError(.duplicateKey(keys[0]), at: text.utf8.count)) {
            try JSON.parse(text.dropLast() + "," + AttributeValue.string(keys[0]).json + ":0}")
        }
    }

    @Test("Canonically equal keys are two keys")
    func keysAreBytes() throws {
        let value = try JSON.parse(#"{"é":1,"e\u0301":2}"#)
        #expect(value == .object([.init("e\u{301}", .int(2)), .init("é", .int(1))]))
    }

    @Test("An error tells one sentence, and no value")
    func description() {
        let error = #expect(throws: JSONError.self) { try JSON.parse(#"{"k":"secret","k":"hidden"}"#) }
        #expect(error?.description == #"The JSON is invalid at byte 14: the key "k" is twice in one object."#)
        let odd = JSONError(.duplicateKey("a\n" + String(repeating: "b", count: 99)), at: 0).description
        #expect(!odd.contains("\n"))
        #expect(odd.utf8.count < 160)
    }

    @Test("A document cut short or damaged is an error or a value, never a crash", arguments: UInt64(0)..<16)
    func damage(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bytes = Array(AttributeValue.array([.sample(depth: 4, using: &random)]).json.utf8)
        for length in bytes.indices { #expect(throws: JSONError.self) { try JSON.parse(Array(bytes[..<length])) } }
        for _ in 0..<500 {
            var damaged = bytes
            damaged[random.next(below: bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            guard let value = try? JSON.parse(damaged) else { continue }
            #expect(try JSON.parse(value.json) == value)
        }
    }
}

@Suite("JSON numbers are exact")
struct JSONNumberTests {
    @Test("Any double comes back bit for bit", arguments: UInt64(0)..<8)
    func doubles(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let value = Double(bitPattern: random.next())
            guard value.isFinite else { continue }
            #expect(try JSON.parse(AttributeValue.double(value).json) == .double(value))
        }
    }

    @Test("Any decimal text gives the nearest double", arguments: UInt64(0)..<8)
    func decimals(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let whole = random.next() >> UInt64(random.next(below: 64))
            let fraction = random.next() >> UInt64(random.next(below: 64))
            let zeros = String(repeating: "0", count: random.next(below: 4))
            let text = "\(whole).\(zeros)\(fraction)e\(random.next(below: 60) - 30)"
            let nearest = try #require(Double(text))
            // A whole number that no double holds stays exact.
            if case .int(let whole) = try JSON.parse(text) {
                #expect(Double(whole) == nearest, "\(text)")
            } else {
                #expect(try JSON.parse(text) == .double(nearest), "\(text)")
            }
        }
    }

    @Test("Any integer comes back", arguments: UInt64(0)..<4)
    func integers(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let value = Int64(truncatingIfNeeded: random.next()) >> Int64(random.next(below: 64))
            #expect(try JSON.parse(AttributeValue.int(value).json) == .int(value))
        }
    }
}

@Suite("JSON is written in its shortest form")
struct JSONWriterTests {
    @Test(
        "A value gives its text",
        arguments: [
            (.null, "null"), (.bool(true), "true"), (.int(-5), "-5"), (.int(.min), "-9223372036854775808"),
            (.double(1), "1.0"), (.double(-0.0), "-0.0"), (.double(1e16), "1e+16"), (.double(0.1), "0.1"),
            (.string("a/é😀\u{7F}\u{2028}"), "\"a/é😀\u{7F}\u{2028}\""),
            (.string("\"\\\u{8}\t\n\u{C}\r"), #""\"\\\b\t\n\f\r""#),
            (.string("\0\u{1B}\u{1F}"), #""\u0000\u001b\u001f""#),
            (.date(OccurredAt(Timestamp(rawValue: 0), utcOffsetMinutes: 60)), #""1970-01-01T01:00:00.000+01:00""#),
            (.array([]), "[]"), (.object([]), "{}"),
            (.array([.int(1), .array([.null, .object([])]), .int(2)]), "[1,[null,{}],2]"),
            (
                .object([.init("a\"", .object([.init("b", .int(1))])), .init("c", .array([]))]),
                #"{"a\"":{"b":1},"c":[]}"#
            ),
        ] as [(AttributeValue, String)])
    func text(value: AttributeValue, text: String) {
        #expect(value.json == text)
    }

    @Test("Commas come by themselves, document after document")
    func commas() {
        var writer = JSONWriter()
        for _ in 0..<2 {
            writer.beginObject()
            writer.key("n")
            writer.value(UInt64.max)
            writer.key("list")
            writer.beginArray()
            writer.value("x")
            writer.null()
            writer.value(1.5)
            writer.beginObject()
            writer.endObject()
            writer.endArray()
            writer.key("ok")
            writer.value(false)
            writer.key("at")
            writer.value(Timestamp(rawValue: 1))
            writer.endObject()
            writer.endLine()
        }
        let line = #"{"n":18446744073709551615,"list":["x",null,1.5,{}],"ok":false,"at":"1970-01-01T00:00:00.000001Z"}"#
        #expect(writer.text == "\(line)\n\(line)\n")
    }

    @Test("What was written reads back the same", arguments: UInt64(0)..<64)
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let value = AttributeValue.sample(depth: 5, using: &random)
        #expect(try JSON.parse(value.json) == value)
    }
}

extension AttributeValue {
    /// A random value without dates, which JSON does not tell from strings.
    fileprivate static func sample(depth: Int, using random: inout SeededGenerator) -> AttributeValue {
        switch random.next(below: depth > 0 ? 9 : 5) {
        case 0: return .null
        case 1: return .bool(random.next(below: 2) == 0)
        case 2: return .int(Int64(truncatingIfNeeded: random.next()) >> Int64(random.next(below: 64)))
        case 3: return .double(Double(random.next(below: 2_000_001) - 1_000_000) / 128)
        case 4: return .string(sampleText(using: &random))
        case 5, 6:
            let count = random.next(below: 6)
            return .array((0..<count).map { _ in sample(depth: depth - 1, using: &random) })
        default:
            let count = random.next(below: 6)
            let members = (0..<count).map { index in
                Member(Name("\(sampleText(using: &random))\(index)"), sample(depth: depth - 1, using: &random))
            }
            return .object(sorting: members) ?? .null
        }
    }

    private static func sampleText(using random: inout SeededGenerator) -> String {
        let alphabet: [Unicode.Scalar] = [
            "a", "b", " ", "\"", "\\", "/", "\n", "\0", "\u{1F}", "é", "\u{301}", "€", "😀", "z",
        ]
        let count = random.next(below: 20)
        return String(String.UnicodeScalarView((0..<count).map { _ in alphabet[random.next(below: alphabet.count)] }))
    }
}
