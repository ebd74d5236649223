import ProfileLog
import TestSupport
import Testing

@Suite("A replay of a damaged log")
struct ReplayDamageTests {
    @Test("A record of a user who cannot be there yet takes no memory", arguments: [1 as UInt64, 7])
    func hugeUser(version: UInt64) throws {
        let folder = TemporaryFolder()
        folder.expectDamage()
        let log = try folder.open()
        for _ in 0..<5 { _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("ana")) }
        try log.damage(.log, withNumberKey(3) { Array($0) }) { row in
            var writer = WireWriter()
            RecordHeader.write(
                kind: EventKind.customEventLogged.rawValue, user: 1 << 32, version: version, recordedAt: 1, to: &writer)
            writer.littleEndian(crc32c(writer.bytes))
            row = Array(writer.bytes)
        }
        let place = "the record at position 3 is of a user who cannot be there yet"
        #expect(throws: StorageError.damaged(place: place)) { try Replayer<ProfileProjection>(log).run() }
    }
}
