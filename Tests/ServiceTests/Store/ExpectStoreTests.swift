import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("A service that expects a store never makes one")
struct ExpectStoreTests {
    @Test(
        "Where no store is, a missing, an empty and an unfinished folder stop the start and stay as they were",
        arguments: [nil, [], ["data.mdb"], ["keys.json"]] as [[String]?])
    func missing(files: [String]?) async throws {
        let folder = try TemporaryFolder.made(.damaged, prefix: "profiled")
        if let files {
            try FileManager.default.createDirectory(at: folder.file("store"), withIntermediateDirectories: true)
            let keys = Data(#"{"format": 1, "keys": []}"#.utf8)
            for file in files { try (file == "keys.json" ? keys : Data()).write(to: folder.file("store/\(file)")) }
        }
        let outcome = try await run(["--store", "store", "--port", "0", "--expect-store"], in: folder)
        #expect(outcome.code == 1)
        #expect(outcome.errors.hasPrefix("profiled: There is no store in store, and with --expect-store"))
        #expect(outcome.errors.split(separator: "\n").count == 2, "\(outcome.errors)")
        let found = try? FileManager.default.contentsOfDirectory(atPath: folder.file("store").path)
        #expect(found == files)
    }

    @Test("The store that the first key made is served")
    func present() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        #expect(try await run(["keys", "add", "--store", "store", "--name", "app"], in: folder).code == 0)
        let service = try await Service(in: folder, arguments: ["--expect-store"])
        #expect(try await service.get("/health/ready").status == 200)
        #expect(try await service.stop() == 0)
    }

    @Test("A store for tests cannot be expected")
    func ephemeral() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let outcome = try await run(["--ephemeral", "--expect-store", "--port", "0"], in: folder)
        #expect(outcome.code == 64 && outcome.errors.contains("--expect-store has no meaning"), "\(outcome.errors)")
    }
}
