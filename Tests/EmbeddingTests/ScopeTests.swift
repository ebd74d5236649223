import Foundation
import TestSupport
import Testing

/// The wrong scope is an error of the compiler.
@Suite("A projection is read by its own scope only")
struct ScopeTests {
    private static let projections = """
        import ProfileLog
        enum ByUser: UserProjection {
            static let name = "by-user"
            static let revision: UInt32 = 1
            static let initial = 0
            static func apply(_ event: borrowing EventView, to state: inout Int) {}
        }
        enum OverStore: StoreProjection {
            static let name = "over-store"
            static let revision: UInt32 = 1
            static let initial = 0
            static func apply(_ event: borrowing EventView, to state: inout Int) {}
        }

        """

    /// The errors of the compiler in `code`.
    private func errors(in code: String) throws -> String {
        let folder = try TemporaryFolder.made(prefix: "scope")
        let (file, output) = (folder.file("code.swift"), folder.file("output"))
        try (Self.projections + code).write(to: file, atomically: true, encoding: .utf8)
        let modules = ChildProcess.built("profilecli").deletingLastPathComponent()
        let maps = try FileManager.default.subpathsOfDirectory(atPath: Repository.file("Sources").path)
            .filter { $0.hasSuffix("module.modulemap") && $0.contains("ProfileLog/") || $0.hasPrefix("CLMDB/module") }
            .map { "-fmodule-map-file=" + Repository.file("Sources/" + $0).path }
        let crc = modules.appending(path: "CCRC32C.build/module.modulemap").path
        let arguments =
            ["swiftc", "-typecheck", "-swift-version", "6", "-I", modules.appending(path: "Modules").path]
            + (maps + ["-fmodule-map-file=" + crc]).flatMap { ["-Xcc", $0] } + [file.path]
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/env"), arguments, output: .file(output), errors: .file(output))
        _ = process.waitForEnd()
        return try String(contentsOf: output, encoding: .utf8)
    }

    @Test("A read by the right scope compiles")
    func right() throws {
        let found = try errors(
            in: """
                func read(_ log: EventLog) throws -> Int {
                    try log.state(of: ByUser.self, for: "ana") + log.state(of: OverStore.self)
                }
                """)
        #expect(!found.contains("error:"), "\(found)")
    }

    @Test(
        "A read by another scope does not compile, nor does a projection of two scopes",
        arguments: [
            (
                "func read(_ log: EventLog) throws -> Int { try log.state(of: OverStore.self, for: \"ana\") }",
                "UserProjection"
            ),
            (
                "func read(_ log: EventLog) throws -> Int { try log.state(of: ByUser.self) }",
                "StoreProjection"
            ),
            ("extension ByUser: StoreProjection {}", "error:"),
        ])
    func wrong(code: String, word: String) throws {
        let found = try errors(in: code)
        #expect(found.contains("error:") && found.contains(word), "\(found)")
    }
}
