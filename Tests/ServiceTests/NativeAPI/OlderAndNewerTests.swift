import ProfileLog
import Testing

@testable import ProfileLogNativeAPI
@testable import ProfileLogRequests

@Suite("What programs of other versions stored and exported")
struct OlderAndNewerTests {
    @Test("A number that JSON cannot express, as an earlier program took it, is shown as null")
    func notFinite() async throws {
        try await withAPI { (api) async throws in
            let match = AttributeValue.Member("id", .double(1.5))
            let change = AttributeChange("pets", .objectsUpdate([.init(match: match, object: [])], merging: false))
            let position = try api.log.append([.customAttributesChanged([change])], to: .externalID("ana")).last
            try Self.makeNaN(1.5, at: position, api.log)
            let text = await api.get("/v1/events").json.json
            #expect(text.contains(#""$identifier_key":"id","$identifier_value":null"#), "\(text)")
        }
    }

    /// Puts what is no number in the place of `number` in a record.
    private static func makeNaN(_ number: Double, at position: Position, _ log: EventLog) throws {
        let table = WritableTable(log.environment.tables[.log])
        func bytes(_ number: Double) -> [UInt8] { withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) } }
        try log.environment.withWriteTransaction { transaction in
            let key = withNumberKey(position.rawValue) { Array($0) }
            var record = try #require(try transaction.get(table, key).map { Array($0) })
            let place = try #require(record.firstRange(of: bytes(number)))
            record.replaceSubrange(place, with: bytes(.nan))
            record.removeLast(4)
            let checksum = record.withUnsafeBytes { crc32c($0) }
            withUnsafeBytes(of: checksum.littleEndian) { record.append(contentsOf: $0) }
            try transaction.put(table, key, record)
        }
    }

    @Test("An exported event of a newer program's kind is not said to be made by the log: the newer one exports it")
    func newerKind() throws {
        let refusal = try #require(throws: ImportLine.Refusal.self) {
            try Array(#"{"kind":"unknown","user":"u"}"#.utf8).withUnsafeBytes { bytes in
                _ = try ImportLine(bytes, ImportTimes(now: .now()))
            }
        }
        #expect(refusal.remedy == .exportAgain && refusal.reason.contains("did not know its kind"))
    }
}
