import ProfileLog
import TestSupport
import Testing

@Suite("Devices, as an embedder uses them")
struct DeviceVerbTests {
    let folder = TemporaryFolder()

    @Test("A saved item waits until a launch, whose report says what became of it")
    func flushed() throws {
        let log = try folder.open()
        let saved = try log.append([.saved("seen")], to: .ana, context: .push(on: "phone")).last
        #expect(try log.waiting(on: "phone").map(\.position) == [saved])
        #expect(try log.outcome(of: saved) == .pending)
        let launch = try log.launch(device: "phone")
        guard case .flushed(let flush)? = launch.outcomes[saved] else {
            Issue.record("\(launch.outcomes)")
            return
        }
        #expect(flush > saved)
        #expect(launch.outcomes == [saved: .flushed(flush)])
        #expect(try log.outcome(of: saved) == .flushed(flush))
        #expect(try log.waiting(on: "phone").isEmpty)
        #expect(try log.outcome(of: flush) == nil)
    }

    @Test("An item that is flushed offline is queued until the device is online")
    func offline() throws {
        let log = try folder.open()
        let saved = try log.append([.saved("seen")], to: .ana, context: .push(on: "phone")).last
        try log.set(.online(false), on: "phone")
        #expect(try log.launch(device: "phone").outcomes == [saved: .queued])
        #expect(try log.outcome(of: saved) == .queued)
        #expect(try log.waiting(on: "phone").map(\.position) == [saved])
        let online = try log.set(.online(true), on: "phone")
        guard case .flushed(let sent) = try log.outcome(of: saved) else {
            Issue.record("the item was not sent")
            return
        }
        #expect(sent >= online.first)
        #expect(try log.waiting(on: "phone").isEmpty)
    }

    @Test("An SDK that sends on request keeps what it took until the app asks")
    func onRequest() throws {
        let log = try folder.open()
        let saved = try log.append([.saved("seen")], to: .ana, context: .push(on: "phone")).last
        try log.set(.sendsOnRequest, .sessionTimeout(seconds: 60), on: "phone")
        #expect(try log.launch(device: "phone").outcomes == [saved: .queued])
        let sent = try log.send(from: "phone")
        #expect(sent.count == 1)
        #expect(try log.outcome(of: saved) == sent.first.map { ItemOutcome.flushed($0) })
        #expect(try log.send(from: "phone").isEmpty)
    }

