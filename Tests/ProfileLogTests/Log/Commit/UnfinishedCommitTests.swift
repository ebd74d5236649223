import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

/// A commit decides, and tells the tail of its events, before they are on the disk:
///
///     writer   begin ─ decide ─ tail ──────────────────── sync ─ answer
///     reader                          └─ looks: sees none ┘     └─ sees all
@Suite("A reader sees nothing of a commit that is not done")
struct UnfinishedCommitTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private struct Aborted: Error {}

    private func open() throws -> EventLog {
        try folder.open(options: .small(clock))
    }

    /// Decides appends for `users` as a commit does, runs `body` before anything is on the disk, and gives the commit
    /// up.
    private func whileCommitting(_ users: [UserID], to log: EventLog, _ body: () throws -> Void) throws {
        do {
            try log.environment.withWriteTransaction { transaction in
                let seen = try log.store.catchUpWriting(transaction)
                let view = LogView(
                    handle: transaction.handle,
                    tail: seen.tail, tables: seen.tables, nameTable: log.names, checkpoint: seen.checkpoint,
                    last: .max)
                seen.tail.withWriting { $0.uncommitted = seen.last + 1 }
                var decider = try Decider(
                    view: view, names: log.names, braze: log.braze, itemsPerDevice: 10,
                    tables: MessageTables(), rules: RulesCache(standard: FoldRules()), recordedAt: clock.now.rawValue,
                    firstPosition: seen.last + 1)
                for user in users {
                    var builder = log.prepare()
                    try builder.add(.customEventSaved(CustomEvent(name: "new")), .saved(on: "new device"), to: user)
                    _ = try decider.decide(builder.finish())
                }
                // The writer itself counts them: the next new user of this commit gets the next number.
                #expect(try view.userCount() == log.userCount() + UInt64(users.count))
                _ = decider.batch()
                try body()
                throw Aborted()
            }
        } catch is Aborted {
            try log.environment.withReadTransaction { try log.store.rebuildTail($0) }
        }
    }

    @Test("Users, events and devices", arguments: [false, true])
    func uncommitted(indexed: Bool) throws {
        let log = try open()
        for user in ["ana", "bo"] {
            _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID(user))
        }
        if indexed { try log.writeIndex() }
        let known = try log.users(limit: 10)
        let third = log.brazeID(of: UserNumber(rawValue: 3))
        try whileCommitting([.externalID("cy"), .externalID("di")], to: log) { () throws in
            #expect(try log.userCount() == 2)
            #expect(try log.reader.extent().users == 2)
            #expect(try log.users(limit: 10) == known)
            #expect(try log.find(.externalID("cy")) == nil)
            #expect(try log.find(.assignedID(third)) == nil)
            #expect(try log.reader.users.find(UserNumber(rawValue: 3)) == nil)
            #expect(try log.reader.devices.all().isEmpty)
            #expect(try log.reader.devices.pending(on: "new device").isEmpty)
            #expect(try log.lastPosition().rawValue == 4)
        }
        #expect(try log.userCount() == 2)
        // The numbers of a commit that was given up are free again.
        _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("eve"))
        #expect(try log.find(.externalID("eve"))?.number.rawValue == 3)
    }

    @Test("A fresh store has no user before the first commit is done")
    func first() throws {
        let log = try open()
        try whileCommitting([.externalID("ana")], to: log) { () throws in
            #expect(try log.userCount() == 0)
            #expect(try log.users(limit: 10).isEmpty)
        }
    }

    @Test("A view that began before a commit does not see it when it is done", arguments: [false, true])
    func olderView(indexed: Bool) throws {
        let log = try open()
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "a"))
        _ = try log.append([event], to: .externalID("ana"))
        if indexed { try log.writeIndex() }
        try log.withView { view in
            let saved = ProfileEvent.customEventSaved(CustomEvent(name: "b"))
            _ = try log.append([event], to: .externalID("ana"))
            _ = try log.append([saved], to: .externalID("bo"), context: .saved(on: "d"))
            #expect(try view.userCount() == 1)
            #expect(try view.version(of: 1) == 2)
            #expect(try view.version(of: 2) == 0)
            #expect(try view.positions(of: 1, from: 1, to: 2) == [1, 2])
            #expect(try view.user(.externalID("bo"), braze: log.braze) == nil)
            #expect(try view.items("d").isEmpty)
            #expect(try view.devices().isEmpty)
        }
        #expect(try log.userCount() == 2)
    }
}
