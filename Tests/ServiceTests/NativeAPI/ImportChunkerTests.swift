import ProfileLog
import ProfileLogNativeAPI
import Synchronization
import TestSupport
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

    /// The chunks of `lines`, and how many builders they took.
    private func chunks(_ lines: [String], _ log: EventLog) throws -> (chunks: [ImportChunk], builders: Int) {
        let builders = Mutex(0)
        var chunker = ImportChunker(name: "import:n", bytesPerChunk: 1 << 20) {
            builders.withLock { $0 += 1 }
            return log.prepare()
        }
        var chunks: [ImportChunk] = []
        for line in lines {
            if let chunk = try Array(line.utf8).withUnsafeBytes({ try chunker.add($0) }) { chunks.append(chunk) }
        }
        if let last = try chunker.finish() { chunks.append(last) }
        return (chunks, builders.withLock { $0 })
    }

    @Test("Lines of one key cost one builder, however many they are")
    func keyedCost() async throws {
        try await withAPI { api in
            let line = #"{"key":"k","kind":"custom_event","name":"a","user":"u"}"#
            let (chunks, builders) = try chunks(Array(repeating: line, count: 2_000), api.log)
            #expect(chunks.map(\.events) == [2_000])
            #expect(builders <= 2, "one for the key, one for the chunk")
        }
    }

    @Test("Lines that were skipped come in later, and those after them are not stored twice")
    func skippedThenTaken() async throws {
        var options = LogOptions()
        options.pendingItemsPerDevice = 2
        try await withAPI(options) { api in
            let log = api.log
            let saved = #"{"kind":"customEventSaved","user":"u","device":"d","storage":"group.app","name":"%"}"#
            let event = #"{"kind":"custom_event","user":"u","name":"%"}"#
            func run(_ forms: [String]) throws -> (tally: ImportTally, refused: [Int]) {
                let lines = forms.enumerated().map { $1.replacing("%", with: "e\($0)") }
                var tally = ImportTally()
                var refused: [Int] = []
                try tally.store(chunks(lines, log).chunks, in: log, skipping: { line, _, _ in refused.append(line) })
                return (tally, refused)
            }
            for name in ["x", "y"] {
                let body = #"{"user":"u","device":"d","app_group":"group.app","name":"\#(name)"}"#
                #expect(await api.post("/v1/save/event", body).status == 200)
            }
            let lines = [saved, saved, event, saved, event]
            let first = try run(lines)
            #expect(first.refused == [1, 2, 4] && first.tally.stored == 2 && first.tally.refused == 3)
            #expect(await api.post("/v1/devices/d/launch", "{}").status == 200)
            let second = try run(lines)
            #expect(second.refused == [4] && second.tally.stored == 2 && second.tally.skipped == 2)
            let third = try run(lines)
            #expect(third.refused == [4] && third.tally.stored == 0 && third.tally.skipped == 4)
        }
    }

    @Test("A line that alone was stored of a chunk is not stored twice without the skipping, mended or not")
    func onlyTheMiddle() async throws {
        var options = LogOptions()
        options.pendingItemsPerDevice = 4
        try await withAPI(options) { api in
            let log = api.log
            let saved = #"{"kind":"customEventSaved","user":"u","device":"d","storage":"group.app","name":"e"}"#
            let lines = [saved, saved, #"{"kind":"custom_event","user":"u","name":"good"}"#, saved, saved]
            for _ in 0..<4 {
                let body = #"{"user":"u","device":"d","app_group":"group.app","name":"x"}"#
                #expect(await api.post("/v1/save/event", body).status == 200)
            }
            var refused: [Int] = []
            var tally = ImportTally()
            try tally.store(chunks(lines, log).chunks, in: log, skipping: { line, _, _ in refused.append(line) })
            #expect(refused == [1, 2, 4, 5] && tally.stored == 1)
            tally = ImportTally()
            #expect(throws: ChunkRefusal.self) { try tally.store(chunks(lines, log).chunks, in: log) }
            #expect(await api.post("/v1/devices/d/launch", "{}").status == 200)
            // Now the device has room.
            tally = ImportTally()
            try tally.store(chunks(lines, log).chunks, in: log)
            #expect(tally.stored == 4 && tally.skipped == 1, "\(tally)")
            tally = ImportTally()
            try tally.store(chunks(lines, log).chunks, in: log)
            #expect(tally.stored == 0 && tally.skipped == 5, "\(tally)")
            let user = try #require(try log.find(.externalID("u")))
            #expect(try log.history(of: user.number, where: EventFilter(name: "good")).count == 1)
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
