import ProfileLog
import TestSupport
import Testing

@Suite("What callers may append is an event with its content")
struct GivenEventTests {
    let folder = TemporaryFolder()

    private func isRefused(_ event: ProfileEvent, by log: EventLog) -> Bool {
        do throws(AppendError) {
            _ = try log.append([event], to: .externalID("ana"), context: .saved(on: "d"))
            return false
        } catch {
            if case .invalid = error { return true }
            return false
        }
    }

    @Test("A kind without a content is none, whichever kind; and nothing is left of it")
    func others() throws {
        let log = try folder.open()
        for kind in EventKind.allCases {
            let event = ProfileEvent.other(kind)
            #expect(isRefused(event, by: log), "\(kind)")
            #expect(isRefused(.queued(event), by: log), "queued \(kind)")
        }
        #expect(try log.lastPosition() == .start)
    }

    @Test("What an SDK has queued, the log alone says, whatever it is")
    func queued() throws {
        let log = try folder.open()
        let event = CustomEvent(name: "", properties: [.init("n", .double(.nan))])
        let change = AttributeChange("a", .set(.double(.infinity)))
        for event in [
            .customEventSaved(event), .customEventLogged(event), .customAttributesSaved([change]),
            .customAttributesChanged([change]), .userAttributeSaved(UserAttributeChange(.email, .double(.nan))),
            .queued(.customEventLogged(event)),
        ] as [ProfileEvent] {
            #expect(isRefused(.queued(event), by: log), "\(event.kind)")
        }
        #expect(try log.lastPosition() == .start)
    }

    @Test("An event that is too large leaves no user either")
    func tooLarge() throws {
        let log = try folder.open()
        let nobody = UserID.assignedID("nobody")
        let numbers = AttributeValue.array(Array(repeating: .double(0.5), count: 24_000))
        let changes = (0..<8).map { AttributeChange(Name("a\($0)"), .set(numbers)) }
        var builder = log.prepare()
        let before = builder.byteCount
        do throws(AppendError) {
            try builder.add(.customAttributesChanged(changes), EventContext(source: .rest), to: nobody)
            Issue.record("The event was taken.")
        } catch {
            #expect(error.description.contains("\(Limits.bytesPerEvent)"), "\(error)")
        }
        #expect(builder.byteCount == before)
        try builder.add(.customEventLogged(CustomEvent(name: "a")), .test, to: .externalID("ana"))
        #expect(try log.commit(builder.finish()).places.count == 2)
    }

    @Test("An event that was read from a log can be appended to another; an erased one cannot")
    func copied() throws {
        let log = try folder.open()
        let receipt = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("ana"))
        let whole = try #require(try log.event(at: receipt.last)).event
        _ = try log.erase([.externalID("ana")], actor: "a test", reason: "asked to")
        let erased = try #require(try log.event(at: receipt.last)).event
        _ = try log.append([whole], to: .externalID("bo"))
        #expect(isRefused(erased, by: log))
    }

    @Test("What an update of objects looks for is a value like any other")
    func match() throws {
        let log = try folder.open()
        let match = AttributeValue.Member("id", .double(.nan))
        let update = AttributeOperation.objectsUpdate([.init(match: match, object: [])], merging: true)
        #expect(isRefused(.customAttributesChanged([AttributeChange("a", update)]), by: log))
    }
}
