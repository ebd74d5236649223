import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("A bounded look at a store")
struct StoreLookTests {
    @Test("A sound store is sound in the sample, and nothing of it is changed")
    func sound() throws {
        let folder = TemporaryFolder(prefix: "look")
        let log = try EventLog(path: folder.path, create: true)
        for number in 1...20 {
            _ = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: .externalID("user\(number)"))
        }
        let last = try log.lastPosition().rawValue
        let recordedAt = try log.reader.event(at: Position(rawValue: last))?.recordedAt
        let before = try Data(contentsOf: folder.file("data.mdb"))
        let look = try StoreLook(path: folder.path)
        #expect(look.last == last && look.recordedAt == recordedAt)
        #expect(look.indexed == 0 && look.lag == last)
        #expect(look.damage.isEmpty && !look.isMixed)
        // All records and the names: the store is smaller than the sample.
        #expect(look.examined >= Int(last) + 1)
        #expect(try Data(contentsOf: folder.file("data.mdb")) == before)
        log.close()
    }

    @Test("Each damaged record of a store that is smaller than the sample is named")
    func damaged() throws {
        let folder = TemporaryFolder(.damaged, prefix: "look")
        let log = try EventLog(path: folder.path, create: true)
        for number in 1...9 {
            let event = CustomEvent(name: "played", properties: [.init("mark", .string("mark-\(number)"))])
            _ = try log.append([.customEventLogged(event)], to: .externalID("ana"))
        }
        log.close()
        var file = try Data(contentsOf: folder.file("data.mdb"))
        while let place = file.range(of: Data("mark-4".utf8)) { file[place.lowerBound] = 0x41 }
        try file.write(to: folder.file("data.mdb"))
        // The user comes first.
        #expect(try StoreLook(path: folder.path).damage == ["log 5"])
    }

    @Test("An empty store has no last event")
    func empty() throws {
        let folder = TemporaryFolder(prefix: "look")
        try EventLog(path: folder.path, create: true).close()
        let look = try StoreLook(path: folder.path)
        #expect(look.last == 0 && look.recordedAt == nil && look.lag == 0 && look.damage.isEmpty)
    }
}
