import Testing

@testable import ProfileLog

@Suite("A damaged row of table streams misleads nobody")
struct MisleadingStreamTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let event = ProfileEvent.customEventLogged(CustomEvent(name: "a"))

    private func filled() throws -> EventLog {
        let log = try EventLog(path: folder.path, create: true, options: .small(clock, indexLag: 10_000))
        for _ in 0..<99 { _ = try log.append([event], to: .externalID("ana")) }
        try log.writeIndex()
        return log
    }

    @Test(
        "An append never takes its version from a damaged row",
        arguments: [[], [1, 1], Array(repeating: 1, count: 90), Array(repeating: 1, count: 120)] as [[UInt8]])
    func append(row: [UInt8]) throws {
        let log = try filled()
        try log.damage(.streams, KeyCoding.stream(user: 1, version: 1)) { $0 = row }
        _ = try? log.append([event], to: .externalID("ana"))
        try log.rebuildCaches()
        try log.expectSound()
    }

    @Test("A row under the last version there can be is found, and crashes nothing")
    func lastVersion() throws {
        let log = try filled()
        let row = try #require(try log.rows(.streams)[KeyCoding.stream(user: 1, version: 1)])
        try log.damage(.streams, KeyCoding.stream(user: 1, version: .max)) { $0 = row }
        #expect(try log.check().problems.contains { $0.place.hasPrefix("streams") })
        _ = try? log.profile(of: UserNumber(rawValue: 1))
    }

    @Test("The last user number there can be is nobody")
    func lastUser() throws {
        let log = try filled()
        #expect(try log.find(UserNumber(rawValue: .max)) == nil)
        #expect(try log.profile(of: UserNumber(rawValue: .max)).version == .none)
        #expect(try log.users(after: UserNumber(rawValue: .max), limit: 1).isEmpty)
    }
}
