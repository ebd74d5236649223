import ProfileLog
import Testing

/// The fold of a profile asks these, so that another answer changes profiles of events that are stored:
/// `ProfileProjection.revision` must be raised then, and never for what a toolchain thinks of a character.
@Suite("What an address looks like")
struct ContactFormTests {
    @Test(
        "An e-mail address",
        arguments: [
            "a@b.c", "a.b+c@sub.example.com", "ü@exämple.de", "a@b.c\u{301}", "a\u{200B}@b.c", "\u{1F600}@b.c",
            "a@-.-",
        ])
    func email(text: String) {
        #expect(ContactForm.isEmail(text))
    }

    @Test(
        "No e-mail address",
        arguments: [
            "", "a", "@b.c", "a@b", "a@", "a@b.", "a@.c", "a@b..c", "a@@b.c", "a@b@c.d", "a b@c.d", "a@b.c\n",
            "a@b.c\r\n", "a\u{A0}@b.c", "a\u{3000}@b.c", "a\u{2028}@b.c", "a\u{85}@b.c",
        ])
    func noEmail(text: String) {
        #expect(!ContactForm.isEmail(text))
    }

    @Test(
        "A phone number", arguments: ["123", "+49 (0) 30-123.45", "+1234567890123456789012345", "(030) 1", "+ 1 2 3"])
    func phone(text: String) {
        #expect(ContactForm.isPhone(text))
    }

    @Test(
        "No phone number",
        arguments: [
            "", "+", "12", "12345678901234567890123456", "++123", "1+23", "12a", "١٢٣", "1\u{301}23", "１２３", "123\n",
        ])
    func noPhone(text: String) {
        #expect(!ContactForm.isPhone(text))
    }
}
