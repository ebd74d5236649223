import ProfileLog
import TestSupport
import Testing

/// The number of items that wait on a device.
private enum ItemsWaiting: DeviceProjection {
    static let name = "items"
    static let revision: UInt32 = 1
    static var initial: Int { 0 }

    static func applyWaiting(_ item: borrowing EventView, to count: inout Int) { count += 1 }
    static func apply(_ event: borrowing EventView, to count: inout Int) {
        if event.effect != event.position { count -= 1 }
    }
    static func encode(_ count: Int) -> [UInt8] { Array("\(count)".utf8) }
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Int? { Int(String(decoding: bytes, as: UTF8.self)) }
}

@Suite("A projection is folded by what it says: user, device, or the whole store")
struct ScopeTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func filled() throws -> EventLog {
        let log = try folder.open(options: .small(clock))
        for index in 0..<40 {
            let user = UserID.externalID("u\(index % 7)")
            _ = try log.append(
                [.customEventSaved(CustomEvent(name: "s"))], to: user, context: .saved(on: "d\(index % 5)"))
            _ = try log.append([.customEventLogged(CustomEvent(name: "e"))], to: user)
        }
        return log
    }

    private func digest<P: Projection>(_: P.Type, _ log: EventLog, threads: Int = 1) throws -> String {
        let replayer = Replayer<P>(log, threads: threads)
        try replayer.run()
        return replayer.digest()
    }

    private func expectDigest<P: Projection>(of _: P.Type, _ log: EventLog) throws {
        let digest = try digest(P.self, log)
        #expect(try self.digest(P.self, log, threads: 4) == digest)
        #expect(try self.digest(P.self, log, threads: 3) == digest)
        _ = try log.append(
            [.customEventSaved(CustomEvent(name: "s"))], to: .externalID("u1"), context: .saved(on: "d1"))
        _ = try log.append([.customEventLogged(CustomEvent(name: "e"))], to: .externalID("u1"))
        #expect(try self.digest(P.self, log) != digest)
    }

    @Test("Equal folds have equal digests, on however many threads; one more event makes another")
    func digests() throws {
        let log = try filled()
        try expectDigest(of: ProfileProjection.self, log)
        try expectDigest(of: UsageProjection.self, log)
        try expectDigest(of: ItemsWaiting.self, log)
        try expectDigest(of: CatalogueProjection.self, log)
    }

    @Test("Users are told of in folds by user alone")
    func users() throws {
        let log = try filled()
        let byDevice = Replayer<ItemsWaiting>(log, threads: 2)
        try byDevice.run()
        byDevice.forEachUser { user, _, _ in Issue.record("user \(user)") }
        #expect(byDevice.devices.count == 5)
        let overStore = Replayer<CatalogueProjection>(log, threads: 2)
        try overStore.run()
        overStore.forEachUser { user, _, _ in Issue.record("user \(user)") }
        #expect(overStore.devices.isEmpty)
        #expect(try log.state(ItemsWaiting.self, onDevice: "d1") == 8)
        let byUser = Replayer<ProfileProjection>(log, threads: 2)
        try byUser.run()
        var users = 0
        byUser.forEachUser { _, _, _ in users += 1 }
        #expect(users == 7)
    }

    @Test("Devices whose IDs differ in their Unicode form alone are two")
    func normalForms() throws {
        let log = try folder.open(options: .small(clock))
        for device in ["\u{E9}", "e\u{301}"] {
            _ = try log.append(
                [.customEventSaved(CustomEvent(name: "s"))], to: .externalID("u"), context: .saved(on: device))
        }
        _ = try log.launch(device: "\u{E9}")
        for threads in [1, 4] {
            let replayer = Replayer<ItemsWaiting>(log, threads: threads)
            try replayer.run()
            #expect(replayer.devices.count == 2)
            #expect(replayer.devices.values.sorted() == [0, 1])
        }
        let report = try log.replay(verify: true)
        #expect(report.isEqual && report.devices == 2)
        #expect(Set(try log.reader.devices.all()).count == 2)
    }

    @Test("A context or a device with another Unicode form is another one")
    func comparisons() throws {
        let log = try folder.open(options: .small(clock))
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        func context(_ device: String?, _ item: String?, _ app: String?) -> EventContext {
            EventContext(source: .app, device: device, item: item, app: app)
        }
        #expect(context(composed, nil, nil) != context(decomposed, nil, nil))
        #expect(context(nil, composed, nil) != context(nil, decomposed, nil))
        #expect(context(nil, nil, composed) != context(nil, nil, decomposed))
        #expect(context(composed, composed, composed) == context(composed, composed, composed))
        #expect(context(composed, nil, nil) != context(nil, nil, nil))
        for device in [composed, decomposed] {
            _ = try log.append(
                [.customEventSaved(CustomEvent(name: "s"))], to: .externalID("u"), context: .saved(on: device))
        }
        let devices = try log.reader.devices.all()
        #expect(devices.count == 2 && devices[0] != devices[1])
    }
}
