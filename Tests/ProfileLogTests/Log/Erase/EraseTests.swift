import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds

@Suite("Erasing a person")
struct EraseTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("canary-external")
    private let bo = UserID.externalID("bo")

    private func open(indexLag: Int = 7) throws -> EventLog {
        try folder.open(
            options: .small(clock, indexLag: indexLag),
            projections: [ProfileProjection.self, SourceProjection.self, UsageProjection.self])
    }

    private func canary(_ text: String) -> AttributeValue { .string("canary-\(text)") }

    /// A person with a canary in every field, in two users who become one; half of it saved on a device and not
    /// flushed.
    private func live(_ log: EventLog, again: Bool = false) throws {
        let anonymous = UserID.alias(label: "canary-label", name: "canary-alias")
        let properties: [AttributeValue.Member] = [
            .init("canary-key", canary("value")), .init("nested", .object([.init("canary-member", canary("inner"))])),
            .init("list", .array([canary("element")])),
        ]
        let event = CustomEvent(name: "canary-event", properties: properties)
        var context = EventContext.saved(on: "canary-device", group: "group.canary")
        context.process = "canary-process"
        context.item = "canary-item"
        context.app = "canary-app"
        for user in [ana, anonymous] {
            _ = try log.append(
                [
                    .customEventLogged(event),
                    .customAttributesChanged([
                        AttributeChange("canary-attribute", .set(canary("set"))),
                        AttributeChange("shared", .objectMerge([.init("canary-merged", canary("merge"))])),
                    ]),
                    .userAttributesChanged([
                        UserAttributeChange(.email, "canary@example.com"),
                        UserAttributeChange(.firstName, canary("name")),
                    ]),
                    .purchaseLogged(
                        Purchase(product: "canary-product", currency: "EUR", price: 1, properties: properties)),
                ], to: user, context: EventContext(source: .rest, app: "canary-app"),
                idempotencyKey: "canary-idempotency-\(user)-\(again)")
            _ = try log.append(
                [.customEventSaved(event), .userAttributeSaved(UserAttributeChange(.phone, "+4917055501"))], to: user,
                context: context)
        }
        var builder = log.prepare()
        let sent = MessageStep(
            .sent, of: "canary-message", by: .applePush, reason: "canary-reason", dispatch: "canary-dispatch",
            action: "canary-action", content: properties)
        _ = try log.append([.message(sent)], to: ana, context: EventContext(source: .rest, device: "canary-device"))
        let leftOut = ObjectRefusal(list: "attributes", index: 0, field: "canary-field", reason: "too long")
        try builder.leaveOut([leftOut], of: ana)
        try builder.leaveOut([leftOut], of: .externalID("canary-nobody"))
        _ = try log.commit(builder.finish())
        _ = try log.launch(device: "canary-device", flushing: [.customEvents])
        _ = try log.commit(.identity(.merge(source: anonymous, target: ana), context: .test))
        _ = try log.append([.customEventSaved(event)], to: ana, context: context)
    }

    /// Another user, on a device of their own and on the erased person's, who uses some of the same names.
    private func others(_ log: EventLog) throws {
        for index in 0..<20 {
            _ = try log.append(
                [.customAttributesChanged([AttributeChange("shared", .set(.int(Int64(index))))])], to: bo)
            _ = try log.append(
                [.customEventSaved(CustomEvent(name: "other"))], to: bo, context: .saved(on: "shared-device"))
        }
    }

    private func rows(with text: String, _ log: EventLog) throws -> [String] {
        try Table.Name.allCases.flatMap { name in
            try log.rows(name).filter { ($0.key + $0.value).holds(Array(text.utf8)) }.map { _ in name.rawValue }
        }
    }

    @Test("Nothing of a person is left in any table, and all else is as it was", arguments: [1, 7, 500])
    func erase(indexLag: Int) throws {
        let log = try open(indexLag: indexLag)
        try others(log)
        try live(log)
        try others(log)
        let other = try open(indexLag: indexLag)
        let braze = try #require(try log.find(ana)).brazeID
        let boNumber = try #require(try log.find(bo)).number
        let boBefore = try log.named(log.profile(of: boNumber))
        #expect(try !rows(with: "canary", log).isEmpty)
        let last = try log.lastPosition()
        let events = try log.users(limit: 9).filter { $0.number != boNumber }.reduce(0) {
            $0 + Int($1.version.rawValue)
        }

        let erasure = try log.erase([ana, .externalID("nobody")], actor: "a test", reason: "asked to")
        #expect(erasure.users.count == 1 && erasure.unknown == [.externalID("nobody")] && erasure.events == events)
        #expect(erasure.position?.rawValue == last.rawValue + 1)

        for log in [log, other] {
            #expect(try rows(with: "canary", log).isEmpty)
            #expect(try rows(with: "4917055501", log).isEmpty)
            #expect(
                try log.find(ana) == nil && log.find(.assignedID(braze)) == nil
                    && log.find(.device("canary-device")) == nil)
            #expect(try log.reader.addresses.users(sharing: .email("canary@example.com")).isEmpty)
            #expect(try log.reader.devices.all() == ["shared-device"])
            #expect(try log.named(log.profile(of: boNumber)) == boBefore)
            try log.expectSound()
        }
        #expect(try log.replay(verify: true).isEqual)
        try log.writeIndex()
        try log.expectSound()
        try log.rebuildCaches()
        try log.expectSound()
        #expect(try rows(with: "canary", log).isEmpty)
    }

    @Test("A device without a user stays so when the user who left it last is erased", arguments: [false, true])
    func leftDevice(isWiped: Bool) throws {
        let log = try open()
        _ = try log.changeUser(device: "d", to: bo)
        _ = try log.changeUser(device: "d", to: ana)
        _ = try isWiped ? log.wipe(device: "d") : log.logOut(device: "d")
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        #expect(try log.reader.devices.find("d")?.user == nil)
        let saved = try log.append(
            [.customEventSaved(CustomEvent(name: "other"))], to: .device("d"), context: .saved(on: "d"))
        #expect(try saved.places.allSatisfy { $0.user != (try log.find(bo)?.number) })
        try log.expectSound()
        #expect(try log.replay(verify: true).isEqual)
    }

    @Test("What an erased person's launch flushed of others keeps no other user from the device")
    func launchedDevice() throws {
        let log = try open()
        _ = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: bo)
        _ = try log.changeUser(device: "d", to: ana)
        var offline = SettingsChange()
        offline.isOnline = false
        _ = try log.change(offline, of: "d")
        _ = try log.append([.customEventSaved(CustomEvent(name: "other"))], to: bo, context: .saved(on: "d"))
        _ = try log.launch(device: "d")
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        #expect(try log.reader.devices.find("d") == nil)
        let cyd = UserID.externalID("cyd")
        _ = try log.append([.customEventSaved(CustomEvent(name: "other"))], to: cyd, context: .saved(on: "d"))
        #expect(try log.reader.devices.find("d")?.user == log.find(cyd)?.number)
        // A launch that an erased one follows has the chunks that are its own.
        _ = try log.changeUser(device: "e", to: bo)
        _ = try log.append([.customEventSaved(CustomEvent(name: "other"))], to: bo, context: .saved(on: "e"))
        _ = try log.launch(device: "e")
        _ = try log.changeUser(device: "e", to: .externalID("dan"))
        _ = try log.append([.customEventSaved(CustomEvent(name: "other"))], to: bo, context: .saved(on: "e"))
        _ = try log.launch(device: "e")
        _ = try log.erase([.externalID("dan")], actor: "a test", reason: "asked to")
        let number = try #require(try log.find(bo)).number.rawValue
        #expect(try log.reader.devices.state(of: "e").status.chunks == [number: 1])
        try log.expectSound()
        #expect(try log.replay(verify: true).isEqual)
        try log.writeIndex()
    }

    @Test("The IDs of an erased person make a new user later; a second erasure finds no user")
    func comesBack() throws {
        let log = try open()
        try live(log)
        let old = try #require(try log.find(ana))
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        #expect(try log.erase([ana, .assignedID(old.brazeID)], actor: "a test", reason: "again").unknown.count == 2)
        try live(log, again: true)
        let new = try #require(try log.find(ana))
        #expect(new.number != old.number)
        #expect(try log.named(log.profile(of: new.number)).customEvents.first?.name == "canary-event")
        #expect(try log.history(of: old.number).dropLast().allSatisfy(\.isErased))
        #expect(try log.reader.addresses.users(sharing: .email("canary@example.com")).map(\.number) == [new.number])
        try log.expectSound()
        #expect(try log.replay(verify: true).isEqual)
    }

    @Test("An append that was prepared before a name was erased is stored under a name of its own")
    func preparedBefore() throws {
        let log = try open()
        let other = try open()
        try live(log)
        func prepare(_ log: EventLog) throws -> PreparedAppend {
            var builder = log.prepare()
            try builder.add(
                .customEventLogged(
                    CustomEvent(name: "canary-event", properties: [.init("canary-key", 1), .init("new-key", 2)])),
                .test, to: bo)
            try builder.add(
                .customAttributesChanged([AttributeChange("canary-attribute", .increment(1))]), .test, to: bo)
            return try builder.finish()
        }
        let prepared = try [prepare(log), prepare(other)]
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        #expect(try rows(with: "canary", log).isEmpty)
        _ = try log.commit(prepared[0])
        _ = try other.commit(prepared[1])
        for log in try [log, other, open()] {
            let bo = try #require(try log.find(UserID.externalID("bo")))
            let profile = try log.named(log.profile(of: bo.number))
            #expect(profile.customEvents.map(\.name) == ["canary-event"] && profile.customAttributes.first?.value == 2)
            try log.expectSound()
        }
    }

    @Test("A retry of an append that was prepared before a name was erased is known again")
    func retryOfPreparedBefore() throws {
        let log = try open()
        try live(log)
        func prepare() throws -> PreparedAppend {
            var builder = log.prepare()
            try builder.add(.customEventLogged(CustomEvent(name: "canary-event")), .test, to: bo)
            return try builder.finish(idempotencyKey: "key")
        }
        let prepared = try prepare()
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        #expect(try !log.commit(prepared).isRepetition)
        #expect(try log.commit(prepare()).isRepetition)
    }

    @Test("After compacting, no byte of the person is in the file, and the store is the same")
    func compact() throws {
        var log: EventLog? = try EventLog(
            path: folder.path, create: true, options: .small(clock, indexLag: 7),
            projections: [ProfileProjection.self, SourceProjection.self, UsageProjection.self])
        try others(try #require(log))
        try live(try #require(log))
        _ = try log?.erase([ana], actor: "a test", reason: "asked to")
        let before = try log?.replay(verify: false).digest
        let names = try log?.rows(.names)
        log = nil
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: folder.path + "/data.mdb")).range(of: Data("canary".utf8)) != nil)
        let compaction = try EventLog.compaction(of: folder.path, options: .small(clock))
        #expect(compaction.isComplete && compaction.bytesAfter < compaction.bytesBefore)
        let file = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/data.mdb"))
        #expect(file.range(of: Data("canary".utf8)) == nil && file.range(of: Data("4917055501".utf8)) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["data.mdb", "lock.mdb"])
        let compacted = try open()
        #expect(try compacted.replay(verify: true).digest == before)
        #expect(try compacted.rows(.names) == names)
        _ = try compacted.append([.customEventLogged(CustomEvent(name: "canary-event"))], to: bo)
    }

    @Test("A store that another process has open is not compacted, and can be written")
    func compactBeside() throws {
        let log = try open()
        try others(log)
        for _ in 0..<2 {
            #expect(throws: StorageError.inUse(path: folder.path)) {
                try EventLog.compact(path: folder.path, options: .small(clock))
            }
            _ = try log.append([.customEventLogged(CustomEvent(name: "late"))], to: bo)
        }
    }

    @Test("An erasure leaves a file that can be opened, however long the states are that it drops")
    func fileLength() throws {
        var log: EventLog? = try EventLog(
            path: folder.path, create: true, options: .small(clock, indexLag: 10_000),
            projections: [ProfileProjection.self, CatalogueProjection.self])
        for number in 0..<400 {
            _ = try log?.append(
                [.customEventLogged(CustomEvent(name: Name("a rather long name of an event, number \(number)")))],
                to: ana)
        }
        _ = try log?.erase([ana], actor: "a test", reason: "asked to")
        log = nil
        try open().expectSound()
    }

    @Test("A device whose user was erased has no user, and not the one before")
    func sharedDevice() throws {
        let log = try open()
        _ = try log.changeUser(device: "shared", to: bo)
        _ = try log.changeUser(device: "shared", to: ana)
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        #expect(try log.find(.device("shared")) == nil)
        _ = try log.append(
            [.customEventSaved(CustomEvent(name: "later"))], to: .device("shared"), context: .saved(on: "shared"))
        #expect(try log.find(.device("shared"))?.number != log.find(bo)?.number)
        try log.expectSound()
        #expect(try log.replay(verify: true).isEqual)
    }

    @Test("A user who was found and then merged or erased is not erased for another", arguments: [false, true])
    func foundBefore(isMerged: Bool) throws {
        let log = try open()
        let other = try open()
        try others(log)
        try live(log)
        let cyd = UserID.externalID("cyd")
        _ = try log.append([.customEventLogged(CustomEvent(name: "other"))], to: cyd)
        let found = try [#require(try log.find(ana)), #require(try log.find(bo))]
        _ =
            isMerged
            ? try other.commit(.identity(.merge(source: bo, target: cyd), context: .test)).places.count
            : try other.erase([bo], actor: "a test", reason: "asked to").users.count
        let last = try log.lastPosition()
        #expect {
            try log.erase(found: found, actor: "a test", reason: "asked to")
        } throws: { error in
            guard case AppendError.versionConflict(.assignedID(found[1].brazeID), _, _) = error else { return false }
            return true
        }
        #expect(try log.lastPosition() == last && log.find(ana) == found[0])
        _ = try log.append([.customEventLogged(CustomEvent(name: "late"))], to: ana)
        let erasure = try log.erase(found: [found[0]], actor: "a test", reason: "asked to")
        #expect(erasure.users == [found[0].number])
        #expect(try log.find(cyd)?.isErased == false)
        try log.expectSound()
        #expect(try log.replay(verify: true).isEqual)
    }

    @Test("A copy that was begun before an erasure is refused")
    func copied() throws {
        let log = try open()
        try others(log)
        try live(log)
        let target = TemporaryFolder()
        _ = try log.replay(into: target.path, progress: { _ in false })
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        #expect(throws: AppendError.self) { try log.replay(into: target.path) }
        let fresh = TemporaryFolder()
        #expect(try log.replay(into: fresh.path).isEqual)
        #expect(try rows(with: "canary", EventLog(path: fresh.path)).isEmpty)
    }

    @Test("Of persons who are erased at once, in two places, no name is left that they alone had", arguments: 0..<4)
    func atOnce(round: Int) async throws {
        let logs = try [open(indexLag: 5), open(indexLag: 5)]
        // Each name belongs to these two persons only.
        for person in 0..<24 {
            _ = try logs[0].append(
                [.customEventLogged(CustomEvent(name: Name("canary-\(person / 2)")))],
                to: .externalID("person-\(person)"))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (half, log) in logs.enumerated() {
                group.addTask {
                    for pair in 0..<12 {
                        _ = try log.erase(
                            [.externalID("person-\(2 * pair + half)")], actor: "a test", reason: "asked to")
                    }
                }
                group.addTask {
                    for _ in 0..<30 {
                        _ = try log.append(
                            [.customEventLogged(CustomEvent(name: "other"))], to: .externalID("bo"))
                    }
                }
            }
            try await group.waitForAll()
        }
        for log in try logs + [open()] {
            #expect(try rows(with: "canary", log).isEmpty)
            try log.expectSound()
            #expect(try log.replay(verify: true).isEqual)
        }
    }

    @Test(
        "A list shows that a user is erased and into which user they were merged; braze_id finds their tombstones"
    )
    func told() throws {
        let log = try open()
        try others(log)
        try live(log)
        let person = try #require(try log.find(ana))
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        for _ in 0..<2 {
            let erased = try log.users(limit: 9).filter(\.isErased)
            #expect(erased.count == 2 && erased.contains { $0.number == person.number })
            let other = try #require(try log.find(bo))
            #expect(!other.isErased)
            #expect(try log.reader.users.findErased(.assignedID(person.brazeID))?.number == person.number)
            #expect(try log.reader.users.findErased(.assignedID(other.brazeID)) == nil)
            #expect(try log.reader.users.findErased(ana) == nil)
            try log.rebuildCaches()
        }
    }

    @Test("Random persons are erased between random appends", arguments: Thoroughness.seeds(short: 4, full: 200))
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let logs = try [open(indexLag: 5), open(indexLag: 5)]
        // Whose ID may stand in the events of a user who took them over.
        var merged: Set<Int> = []
        for step in 0..<60 {
            let log = logs[random.next(below: 2)]
            let id = random.next(below: 5)
            let user = UserID.externalID("person-\(id)")
            switch random.next(below: 12) {
            case 0:
                _ = try log.erase([user], actor: "a test", reason: "seed \(seed)")
                for log in logs {
                    let rows = try merged.contains(id) ? [] : rows(with: "person-\(id)", log)
                    #expect(rows.isEmpty, "seed \(seed), step \(step)")
                    try log.expectSound()
                }
            case 1:
                let other = UserID.externalID("person-\(random.next(below: 5))")
                merged.insert(id)
                _ = try? log.commit(.identity(.merge(source: user, target: other), context: .test))
            case 2: _ = try log.launch(device: "device-\(random.next(below: 3))")
            case 3...6:
                _ = try log.append(
                    [.customEventSaved(CustomEvent(name: Name("of person-\(id)")))], to: user,
                    context: .saved(on: "device-\(random.next(below: 3))"))
            default:
                _ = try log.append(
                    [.customEventLogged(CustomEvent(name: Name("name \(random.next(below: 9))")))], to: user)
            }
        }
        for log in logs {
            try log.expectSound()
            #expect(try log.replay(verify: true).isEqual, "seed \(seed)")
        }
    }
}

extension [UInt8] {
    fileprivate func holds(_ bytes: [UInt8]) -> Bool {
        count >= bytes.count
            && (0...(count - bytes.count)).contains { self[$0..<($0 + bytes.count)].elementsEqual(bytes) }
    }
}
