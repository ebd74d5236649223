import Testing

@testable import ProfileLog

/// A projection whose name is that of its parameter.
private protocol NothingKept: Projection where State == UInt64 {}

extension NothingKept {
    static var revision: UInt32 { 1 }
    static var scope: ProjectionScope { .store }
    static var initial: UInt64 { 0 }
    static func apply(_ event: borrowing EventView, to state: inout UInt64) { state += 1 }
    static func encode(_ state: UInt64) -> [UInt8] { [] }
    static func decode(_ bytes: UnsafeRawBufferPointer) -> UInt64? { nil }
}

private enum NamedIndex: NothingKept { static let name = "index" }
private enum NamedFlush: NothingKept { static let name = "flush" }
private enum Nameless: NothingKept { static let name = "" }
private enum LongName: NothingKept { static let name = String(repeating: "n", count: 65) }
private enum LongestName: NothingKept { static let name = String(repeating: "n", count: 64) }

@Suite("A projection's name is a key of its own")
struct ProjectionNameTests {
    let folder = TemporaryFolder()

    @Test("One that the caches use, and one that does not fit, are refused")
    func refused() throws {
        for projection in [NamedIndex.self, NamedFlush.self, Nameless.self, LongName.self] as [any Projection.Type] {
            #expect(throws: AppendError.self) {
                try EventLog(path: folder.path, create: true, projections: [projection])
            }
        }
        let log = try EventLog(path: folder.path, create: true, projections: [LongestName.self])
        _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("ana"))
        #expect(throws: AppendError.self) { try log.state(overStore: NamedIndex.self) }
        try log.expectSound()
    }
}
