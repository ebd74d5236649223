import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogLog

@Suite("A flush of more than one chunk numbers them 0, 1, 2 … within the launch and the user")
struct FlushChunkTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    /// Three items in a chunk.
    private func open() throws -> EventLog {
        try folder.open(options: .small(clock))
    }

    private func save(_ count: Int, _ user: UserID, _ log: EventLog, on device: String = "d") throws {
        for _ in 0..<count {
            _ = try log.append(
                [.customEventSaved(CustomEvent(name: "a"))], to: user, context: .saved(on: device))
        }
    }

    private func flush(_ limit: Int = 3) -> PreparedAppend {
        PreparedAppend(.device("d", .flush(.init(limit: limit)), .test))
    }

    private struct Chunk: Equatable {
        let launch: UInt64
        let chunk: UInt32
        let items: Int

        init(_ launch: Position, _ chunk: UInt32, _ items: Int) {
            self.launch = launch.rawValue
            self.chunk = chunk
            self.items = items
        }
    }

    private func chunks(_ log: EventLog, of user: String) throws -> [Chunk] {
        let number = try #require(try log.find(.externalID(user))).number
        return try log.history(of: number).compactMap { event in
            guard case .pendingFlushed(let flush) = event.event else { return nil }
            return Chunk(flush.launch, flush.chunk, flush.flushed.count)
        }
    }

    @Test("In one launch, and from 0 again in the next")
    func oneLaunch() throws {
        let log = try open()
        try save(8, .externalID("ana"), log)
        let first = try log.launch(device: "d").position
        try save(4, .externalID("ana"), log)
        let second = try log.launch(device: "d").position
        #expect(
            try chunks(log, of: "ana") == [
                .init(first, 0, 3), .init(first, 1, 3), .init(first, 2, 2), .init(second, 0, 3), .init(second, 1, 1),
            ])
    }

    @Test("Each user of a launch has chunks of their own")
    func users() throws {
        let log = try open()
        try save(4, .externalID("ana"), log)
        try save(5, .externalID("bo"), log)
        let launch = try log.launch(device: "d").position
        #expect(try chunks(log, of: "ana") == [.init(launch, 0, 3), .init(launch, 1, 1)])
        #expect(try chunks(log, of: "bo") == [.init(launch, 0, 3), .init(launch, 1, 2)])
    }

    @Test("After a launch that died in between, the chunks go on where it stopped", arguments: 0...3, [false, true])
    func died(done: Int, indexed: Bool) throws {
        var log = try open()
        try save(10, .externalID("ana"), log)
        let launch = try log.launch(device: "d", dyingAfter: .launched, context: .test).position
        for _ in 0..<done { _ = try log.commit(flush()) }
        if indexed { try log.writeIndex() }
        log = try open()
        try save(2, .externalID("ana"), log)
        let next = try log.launch(device: "d")
        #expect(next.finished.count == 4 - done)
        #expect(
            try chunks(log, of: "ana") == [
                .init(launch, 0, 3), .init(launch, 1, 3), .init(launch, 2, 3), .init(launch, 3, 1),
                .init(next.position, 0, 2),
            ])
        #expect(try log.replay(verify: true).isEqual)
    }

    @Test("Chunks go on however much the user did since the last one", arguments: [126, 127, 128, 129, 300])
    func farBehind(events: Int) throws {
        let log = try open()
        try save(8, .externalID("ana"), log)
        let launch = try log.launch(device: "d", dyingAfter: .launched, context: .test).position
        _ = try log.commit(flush())
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "b"))
        _ = try log.append(Array(repeating: event, count: events), to: .externalID("ana"))
        _ = try log.commit(flush())
        _ = try log.commit(flush())
        #expect(try chunks(log, of: "ana") == [.init(launch, 0, 3), .init(launch, 1, 3), .init(launch, 2, 2)])
    }

    @Test("Chunks are numbered when one commit holds several")
    func oneCommit() throws {
        let log = try open()
        try save(7, .externalID("ana"), log)
        let launch = try log.launch(device: "d", dyingAfter: .launched, context: .test).position
        let answers = try log.commit([flush(), flush(), flush(), flush()]).map { try $0.get().places.count }
        #expect(answers == [1, 1, 1, 0])
        #expect(try chunks(log, of: "ana") == [.init(launch, 0, 3), .init(launch, 1, 3), .init(launch, 2, 1)])
    }

    @Test("The launch of another device between two chunks is not theirs")
    func otherDevice() throws {
        let log = try open()
        try save(6, .externalID("ana"), log)
        try save(4, .externalID("ana"), log, on: "other")
        let launch = try log.launch(device: "d", dyingAfter: .launched, context: .test).position
        _ = try log.commit(flush())
        let other = try log.launch(device: "other").position
        _ = try log.commit(flush())
        #expect(
            try chunks(log, of: "ana") == [
                .init(launch, 0, 3), .init(other, 0, 3), .init(other, 1, 1), .init(launch, 1, 3),
            ])
    }
}
