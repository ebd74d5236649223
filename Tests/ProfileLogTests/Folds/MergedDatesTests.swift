import ProfileLog
import TestSupport
import Testing

@Suite("Dates of two users who are merged")
struct MergedDatesTests {
    private let folder = TemporaryFolder()
    private let source = UserID.externalID("source")
    private let target = UserID.externalID("target")

    private func date(_ text: String) throws -> AttributeValue { .date(try #require(OccurredAt(iso8601: text))) }

    /// Returns the target's values after `first` and `second` are merged, and the event that set each.
    private func merged(
        _ attribute: StandardAttribute, _ first: AttributeValue?, into second: AttributeValue?
    ) throws -> Profile.Field? {
        let log = try folder.open(options: .small(TestClock()))
        for (user, value) in [(source, first), (target, second)] {
            let change = UserAttributeChange(attribute, value ?? .null)
            _ = try log.append([.userAttributesChanged([change])], to: user)
        }
        _ = try log.commit(.identity(.merge(source: source, target: target), context: .test))
        let number = try #require(try log.find(target)).number
        try log.expectSound()
        return try log.named(log.profile(of: number)).attributes.first { $0.name.text == attribute.name }
    }

    @Test(
        "The earlier first session stays, the later last one, and the latest mark as spam",
        arguments: [
            (StandardAttribute.dateOfFirstSession, "2020-05-05", "2022-01-01", isSource: true),
            (.dateOfFirstSession, "2022-01-01", "2020-05-05", isSource: false),
            (.dateOfLastSession, "2025-05-05", "2023-01-01", isSource: true),
            (.dateOfLastSession, "2023-01-01", "2025-05-05", isSource: false),
            (.markedEmailAsSpamAt, "2025-05-05", "2021-01-01", isSource: true),
            (.markedEmailAsSpamAt, "2021-01-01", "2025-05-05", isSource: false),
            (.dateOfBirth, "1970-01-01", "1990-01-01", isSource: false),
        ])
    func both(attribute: StandardAttribute, first: String, second: String, isSource: Bool) throws {
        let field = try merged(attribute, date(first), into: date(second))
        #expect(try field?.value == date(isSource ? first : second))
        #expect(field?.position.rawValue == (isSource ? 2 : 4))
    }

    @Test("A date as text is one too")
    func text() throws {
        #expect(
            try merged(.dateOfFirstSession, .string("2020-05-05T10:00:00+02:00"), into: date("2022-01-01"))?.value
                == .string("2020-05-05T10:00:00+02:00"))
    }

    @Test("What only one of them has stays")
    func one() throws {
        #expect(try merged(.dateOfLastSession, date("2020-05-05"), into: nil)?.value == date("2020-05-05"))
    }

    @Test("What is no date leaves the target's")
    func none() throws {
        #expect(try merged(.dateOfLastSession, .string("once"), into: date("2020-05-05"))?.value == date("2020-05-05"))
    }
}
