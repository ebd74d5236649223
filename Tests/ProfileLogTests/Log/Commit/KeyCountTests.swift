import ProfileLog
import TestSupport
import Testing

@Suite("A record that says wrongly how many events its append had")
struct KeyCountTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private let event = ProfileEvent.customEventLogged(CustomEvent(name: "a"))

    private func send(_ log: EventLog) throws -> AppendReceipt {
        try log.append([event], to: .externalID("ana"), idempotencyKey: "key")
    }

    /// The first record of the append under the key, with another count and a checksum that fits.
    private func rewrite(_ log: EventLog, count: UInt64) throws {
        folder.expectDamage()
        try log.damage(.log, withNumberKey(1) { Array($0) }) { record in
            record = record.withUnsafeBytes { bytes -> [UInt8] in
                guard let header = RecordHeader(bytes), var field = AppendField.first(in: header.body) else {
                    return []
                }
                var old = WireWriter()
                field.write(to: &old)
                field.count = count
                var writer = WireWriter()
                RecordHeader.write(
                    kind: header.kindNumber, user: header.user, version: header.version,
                    recordedAt: header.recordedAt, to: &writer)
                field.write(to: &writer)
                writer.raw(header.body.slice(old.count..<header.body.count))
                writer.littleEndian(crc32c(writer.bytes))
                return Array(writer.bytes)
            }
        }
    }

    @Test(
        "A count that leaves the log, or 64 bits, is damage with its place",
        arguments: [.max, .max - 1, 1 << 63, 4, 1000] as [UInt64])
    func wrong(count: UInt64) throws {
        let log = try folder.open(options: .small(clock))
        #expect(try send(log).last.rawValue == 2)
        _ = try log.append([event], to: .externalID("ana"))
        try rewrite(log, count: count)
        #expect(throws: AppendError.refused(.damaged(place: "the record at position 1"))) { try send(log) }
        // Only that append is damaged: others are taken.
        #expect(try log.append([event], to: .externalID("ana")).last.rawValue == 4)
    }

    @Test("The right count, written the same way, is a repetition")
    func right() throws {
        let log = try folder.open(options: .small(clock))
        let first = try send(log)
        try rewrite(log, count: 2)
        let again = try send(log)
        #expect(again.isRepetition && again.places == first.places)
    }
}
