import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("Who was given which address")
struct ContactTableTests {
    private let ana = [UInt8]([4, 3]) + "ana".utf8
    private let bo = [UInt8]([4, 2]) + "bo".utf8

    @Test("Each pair of address and user is kept once, with its first position, however many users share the address")
    func pairs() {
        var table = ContactTable()
        for position in 1...300 as ClosedRange<UInt64> {
            table.add(ana, user: position % 100 + 1, position)
            if position % 3 == 0 { table.add(bo, user: position, position) }
        }
        #expect(table.count == 200)
        #expect(table.users(ana, visibleTo: 300).sorted() == Array(1...100))
        #expect(table.users(bo, visibleTo: 9).sorted() == [3, 6, 9])
        #expect(table.users(ana, visibleTo: 300, beyond: 9).count == 10)
        #expect(table.users(ana, visibleTo: 9, beyond: 9).count == 9)
        #expect(table.users([4, 1, 0x62], visibleTo: 300).isEmpty)
        #expect(ContactKey.key(ana, user: 6).withUnsafeBytes { table.position($0) } == 5)
        #expect(ContactKey.key(bo, user: 7).withUnsafeBytes { table.position($0) } == nil)
    }
}
