import ProfileLog
import Testing

@Suite("A user's ID as text")
struct UserIDTests {
    private static let pieces = [":", "\\", "a", "\u{E9}", "\u{301}", "id", "alias", "device"]

    private func text(_ random: inout SeededGenerator) -> String {
        (0...random.next(below: 4)).map { _ in Self.pieces[random.next(below: Self.pieces.count)] }.joined()
    }

    private func id(_ random: inout SeededGenerator) -> UserID {
        switch random.next(below: 8) {
        case 0: .externalID(text(&random))
        case 1: .device(text(&random))
        case 2: .email(text(&random))
        default: .alias(label: text(&random), name: text(&random))
        }
    }

    @Test("Every ID is read from its text as it was, and no two IDs have one text", arguments: UInt64(0)..<64)
    func roundTrip(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var known: [Name: UserID] = [:]
        for _ in 0..<200 {
            let id = id(&random)
            let text = id.description
            #expect(UserID(text) == id, "seed \(seed): \(text)")
            if let other = known.updateValue(id, forKey: Name(text)) { #expect(other == id, "seed \(seed): \(text)") }
        }
    }

    @Test(
        "A label may have colons and backslashes: its text has a backslash before each",
        arguments: [
            (#"alias:crm:42"#, "crm", "42"), (#"alias:crm:eu:42"#, "crm", "eu:42"),
            (#"alias:crm\:eu:42"#, "crm:eu", "42"), (#"alias:a\\:b\c"#, #"a\"#, #"b\c"#),
            (#"alias:\:\\::"#, #":\"#, ":"),
        ])
    func labels(text: String, label: String, name: String) {
        #expect(UserID(text) == .alias(label: label, name: name))
        #expect(UserID.alias(label: label, name: name).description == text)
    }

    @Test("A backslash before another byte refers to itself")
    func lenient() {
        #expect(UserID(#"alias:a\b:c"#) == .alias(label: #"a\b"#, name: "c"))
    }

    @Test(
        "Without a name after the label it is an external ID", arguments: ["alias:crm", #"alias:crm\:eu"#, "alias:"])
    func noAlias(text: String) {
        #expect(UserID(text) == .externalID(text))
        #expect(UserID.externalID(text).description == "id:" + text)
    }

    @Test("A colon counts also before a combining mark")
    func combining() {
        #expect(UserID("email:\u{301}a") == .email("\u{301}a"))
        #expect(UserID.externalID("id:\u{301}a").description == "id:id:\u{301}a")
        #expect(UserID("id:id:\u{301}a") == .externalID("id:\u{301}a"))
    }
}
