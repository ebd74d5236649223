import Foundation
import ProfileLog
import Testing

@Suite("Patterns")
struct TextPatternTests {
    @Test(
        "A pattern that is none, or too long, is refused with the reason",
        arguments: [
            ("", "no characters"), (String(repeating: "a", count: 256), "more than 255"),
            ("a{65}", "more than 64 times"), (nested("{64}"), "written out"),
            ("a{1,99999999999999999999}", "more than 64 times"), ("(abcdefghijklmnop){64}", "written out"),
            (#"(a)\1"#, "back-reference"), (#"(?<n>a)\k<n>"#, "look-around"), ("(?=a)", "look-around"),
            ("(?<!a)", "look-around"), (#"\Qa\E"#, "not supported"), ("[[a]b]", "class within a class"),
            ("(", "no regular"), (")", "no regular"), ("[a", "no regular"), ("[]a]", "no regular"),
            ("[z-a]", "no regular"), ("a{2,1}", "no regular"), ("a**", "no regular"), ("*a", "no regular"),
            ("^*", "no regular"), (#"a\"#, "no regular"), ("a{b}", "no regular"),
        ])
    func refused(pattern: String, reason: String) {
        #expect {
            try TextPattern(pattern)
        } throws: { error in
            (error as? TextPattern.PatternError)?.reason.contains(reason) == true
        }
    }

    @Test(
        "Usual patterns are accepted",
        arguments: [
            "^a.*b$", "[+*(]+", "(ab)+", "(a|b)c", #"\(a+\)+"#, "a{2,3}", "(https?://)?x", #"^\d{4}-\d{2}-\d{2}$"#,
            ".+@.+", "[^-a]", "[a-]", "()", "a*?b", "(a+)+$", "(a|b)*", "((a*)b)*", ".*.*.*.*x",
        ])
    func accepted(pattern: String) {
        #expect(throws: Never.self) { try TextPattern(pattern) }
    }

    @Test("What follows the 255th character is not searched")
    func cut() throws {
        let end = try TextPattern("x$")
        #expect(try !TextPattern("x").isFound(in: String(repeating: "a", count: 255) + "x"))
        #expect(end.isFound(in: String(repeating: "a", count: 254) + "xb"))
    }

    @Test(
        "The worst patterns end: this test does",
        arguments: [
            ".*.*.*x", ".*.*.*" + String(repeating: "a", count: 200) + "x", "(aaaaaaaaaa){64}x",
            String(repeating: "(a|a)", count: 50) + "x", "(a|a*a*a*)x", String(repeating: #"\b"#, count: 127),
            "(a+)+x", "(a|a)*x", String(repeating: "a?", count: 120) + "x", nested("*") + "x",
        ])
    func worst(pattern: String) throws {
        let text = String(repeating: "a", count: 100_000)
        #expect(try TextPattern(pattern).isFound(in: text) == pattern.hasPrefix(#"\b"#))
    }

    /// Forty groups, one in the other, each with this repetition.
    private static func nested(_ repetition: String) -> String {
        String(repeating: "(", count: 40) + "a" + String(repeating: ")" + repetition, count: 40)
    }

    private static let parts = [
        "a", "b", "A", "ab", ".", "[ab]", "[^a]", "[a-c]", #"\d"#, #"\w"#, #"\W"#, #"\s"#, #"[\d ]"#, #"\b"#, #"\B"#,
        "(ab)", "(a|b)", "(?:b|ab)", "(", ")", "|", "^", "$", "*", "+", "?", "*?", "{2}", "{1,2}", "{0,}", "é", "É",
        "1",
    ]

    @Test("Random patterns find what Foundation's find", arguments: UInt64(0)..<50)
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let letters = ["a", "b", "A", "c", "1", " ", "é", "B", "_", "É"]
        for _ in 0..<200 {
            let text = (0...random.next(below: 8)).map { _ in Self.parts[random.next(below: Self.parts.count)] }
                .joined()
            guard let pattern = try? TextPattern(text) else { continue }
            let model = try NSRegularExpression(pattern: text, options: .caseInsensitive)
            for _ in 0..<5 {
                let searched = (0..<random.next(below: 8)).map { _ in letters[random.next(below: letters.count)] }
                    .joined()
                let range = NSRange(searched.startIndex..<searched.endIndex, in: searched)
                let isFound = model.firstMatch(in: searched, range: range) != nil
                #expect(pattern.isFound(in: searched) == isFound, "seed \(seed): \(text) in '\(searched)'")
            }
        }
    }
}
