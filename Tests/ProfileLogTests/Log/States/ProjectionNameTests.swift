import ProfileLog
import TestSupport
import Testing

/// A projection with the name of its parameter.
private protocol NothingKept: Projection where State == UInt64 {}

extension NothingKept {
    static var revision: UInt32 { 1 }
    static var initial: UInt64 { 0 }
    static func apply(_ event: borrowing EventView, to state: inout UInt64) { state += 1 }
    static func encode(_ state: UInt64) -> [UInt8] { [] }
    static func decode(_ bytes: UnsafeRawBufferPointer) -> UInt64? { nil }
}

private enum NamedIndex: NothingKept, StoreProjection { static let name = "index" }
private enum NamedFlush: NothingKept, StoreProjection { static let name = "flush" }
private enum Nameless: NothingKept, StoreProjection { static let name = "" }
private enum LongName: NothingKept, StoreProjection { static let name = String(repeating: "n", count: 65) }
private enum LongestName: NothingKept, StoreProjection { static let name = String(repeating: "n", count: 64) }
private enum NamedProfile: NothingKept, StoreProjection { static let name = "profile" }
private enum NamedCatalogue: NothingKept, StoreProjection { static let name = "catalogue" }
private enum NamedTwin: NothingKept, StoreProjection { static let name = "twin" }
private enum OtherTwin: NothingKept, UserProjection { static let name = "twin" }
private enum NamelessByUser: NothingKept, UserProjection { static let name = "" }
private enum LongNameByUser: NothingKept, UserProjection { static let name = String(repeating: "n", count: 300) }
private enum NamedPending: NothingKept, DeviceProjection { static let name = "pending" }
private enum OfDevice: NothingKept, DeviceProjection { static let name = "by-device" }
private enum WithoutScope: NothingKept {
    typealias Key = Int
    static let name = "without-scope"
}
private enum NamedUsage: NothingKept, UserProjection { static let name = "usage" }

@Suite("A projection's name is a key of its own")
struct ProjectionNameTests {
    let folder = TemporaryFolder()

    @Test("A projection's name that the caches use, and one that does not fit, are refused")
    func refused() throws {
        for projection in [
            NamedIndex.self, NamedFlush.self, NamedPending.self, Nameless.self, LongName.self, WithoutScope.self,
        ] as [any Projection.Type] {
            #expect(throws: AppendError.self) {
                try folder.open(projections: [projection])
            }
        }
        let log = try folder.open(projections: [LongestName.self])
        _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("ana"))
        #expect(throws: AppendError.self) { try log.state(overStore: NamedIndex.self) }
    }

    @Test("Two projections of one name, or one with a name of ours, are refused")
    func shared() throws {
        for projections in [
            [NamedTwin.self, OtherTwin.self], [ProfileProjection.self, ProfileProjection.self],
            [ProfileProjection.self, NamedCatalogue.self], [NamedProfile.self],
        ] as [[any Projection.Type]] {
            #expect(throws: AppendError.self) {
                try folder.open(projections: projections)
            }
        }
        #expect(throws: StorageError.noStore(path: folder.path)) { try EventLog(path: folder.path) }
        let own: [any Projection.Type] = [
            ProfileProjection.self, UsageProjection.self, CatalogueProjection.self, SourceProjection.self,
            NamedTwin.self, OfDevice.self,
        ]
        try folder.open(projections: own).expectSound()
    }

    @Test("Every read and write of a state checks its name, so that no erasure meets a malformed key")
    func kept() throws {
        let log = try folder.open(options: .small(TestClock()))
        for _ in 0..<110 {
            let events = Array(repeating: ProfileEvent.customEventLogged(CustomEvent(name: "a")), count: 10)
            _ = try log.append(events, to: .externalID("ana"))
        }
        let ana = try #require(try log.find(.externalID("ana"))).number
        func expectRefused<P: UserProjection>(_: P.Type) {
            #expect(throws: AppendError.self) { try log.states.keptState(P.self, of: ana) }
            #expect(throws: AppendError.self) { try log.state(P.self, of: ana) }
        }
        expectRefused(NamelessByUser.self)
        expectRefused(LongNameByUser.self)
        expectRefused(NamedUsage.self)
        _ = try log.erase([.externalID("ana")], actor: "a test", reason: "asked to")
    }
}
