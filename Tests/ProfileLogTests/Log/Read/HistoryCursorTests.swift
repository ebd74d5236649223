import Testing

@testable import ProfileLogLog

@Suite("The cursor of an event")
struct HistoryCursorTests {
    private static let store = (0..<16).map { UInt8($0) }

    @Test("Consumers keep it for years: its text never changes")
    func golden() {
        let known: [(HistoryCursor, String)] = [
            (.init(Self.store, 12, user: 7, version: 3, recordedAt: 1_767_225_600_000_000), "12-ca3ea27b"),
            (.init(Self.store, 12, user: 7, version: 3, recordedAt: 1_767_225_600_000_001), "12-216b7a16"),
            (.init(Self.store, 1, user: 0, version: 1, recordedAt: -1), "1-3d15a919"),
            (.init(Self.store, 10, user: 7, version: 3, recordedAt: 1), "10-05787d8f"),
            (.init(Self.store, 0, user: 0, version: 0, recordedAt: 0), "0"),
        ]
        for (cursor, text) in known {
            #expect(cursor.description == text)
            #expect(HistoryCursor(text) == cursor)
        }
    }

    @Test("Any other event at the position has another one")
    func distinct() {
        var seen: Set<String> = []
        for user in UInt64(1)...20 {
            for version in UInt64(1)...20 {
                for time in Int64(0)..<20 {
                    let cursor = HistoryCursor(Self.store, 12, user: user, version: version, recordedAt: time)
                    seen.insert(cursor.description)
                }
            }
        }
        #expect(seen.count == 8_000)
    }

    @Test("A plain number has no check", arguments: ["0", "12", "18446744073709551614"])
    func plain(text: String) {
        #expect(HistoryCursor(text)?.check == nil)
        #expect(HistoryCursor(text)?.description == text)
    }
}
