import ProfileLogNativeAPI
import Testing

@testable import ProfileLogLog

@Suite("Chunks of an import")
struct ImportChunkerTests {
    @Test("A chunk is encoded by the names that are known when its first event comes")
    func names() async throws {
        try await withAPI { api in
            let log = api.log
            var chunker = ImportChunker(name: "import:n", bytesPerChunk: 1 << 20) { log.prepare() }
            let line = Array(#"{"kind":"custom_event","user":"u","name":"played","properties":{"level":7}}"#.utf8)
            var waiting: [Int] = []
            for _ in 1...2 * ImportChunker.linesPerChunk {
                guard let chunk = try line.withUnsafeBytes({ try chunker.add($0) }) else { continue }
                waiting.append(chunk.append.deferred.count)
                _ = try log.commit(chunk.append)
                // A read learns the new names.
                _ = try log.events(from: Position(rawValue: 1), limit: 1)
            }
            #expect(waiting == [ImportChunker.linesPerChunk, 0])
            let nothing = try chunker.finish()
            #expect(nothing == nil)
        }
    }

    @Test("Lines of erased persons alone are a chunk without events; blank lines are none")
    func withoutEvents() async throws {
        try await withAPI { api in
            let log = api.log
            var chunker = ImportChunker(name: "import:n", bytesPerChunk: 1 << 20) { log.prepare() }
            let lines: [(String, Int?)] = [("", nil), (#"{"kind":"customEventLogged","erased":true}"#, 1), ("  ", nil)]
            for (line, erased) in lines {
                let full = try Array(line.utf8).withUnsafeBytes { try chunker.add($0) }
                #expect(full == nil)
                let chunk = try chunker.finish()
                #expect(chunk?.erased == erased && chunk?.events == erased.map { _ in 0 })
            }
        }
    }
}
