import ProfileLog
import TestSupport
import Testing

@Suite("Who was updated last")
struct LastUpdateTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("ana")
    private let bo = UserID.externalID("bo")
    private let alias = UserID.alias(label: "crm", name: "7")

    @Test(
        "An update counts, however much the system gave the user since, and external IDs come first",
        arguments: [0, 1, 127, 128, 129, 256, 300])
    func behindSystem(count: Int) throws {
        let log = try folder.open(options: .small(clock, indexLag: 40))
        let address = ProfileEvent.userAttributesChanged([.init(.email, "x@y.example")])
        var last: [UserID: Position] = [:]
        for user in [bo, ana, alias] { last[user] = try log.append([address], to: user).last }
        let state = ProfileEvent.userAttributesChanged([.init(.subscriptionGroups, .array([]))])
        for _ in 0..<count { _ = try log.append([state], to: bo, context: EventContext(source: .system)) }
        for isIndexed in [false, true] {
            if isIndexed { try log.writeIndex() }
            let found = try log.reader.addresses.users(sharing: .email("x@y.example"))
            #expect(found.map(\.id) == [ana, bo, alias])
            for user in found { #expect(try log.reader.addresses.lastUpdate(of: user) == last[user.id]) }
        }
        last[bo] = try log.append([.customEventLogged(CustomEvent(name: "e"))], to: bo).last
        #expect(try log.reader.addresses.users(sharing: .email("x@y.example")).map(\.id) == [bo, ana, alias])
        #expect(try log.find(bo).map { try log.reader.addresses.lastUpdate(of: $0) } == last[bo])
    }
}
