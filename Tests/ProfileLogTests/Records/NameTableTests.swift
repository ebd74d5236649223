import ProfileLog
import Testing

@testable import ProfileLogLog
@testable import ProfileLogRecords

@Suite("The names that a process knows")
struct NameTableTests {
    private func map(_ names: [Name], erasures: UInt32) -> NameMap {
        var map = NameMap()
        map.erasures = erasures
        for name in names { NameRow.bytes(name).withUnsafeBytes { map.add(row: $0) } }
        return map
    }

    /// ```
    /// reader | sees an erasure of names, loads a, b ┐
    /// writer |                                      │ sees it too; commits c, and knows it
    /// reader |                                      └ puts a, b in the place of what the process knows
    /// ```
    @Test("Who was slow to load them takes back nothing that others have learned since")
    func slowReader() {
        let table = NameTable()
        let read = map(["a", "b"], erasures: 1)
        table.replace(with: read)
        NameRow.bytes("c").withUnsafeBytes { table.add($0, number: 3) }
        table.replace(with: read)
        #expect(table.count == 3)
        #expect(table.number("c") == 3 && table.name(3) == "c")
        var names = NewNames(table)
        #expect(names.number("c") == 3 && names.number("d") == 4)
        #expect(names.map.count == 4)
    }

    @Test("A number that was erased does not come back with an older look at the store")
    func twoErasures() {
        let table = NameTable()
        table.replace(with: map(["a", "b", "c"], erasures: 1))
        table.replace(with: map(["a", "", "c"], erasures: 2))
        table.replace(with: map(["a", "b", "c"], erasures: 1))
        #expect(table.erasures == 2)
        #expect(table.number("b") == nil && table.name(2) == "")
    }
}
