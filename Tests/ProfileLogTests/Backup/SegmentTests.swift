import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

@Suite("Files of a backup")
struct SegmentTests {
    private static let store = Array(UInt8(0)..<16)
    private static let history: UInt64 = 0x1122_3344_5566_7788
    private static let records = ["010801100118012005d07ee56d", "0108021001180220060f389e2c"]
    /// Computed by another program, from the description of the format.
    private static let golden =
        "504c5345474d4e5400000001000102030405060708090a0b0c0d0e0f112233445566778800000000000000010000000000000002"
        + "54f132b60000000d010801100118012005d07ee56d0000000d0108021001180220060f389e2c000000000000000246d11b66"
    private static let goldenNames =
        "504c4e414d45530000000001000102030405060708090a0b0c0d0e0f1122334455667788000000020000000a706c61796564f2f8b004"
        + "0000000400000000463b29fa"

    private static func bytes(_ digits: String) throws -> [UInt8] { try #require(Hexadecimal.bytes(digits)) }

    private static func segment() throws -> [UInt8] {
        var writer = SegmentWriter(store: store, history: history, number: 1)
        for record in records { try bytes(record).withUnsafeBytes { writer.append($0) } }
        return writer.finish()
    }

    @Test("A segment and the names have the bytes of format 1")
    func format() throws {
        #expect(Hexadecimal.text(try Self.segment()) == Self.golden)
        let rows = [try Self.bytes("706c61796564f2f8b004"), [0, 0, 0, 0]]
        let names = NamesSegment(store: Self.store, history: Self.history, rows: rows)
        #expect(Hexadecimal.text(names.bytes) == Self.goldenNames)
        #expect(try NamesSegment(Self.bytes(Self.goldenNames)) == names)
    }

    @Test("A writer hands its bytes over, and keeps no copy")
    func handedOver() throws {
        var writer = SegmentWriter(store: Self.store, history: Self.history, number: 1)
        for record in Self.records { try Self.bytes(record).withUnsafeBytes { writer.append($0) } }
        #expect(Hexadecimal.text(writer.finish()) == Self.golden)
        #expect(writer.size == 0)
    }

    @Test("A segment is read back")
    func reading() throws {
        let segment = try Segment(Self.bytes(Self.golden))
        #expect(segment.store == Self.store && segment.history == Self.history)
        #expect(segment.first == 1 && segment.last == 2 && segment.number == 1 && segment.count == 2)
        var found: [String] = []
        segment.forEachRecord { position, record in
            #expect(position.rawValue == UInt64(found.count) + 1)
            found.append(Hexadecimal.text(record))
        }
        #expect(found == Self.records)
        found = []
        segment.forEachRecord(from: 2) { _, record in found.append(Hexadecimal.text(record)) }
        segment.forEachRecord(to: 1) { _, record in found.append(Hexadecimal.text(record)) }
        #expect(found == Self.records.reversed())
        #expect(segment.recordedAt(2).rawValue == 6)
    }

    @Test("A segment with another byte, or a shorter or longer one, is refused")
    func damage() throws {
        for whole in [try Self.bytes(Self.golden), try Self.bytes(Self.goldenNames)] {
            func isAccepted(_ bytes: [UInt8]) -> Bool {
                (try? Segment(bytes)) != nil || (try? NamesSegment(bytes)) != nil
            }
            #expect(isAccepted(whole))
            for index in whole.indices {
                for bit in 0..<8 {
                    var bytes = whole
                    bytes[index] ^= 1 << bit
                    #expect(!isAccepted(bytes), "bit \(bit) of byte \(index)")
                }
                #expect(!isAccepted(Array(whole[..<index])), "\(index) bytes")
            }
            #expect(!isAccepted(whole + [0]))
        }
    }

    @Test("A position has its segment by its number alone")
    func numbers() {
        #expect(Segment.number(of: 1) == 1 && Segment.number(of: 65_536) == 1 && Segment.number(of: 65_537) == 2)
        #expect(Segment.first(of: 3) == 131_073 && Segment.last(of: 3) == 196_608)
    }
}
