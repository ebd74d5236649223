import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogRecords

@Suite("Records")
struct RecordTests {
    let folder = TemporaryFolder()

    /// Everything that a record can hold, through the log and back.
    static let events: [(ProfileEvent, EventContext)] = {
        let at = OccurredAt(Timestamp(rawValue: -5), utcOffsetMinutes: -330)
        let properties: [AttributeValue.Member] = [
            .init("array", .array([.int(1), .double(1), .string("é"), .null])), .init("bool", .bool(false)),
            .init("date", .date(at)), .init("empty", .string("")), .init("int", .int(.min)),
            .init("object", .object([.init("a", .object([])), .init("b", .array([]))])),
            .init("text", .string(String(repeating: "長", count: 200))),
            .init("uuid", .string("0f8fad5b-d9cb-469f-a165-70867728950e")),
            .init("uuid, upper case", .string("0F8FAD5B-D9CB-469F-A165-70867728950E")),
        ]
        let operations: [AttributeOperation] = [
            .set(.int(0)), .set(.null), .unset, .increment(-3), .arrayAdd([.string("x")]), .arrayRemove([.int(1)]),
            .objectMerge([.init("k", .bool(true))]), .objectsAdd([.object([.init("id", .int(1))])]),
            .objectsUpdate(
                [.init(match: .init("id", .int(1)), object: [.init("v", .int(2))])], merging: true),
            .objectsUpdate(
                [.init(match: .init("id", .int(1)), object: [.init("v", .int(2))])], merging: false),
            .objectsRemove([.init("id", .int(1))]),
        ]
        let saved = EventContext(
            source: .import, occurredAt: at, process: "push", device: "device", storage: .appGroup("group.a"),
            item: "i")
        var privately = saved
        privately.storage = .privateTo(process: "push")
        return [
            (
                .customEventLogged(CustomEvent(name: "a", properties: properties)),
                EventContext(source: .rest, app: "app")
            ),
            (.customEventLogged(CustomEvent(name: "a", properties: [])), EventContext(source: .rest, occurredAt: at)),
            (
                .customEventLogged(CustomEvent(name: "a")),
                EventContext(source: .rest, occurredAt: OccurredAt(Timestamp(rawValue: -62_135_596_800_000_000)))
            ),
            (.customEventSaved(CustomEvent(name: "a")), saved), (.customEventSaved(CustomEvent(name: "b")), privately),
            (.userAttributeSaved(UserAttributeChange(.email, .null)), saved),
            (.userAttributesChanged([UserAttributeChange(.email, .string("a@b.c"))]), EventContext(source: .cli)),
            (
                .purchaseLogged(
                    Purchase(product: "p", currency: "EUR", price: -0.5, quantity: 2, properties: properties)),
                EventContext(source: .import)
            ),
        ] + operations.map { (.customAttributesChanged([AttributeChange("k", $0)]), EventContext(source: .rest)) }
    }()

    @Test("What is stored is what was given", arguments: events.indices)
    func roundTrip(index: Int) throws {
        let (event, context) = Self.events[index]
        let log = try folder.open()
        let receipt = try log.append([event], to: .externalID("ana"), context: context)
        let stored = try #require(try log.events(from: receipt.last, limit: 1).events.first)
        #expect(stored.event == event)
        #expect(stored.context == context)
    }