    @Test("Settings are as they were given, the last of two counts, and the same again change nothing")
    func settings() throws {
        let log = try folder.open()
        let defaults = try log.settings(of: "phone").all
        #expect(
            Set(defaults) == [
                .online(true), .sdkEnabled(true), .sendsEvery(seconds: 0), .sessionTimeout(seconds: 10),
            ])
        let lack = DeviceSetting.appGroup("group.app", of: "PushContent", isMissing: true)
        let given: [DeviceSetting] = [
            .online(false), .sdkEnabled(false), .sendsEvery(seconds: 7), .sessionTimeout(seconds: 3), lack,
        ]
        for setting in given { try log.set(setting, on: "phone") }
        #expect(try Set(log.settings(of: "phone").all) == Set(given))
        let before = try log.lastPosition()
        try log.set(.online(true), .online(false), lack, on: "phone")
        #expect(try log.lastPosition() == before)
        #expect(throws: AppendError.self) { try log.set(.sessionTimeout(seconds: 0), on: "phone") }
        try log.set(.appGroup("group.app", of: "PushContent", isMissing: false), on: "phone")
        #expect(try log.settings(of: "phone").all.count == 4)
        // The event has them too.
        let last = try log.event(at: log.lastPosition())
        guard case .deviceChanged(let settings)? = last?.event else {
            Issue.record("\(String(describing: last))")
            return
        }
        #expect(try settings.all == log.settings(of: "phone").all)
    }

    @Test("What an extension without the app group saves is not seen by the app, and a disabled SDK takes nothing")
    func hidden() throws {
        let log = try folder.open()
        try log.set(.appGroup("group.app", of: "PushContent", isMissing: true), .sdkEnabled(false), on: "phone")
        let hidden = try log.append([.saved("hidden")], to: .ana, context: .push(on: "phone")).last
        try log.set(.appGroup("group.app", of: "PushContent", isMissing: false), on: "phone")
        let seen = try log.append([.saved("seen")], to: .ana, context: .push(on: "phone")).last
        #expect(try log.launch(device: "phone").outcomes.isEmpty)
        try log.set(.sdkEnabled(true), on: "phone")
        #expect(try Array(log.launch(device: "phone").outcomes.keys) == [seen])
        #expect(try log.outcome(of: hidden) == .pending)
    }

    @Test("An item that the SDK rejects says why, and is saved again corrected")
    func rejected() throws {
        let log = try folder.open()
        // The library's own saves are checked; a device may hold what the SDK will not take.
        var context = EventContext.push(on: "phone")
        context.source = .import
        func email(_ text: String) -> ProfileEvent { .userAttributeSaved(UserAttributeChange(.email, .string(text))) }
        let saved = try log.append([email("none")], to: .ana, context: context).last
        let launch = try log.launch(device: "phone")
        guard case .rejected(_, let reason)? = launch.outcomes[saved] else {
            Issue.record("\(launch.outcomes)")
            return
        }
        #expect(!reason.isEmpty)
        #expect(try log.outcome(of: saved) == launch.outcomes[saved])
        let retried = try log.retry(saved, as: email("ana@example.com"))
        #expect(try log.waiting(on: "phone").map(\.position) == [retried.last])
        #expect(try log.retry(saved, as: email("ana@example.com")).isRepetition)
        let second = try log.launch(device: "phone")
        guard case .flushed? = second.outcomes[retried.last] else {
            Issue.record("\(second.outcomes)")
            return
        }
        #expect(second.outcomes.count == 1)
    }

    @Test("An item that is discarded never takes effect")
    func discarded() throws {
        let log = try folder.open()
        let saved = try (0..<2).map { _ in
            try log.append([.saved("seen")], to: .ana, context: .push(on: "phone")).last
        }
        let receipt = try log.discard([saved[0]], on: "phone", actor: "ops", reason: "a test")
        #expect(try log.outcome(of: saved[0]) == .discarded(receipt.last, actor: "ops", reason: "a test"))
        let launch = try log.launch(device: "phone")
        #expect(Set(launch.outcomes.keys) == [saved[1]])
    }

    @Test("A device has the user who was put on it, until they log out")
    func users() throws {
        let log = try folder.open()
        try log.append([.saved("seen")], to: .ana, context: .push(on: "phone"))
        try log.launch(device: "phone")
        try log.changeUser(on: "phone", to: .bo)
        #expect(try log.find(.device("phone"))?.number == log.find(.bo)?.number)
        let receipt = try log.logOut(on: "phone")
        #expect(receipt.last >= receipt.first)
    }

    @Test("Identities change as one is told: aliases, a new external ID, a merge; a key makes that happen once")
    func identities() throws {
        let log = try folder.open()
        for user in [UserID.ana, .bo] { try log.append([.happened("seen")], to: user) }
        let alias = UserID.alias(label: "crm", name: "7")
        try log.change(.addAlias(alias: alias, user: .ana))
        #expect(try log.find(alias) == log.find(.ana))
        try log.change(.renameExternalID(current: .ana, newID: .externalID("ana-2")))
        #expect(try log.find(.externalID("ana-2")) == log.find(.ana))
        let merge = IdentityChange.merge(source: .ana, target: .bo)
        let first = try log.change(merge, idempotencyKey: "merge")
        #expect(try log.find(alias)?.number == log.find(.bo)?.number)
        let again = try log.change(merge, idempotencyKey: "merge")
        #expect(again.isRepetition)
        #expect(again.last == first.last)
        #expect(throws: AppendError.keyReused(position: first.first)) {
            try log.change(.merge(source: .bo, target: .ana), idempotencyKey: "merge")
        }
    }
}
