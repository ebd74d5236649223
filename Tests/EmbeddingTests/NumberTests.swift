import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("Numbers, times and IDs, as an embedder prints and reads them")
struct NumberTests {
    let folder = TemporaryFolder()

    @Test("A position, a version and a user's number print as their numbers")
    func numbers() throws {
        let log = try folder.open()
        let receipt = try log.append([.happened("seen")], to: .ana)
        let ana = try #require(try log.find(.ana))
        #expect("\(receipt.last) \(ana.version) \(ana.number)" == "2 2 1")
        let (position, version): (Position, Version) = (7, 8)
        #expect([position.description, version.description] == ["7", "8"])
        #expect(position.rawValue == 7 && version.rawValue == 8)
    }

    @Test("A text of ISO 8601 is a time, and another text is none")
    func times() {
        let noon = Timestamp(rawValue: 1_772_452_800_000_000)
        for text in ["2026-03-02T12:00:00Z", "2026-03-02 12:00", "20260302T140000+02:00"] {
            #expect(Timestamp(iso8601: text) == noon, "\(text)")
        }
        for text in ["", "noon", "02/03/2026", "2026-13-02T12:00:00Z"] {
            #expect(Timestamp(iso8601: text) == nil, "\(text)")
        }
    }

    @Test("The ID that the store assigns has the stored form of older states, and is written as braze:ID")
    func assigned() throws {
        #expect(UserID.assignedID("a").description == "braze:a")
        let stored = try JSONEncoder().encode(UserID.assignedID("a"))
        #expect(String(decoding: stored, as: UTF8.self) == #"{"brazeID":{"_0":"a"}}"#)
        #expect(try JSONDecoder().decode(UserID.self, from: stored) == .assignedID("a"))
    }
}
