import Foundation
import ProfileLog
import TestSupport
import Testing

/// A twin is a copy that was used on its own: it may have as many commits as the store, so that no count tells them
/// apart.
@Suite("A twin in place of a store")
struct TwinTests {
    let clock = TestClock()

    private func append(_ name: Name, to user: UserID, in store: String) throws {
        let log = try EventLog(path: store, create: true, options: .small(clock))
        _ = try log.append([.customEventLogged(CustomEvent(name: name))], to: user)
        log.close()
    }

    @Test("The first write of a program finds that a twin was put in place of the file that it opened")
    func firstWrite() throws {
        let folder = try TemporaryFolder.made(.damaged, prefix: "twin")
        let (store, twin) = (folder("store"), folder("twin"))
        try append("a", to: .externalID("ana"), in: store)
        try FileManager.default.createDirectory(atPath: twin, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: store + "/data.mdb", toPath: twin + "/data.mdb")
        try append("b", to: .externalID("ana"), in: store)
        try append("c", to: .externalID("bo"), in: twin)
        let bytes = try Data(contentsOf: URL(filePath: twin + "/data.mdb"))

        let log = try EventLog(path: store, create: false, options: .small(clock))
        #expect(try log.find(.externalID("ana"))?.version.rawValue == 3)
        // In place, as `cp` does it.
        let file = try FileHandle(forWritingTo: URL(filePath: store + "/data.mdb"))
        try file.write(contentsOf: bytes)
        try file.close()
        #expect(throws: (any Error).self) {
            _ = try log.append([.customEventLogged(CustomEvent(name: "d"))], to: .externalID("ana"))
        }
        log.close()
        let now = try EventLog(path: store, create: false, options: .small(clock))
        #expect(try now.find(.externalID("ana"))?.version.rawValue == 2)
        #expect(try now.find(.externalID("bo"))?.version.rawValue == 2)
        now.close()
    }
}
