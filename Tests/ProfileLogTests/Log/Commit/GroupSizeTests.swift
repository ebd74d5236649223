import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("What waits together is stored, however much it is, and what waits is bounded")
struct GroupSizeTests {
    let folder = TemporaryFolder()

    private func append(_ log: EventLog, _ user: String, megabytes: Int) throws -> PreparedAppend {
        var builder = log.prepare()
        let text = String(repeating: "x", count: 1 << 19)
        for _ in 0..<(2 * megabytes) {
            let event = CustomEvent(name: "large", properties: [.init("text", .string(text))])
            try builder.add(.customEventLogged(event), EventContext(source: .rest), to: .externalID(user))
        }
        return try builder.finish()
    }

    /// Has the writer's thread wait for `gate`; returns when it does.
    private func block(_ writer: LogWriter, until gate: DispatchSemaphore) async -> Task<Void, any Error> {
        let (stream, begun) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await writer.perform { _ in
                begun.finish()
                gate.wait()
            }
        }
        for await _ in stream {}
        return task
    }

    @Test("More than one commit holds is stored by several", .hits(.commitFull), arguments: [false, true])
    func several(namesAreKnown: Bool) throws {
        let log = try folder.open()
        if namesAreKnown { _ = try log.commit(append(log, "ana", megabytes: 1)) }
        let appends = try (0..<4).map { try append(log, "user \($0)", megabytes: 20) }
        for answer in log.commit(appends) { _ = try answer.get() }
        #expect(try log.userCount() == (namesAreKnown ? 5 : 4))
    }

    @Test("An append is too large whether its names have numbers or not")
    func tooLarge() throws {
        let log = try folder.open()
        #expect(throws: AppendError.tooLarge(limit: "\(Limits.bytesPerAppend) bytes")) {
            _ = try append(log, "ana", megabytes: 34)
        }
    }

    @Test(
        "The writer refuses what would make more wait than it may hold, and goes on", .hits(.writerFull),
        .timeLimit(.minutes(15)))
    func boundedBytes() async throws {
        let log = try folder.open()
        let writer = LogWriter(log, capacityBytes: 5 << 20)
        let append = try append(log, "ana", megabytes: 3)
        let gate = DispatchSemaphore(value: 0)
        let blocked = await block(writer, until: gate)
        let answers = await withTaskGroup(of: Result<AppendReceipt, AppendError>.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    do throws(AppendError) { return .success(try await writer.commit(append)) } catch {
                        return .failure(error)
                    }
                }
            }
            var answers: [Result<AppendReceipt, AppendError>] = []
            for await answer in group {
                // The refused one is answered first: the other waits at the gate.
                if answers.isEmpty { gate.signal() }
                answers.append(answer)
            }
            return answers
        }
        try await blocked.value
        if case .failure(.overloaded) = answers[0] {} else { Issue.record("\(answers[0])") }
        _ = try answers[1].get()
        await writer.close()
    }

    @Test("The writer stores more than a commit holds", .hits(.writerTookPart), .timeLimit(.minutes(15)))
    func writer() async throws {
        let log = try folder.open()
        let writer = LogWriter(log)
        let appends = try (0..<4).map { try append(log, "user \($0)", megabytes: 20) }
        let gate = DispatchSemaphore(value: 0)
        let blocked = await block(writer, until: gate)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for append in appends { group.addTask { _ = try await writer.commit(append) } }
            group.addTask { gate.signal() }
            try await group.waitForAll()
        }
        try await blocked.value
        await writer.close()
        #expect(try log.userCount() == 4)
    }

    @Test("A writer that was closed refuses appends", .hits(.writerClosed))
    func closed() async throws {
        let log = try folder.open()
        let writer = LogWriter(log)
        await writer.close()
        let append = try append(log, "ana", megabytes: 1)
        await #expect(throws: AppendError.closed) { try await writer.commit(append) }
    }
}
