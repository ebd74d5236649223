import ProfileLog
import TestSupport
import Testing

/// IDs beyond 255 bytes are in table `identifiers` under a hash, with the whole ID in the row.
@Suite("Two IDs of one hash")
struct IdentifierHashTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()
    private let long = UserID.externalID(String(repeating: "a", count: 300))
    private let other = UserID.externalID(String(repeating: "b", count: 300))

    /// A store in which the hash of `long` leads to a user whose ID is `other`: as if both had the same one.
    private func collided() throws -> EventLog {
        folder.expectDamage()
        let log = try folder.open(options: .small(clock))
        _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: long)
        try log.writeIndex()
        try log.damage(.identifiers, #require(KeyCoding.identifier(long))) { row in
            row = row.prefix(8) + KeyCoding.identifierRemainder(other)
            let checksum = row.withUnsafeBytes { crc32c($0) }
            withUnsafeBytes(of: checksum.littleEndian) { row.append(contentsOf: $0) }
        }
        return log
    }

    @Test("An ID never leads to the user of another one")
    func collision() throws {
        #expect(try collided().find(long) == nil)
    }

    @Test("A long ID leads to its user, and one that differs in its last byte to no user")
    func wholeID() throws {
        let log = try folder.open(options: .small(clock))
        _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: long)
        for _ in 0..<2 {
            #expect(try log.find(long)?.number == UserNumber(rawValue: 1))
            #expect(try log.find(.externalID(String(repeating: "a", count: 299) + "b")) == nil)
            try log.writeIndex()
        }
    }
}
