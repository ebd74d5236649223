import ProfileLog
import Testing

@Suite("Short forms stand for one thing only")
struct CompactFormsTests {
    @Test("The keys of numbers sort as the numbers, and give them back", arguments: UInt64(0)..<16)
    func numberKeys(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let edges = (0..<64).flatMap { shift in [UInt64(1) << shift, (UInt64(1) << shift) &- 1] } + [0, .max]
        let numbers = edges + (0..<200).map { _ in random.next() >> (random.next() % 64) }
        let keys = Set(numbers).sorted().map { number in withNumberKey(number) { Array($0) } }
        for (key, number) in zip(keys, Set(numbers).sorted()) {
            #expect(key.withUnsafeBytes { $0.number } == number)
        }
        for (left, right) in zip(keys, keys.dropFirst()) { #expect(left.lexicographicallyPrecedes(right)) }
    }

    @Test(
        "What no number has as its key is none",
        arguments: [[], [1], [0, 1], [2, 0, 1], [1, 1, 1], [9, 1, 1, 1, 1, 1, 1, 1, 1, 1]] as [[UInt8]])
    func wrongKey(key: [UInt8]) {
        #expect(key.withUnsafeBytes { $0.number } == nil)
    }

    @Test("A UUID is stored as 16 bytes and read as the same text", arguments: UInt64(0)..<64)
    func uuid(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let digits = Array("0123456789abcdef")
        let text = String(
            (0..<36).map { index in
                [8, 13, 18, 23].contains(index) ? "-" : digits[Int(random.next() % 16)]
            })
        #expect(stored(text).count == 18)
        #expect(read(stored(text)) == .string(text))
    }

    @Test("What only looks like a UUID stays a string, each character at each place", arguments: 0..<36)
    func almost(place: Int) {
        for wrong in ["A", "F", "g", "/", ":", "`", "-", "0", " "] as [Character] {
            var text = Array("0f8fad5b-d9cb-469f-a165-70867728950e")
            let isDash = text[place] == "-"
            if isDash == (wrong == "-") || !isDash && wrong == "0" { continue }
            text[place] = wrong
            #expect(stored(String(text)).count == 38)
            #expect(read(stored(String(text))) == .string(String(text)))
        }
    }

    private func stored(_ text: String) -> [UInt8] {
        var writer = WireWriter()
        ValueCodec.write(.string(text), to: &writer)
        return Array(writer.bytes)
    }

    private func read(_ bytes: [UInt8]) -> AttributeValue? { bytes.withUnsafeBytes { ValueCodec.read($0)?.value } }
}
