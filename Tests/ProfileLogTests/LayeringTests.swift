import Foundation
import Testing

@Suite("Uses go one way")
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

    @Test("Only Store knows LMDB, and unchecked sendability is explained where it stands")
    func storage() throws {
        for file in try files("ProfileLog") where !file.name.contains("/Store/") {
            #expect(!file.text.contains("import CLMDB"), "\(file.name)")
        }
    }

    @Test(
        "The pure folders touch neither storage, disk, clock nor network",
        arguments: ["Facts", "Records", "Folds", "Guide"])
    func pure(folder: String) throws {
        let words = ["ReadTransaction", "WriteTransaction", "import Foundation", "EventLog("]
        for file in try files("ProfileLog/" + folder) {
            let code = file.text.split(separator: "\n").filter { !$0.contains("///") }.joined(separator: "\n")
            for word in words { #expect(!code.contains(word), "\(file.name) has \(word)") }
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
