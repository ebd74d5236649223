import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@testable import ProfileLogNativeAPI
@testable import ProfileLogRecords

/// Records in forms that are no longer written: `Tests/Fixtures/old-forms`, never edited.
@Suite("Old stored forms")
struct OldFormTests {
    private static let folder = Repository.file("Tests/Fixtures/old-forms")

    @Test("Each old stored form is read as today's event, and written in today's form", arguments: OldForm.allCases)
    func upcast(form: OldForm) throws {
        let file = try Data(contentsOf: Self.folder.appending(path: "\(form.rawValue).json"))
        let fixture = try JSON.parse(Array(file))
        var names = NameMap()
        guard case .array(let texts)? = fixture["names"] else { throw JSONError(.unexpectedByte, at: 0) }
        for name in texts { Array(name.text.utf8).withUnsafeBytes { names.add($0) } }
        let record = try #require(Hexadecimal.bytes(fixture.at("record").text))
        let event = try record.withUnsafeBytes { bytes in
            #expect(RecordHeader.hasRightChecksum(bytes))
            let header = try RecordHeader(bytes, at: 2)
            return try #require(RecordedEvent(header, position: Position(rawValue: 2), names: names))
        }
        var json = JSONWriter()
        json.beginObject()
        json.member("kind", event.event.kind.name)
        json.member("at", event.occurredAt)
        EventJSON.writeContent(event.event, to: &json)
        json.endObject()
        #expect(try JSON.parse(json.bytes) == fixture["event"], "\(String(decoding: json.bytes, as: UTF8.self))")
        // The form is old: today's record of the same event has other bytes.
        var writer = WireWriter()
        #expect(EventEncoder.write(event.event, event.context, names: &names, to: &writer))
        let body = try record.withUnsafeBytes { try Array(RecordHeader($0, at: 2).body) }
        #expect(Array(writer.bytes) != body)
    }

    @Test("Each old stored form has a record, and each record a form")
    func complete() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(files) == Set(OldForm.allCases.map { "\($0.rawValue).json" }))
    }
}
