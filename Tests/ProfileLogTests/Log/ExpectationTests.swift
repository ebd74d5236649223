import Testing

@testable import ProfileLog

@Suite("What an append expects of its users")
struct ExpectationTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))

    @Test("An ID may be asked to lead to a user, whatever is appended to them", arguments: [false, true])
    func leads(isMerged: Bool) throws {
        let log = try EventLog(path: folder.path, create: true, options: .small(clock))
        for user in ["ana", "bo"] { _ = try log.append([played], to: .externalID(user)) }
        let ana = try #require(try log.find(.externalID("ana")))
        let ids = [UserID.externalID("ana"), .brazeID(ana.brazeID)]
        let appends = try ids.map { id in
            var builder = log.prepare()
            try builder.add(played, .test, to: id)
            builder.expect(id, toLeadTo: ana.number)
            return try builder.finish()
        }
        if isMerged {
            let merge = IdentityChange.merge(source: .externalID("ana"), target: .externalID("bo"))
            _ = try log.commit(.identity(merge, context: .test))
        } else {
            _ = try log.append([played], to: .externalID("ana"))
        }
        for append in appends {
            if isMerged {
                #expect(throws: AppendError.self) { try log.commit(append) }
            } else {
                #expect(try log.commit(append).places.map(\.user) == [ana.number])
            }
        }
        try log.expectSound()
    }
}
