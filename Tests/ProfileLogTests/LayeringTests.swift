import Foundation
import Testing

/// What the borders between targets cannot show. That a room uses only the rooms below it, the compiler shows.
@Suite("Rooms")
struct LayeringTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources")

    private func files(_ folder: String) throws -> [(name: String, text: String)] {
        let root = Self.sources.appendingPathComponent(folder)
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { $0.hasSuffix(".swift") }.map { path in
            (folder + "/" + path, try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8))
        }
    }

    @Test("Only Store imports LMDB")
    func storage() throws {
        for file in try files("ProfileLog") where !file.name.contains("/Store/") {
            #expect(!file.text.contains("import CLMDB"), "\(file.name)")
        }
    }

    @Test("The pure rooms import neither Foundation nor threads", arguments: ["Facts", "Records", "Folds"])
    func pure(folder: String) throws {
        for file in try files("ProfileLog/" + folder) {
            for word in ["import Foundation", "import Dispatch", "import Synchronization"] {
                #expect(!file.text.contains(word), "\(file.name) has \(word)")
            }
        }
    }

    @Test("Only the programs know HTTP and terminals")
    func rims() throws {
        for file in try files("ProfileLog") + files("ProfileLogAPI") {
            for word in ["import Hummingbird", "import ArgumentParser", "import NIO", "isatty"] {
                #expect(!file.text.contains(word), "\(file.name) has \(word)")
            }
        }
    }
}