    @Test("protoc reads every record by record.proto, and writes the same bytes")
    func contract() throws {
        let protoc = "/usr/bin/protoc"
        try #require(FileManager.default.isExecutableFile(atPath: protoc), "apt-get install protobuf-compiler")
        let log = try folder.open()
        for (index, (event, context)) in Self.events.enumerated() {
            _ = try log.append([event], to: .externalID("ana"), context: context, idempotencyKey: "key \(index)")
        }
        _ = try log.launch(device: "device")
        var builder = log.prepare()
        try builder.leaveOut(
            [ObjectRefusal(list: "events", index: 300, field: "f", reason: "r")], of: .externalID("ana"))
        try builder.leaveOut([ObjectRefusal(list: "attributes", index: 0, reason: "r")], of: nil)
        _ = try log.commit(builder.finish())
        let coding = Repository.file("Sources/ProfileLog/Records").path
        let whole = try log.rows(.log)
        _ = try log.erase([.externalID("ana")], actor: "a test", reason: "asked to")
        let tombstones = try log.rows(.log).filter { whole[$0.key] != $0.value }
        #expect(tombstones.count > Self.events.count)
        for (key, record) in Array(whole) + Array(tombstones) {
            let message = Array(record.dropFirst().dropLast(4))
            let text = try run(
                protoc, ["--proto_path=\(coding)", "--decode=profilelog.Record", "record.proto"], message)
            // A string where the schema has a number or an unknown field would show as a bare number.
            #expect(!text.isEmpty, "\(key)")
            let again = try run(protoc, ["--proto_path=\(coding)", "--encode=profilelog.Record", "record.proto"], text)
            // protoc leaves out zeros everywhere; a header has its four fields always.
            var short = message
            if short[2...3] == [0x10, 0] { short.removeSubrange(2...3) }
            #expect(again == short, "\(String(decoding: text, as: UTF8.self))")
        }
    }

    @Test(
        "An event of a newer program's kind, or of a reserved one, is told as that and changes nothing",
        arguments: [UInt8(99), 50])
    func newerKind(number: UInt8) throws {
        let log = try folder.open()
        let receipt = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("ana"))
        let key = withNumberKey(receipt.last.rawValue) { Array($0) }
        try log.damage(.log, key) { record in
            record[2] = number
            record.removeLast(4)
            let checksum = record.withUnsafeBytes { crc32c($0) }
            withUnsafeBytes(of: checksum.littleEndian) { record.append(contentsOf: $0) }
        }
        #expect(try log.event(at: receipt.last)?.event.kind.name == "unknown")
        let unknown = try #require(EventKind(name: "unknown"))
        let page = try log.events(from: .start.next, limit: 10, where: EventFilter(kinds: [unknown]))
        #expect(page.events.map(\.position) == [receipt.last])
    }

    private func run(_ program: String, _ arguments: [String], _ input: [UInt8]) throws -> [UInt8] {
        let (given, said) = (URL(filePath: folder.path + ".in"), URL(filePath: folder.path + ".out"))
        defer { for file in [given, said] { try? FileManager.default.removeItem(at: file) } }
        try Data(input).write(to: given)
        let process = try ChildProcess(
            URL(filePath: program), arguments, input: .file(given), output: .file(said))
        #expect(process.waitForEnd() == 0)
        return Array(try Data(contentsOf: said))
    }

    @Test("Bytes that are no record are refused, never a crash", arguments: UInt64(0)..<200)
    func fuzz(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = NameTable()
        for (event, context) in Self.events {
            var writer = WireWriter()
            var numbers = NewNames(names)
            RecordHeader.write(kind: event.kind.rawValue, user: 1, version: 2, recordedAt: 3, to: &writer)
            _ = EventEncoder.write(event, context, names: &numbers, to: &writer)
            writer.littleEndian(UInt32(0))
            var bytes = Array(writer.bytes)
            for _ in 0...random.next() % 4 {
                switch random.next() % 3 {
                case 0: bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
                default:
                    bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: Int(random.next() % UInt64(bytes.count)))
                }
                if bytes.isEmpty { bytes = [1] }
            }
            var state = ProfileProjection.initial
            bytes.withUnsafeBytes { bytes in
                guard let header = RecordHeader(bytes) else { return }
                let view = EventView(header: header, position: Position(rawValue: 1), names: names)
                _ = view.recorded()
                ProfileProjection.apply(view, to: &state)
            }
            #expect(ProfileProjection.encode(state).count > 0)
        }
    }

    @Test("CRC-32C has its published check value")
    func checksum() {
        #expect(Array("123456789".utf8).withUnsafeBytes { crc32c($0) } == 0xE306_9283)
    }
}
