import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

@Suite("An erasure is one commit")
struct WholeErasureTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    @Test("An erasure that meets damage after the records that it has buried changes nothing")
    func damaged() throws {
        let log = try folder.open(options: .small(clock))
        let (ana, bo) = (UserID.externalID("ana"), UserID.externalID("bo"))
        var builder = log.prepare()
        for user in [ana, bo] {
            try builder.add(.customEventLogged(CustomEvent(name: "an event")), .test, to: user)
            try builder.leaveOut(
                [ObjectRefusal(list: "events", index: 1, field: "a field", reason: "too long")], of: user)
        }
        _ = try log.commit(builder.finish(idempotencyKey: "key", note: [1]))
        _ = try log.append([.customEventSaved(CustomEvent(name: "saved"))], to: bo, context: .saved(on: "phone"))
        try log.writeIndex()
        // Devices are written when the records are tombstones already.
        let device = Array("phone".utf8)
        let whole = try #require(try log.rows(.devices)[device])
        try log.damage(.devices, device) { $0 = [0xFF] }
        let before = try tables(log)
        let last = try log.lastPosition()

        #expect(throws: AppendError.self) { try log.erase([ana, bo], actor: "a test", reason: "asked to") }
        #expect(try tables(log) == before)
        try log.damage(.devices, device) { $0 = whole }
        try log.expectSound()

        let erasure = try log.erase([ana, bo], actor: "a test", reason: "asked to")
        #expect(erasure.users.count == 2 && erasure.events == Int(last.rawValue))
        try log.expectSound()
        #expect(try log.replay(verify: true).isEqual)
    }

    @Test("An erasure begins again if another process commits before its batch", .hits(.erasureOvertaken))
    func overtaken() throws {
        let log = try folder.open(options: .small(clock))
        let other = try EventLog(path: folder.path, options: .small(clock))
        let events = [ProfileEvent.customEventLogged(CustomEvent(name: "an event"))]
        let isOver = Atomic(false)
        // The moment between two transactions is short: three threads wait for it, and some rounds may miss it.
        for _ in 0..<3 {
            Thread {
                while !isOver.load(ordering: .relaxed) { _ = try? other.append(events, to: .externalID("bo")) }
            }.start()
        }
        defer { isOver.store(true, ordering: .relaxed) }
        for round in 0..<10_000 {
            if CoverageMark.listener?.hits.contains(.erasureOvertaken) == true { break }
            let user = UserID.externalID("ana \(round)")
            _ = try log.append(events, to: user)
            #expect(try log.erase([user], actor: "a test", reason: "asked to").users.count == 1)
        }
    }

    private func tables(_ log: EventLog) throws -> [Table.Name: [[UInt8]: [UInt8]]] {
        try Dictionary(uniqueKeysWithValues: Table.Name.allCases.map { ($0, try log.rows($0)) })
    }
}
