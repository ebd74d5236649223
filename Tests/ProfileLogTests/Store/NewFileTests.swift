import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("Files that are made in the folder of another user")
struct NewFileTests {
    @Test("A file is made once and opened again")
    func again() throws {
        let folder = try TemporaryFolder.made(prefix: "owner")
        let file = folder("lock")
        for _ in 0..<2 {
            let descriptor = FolderOwner.open(file, O_RDWR, 0o600, in: folder.path)
            #expect(descriptor >= 0)
            close(descriptor)
        }
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("Root makes no file where a link of the folder's owner leads", .enabled(if: geteuid() == 0))
    func link() throws {
        let folder = try TemporaryFolder.made(prefix: "owner")
        let (link, elsewhere) = (folder("link"), folder("elsewhere"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: elsewhere)
        #expect(FolderOwner.open(link, O_RDWR, 0o600, in: folder.path) == -1)
        #expect(!FileManager.default.fileExists(atPath: elsewhere))
    }
}
