import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

@Suite("Closing a log")
struct CloseTests {
    let folder = TemporaryFolder()

    @Test("A closed log refuses reads and appends; the store can be opened again, with all that it had")
    func refuses() async throws {
        let log = try folder.open()
        let writer = LogWriter(log)
        try log.append([.happened("seen")], to: .ana)
        log.close()
        log.close()
        #expect(throws: StorageError.closed) { try log.find(.ana) }
        #expect(throws: StorageError.closed) { try log.lastPosition() }
        #expect(throws: StorageError.closed) { try log.check() }
        #expect(throws: AppendError.closed) { try log.append([.happened("seen")], to: .ana) }
        #expect(throws: AppendError.closed) { try log.launch(device: "phone") }
        #expect(log.writeRefusal == .closed)
        await #expect(throws: AppendError.closed) { try await writer.append([.happened("seen")], to: .ana) }
        await writer.close()

        let again = try folder.open(create: false)
        #expect(try again.find(.ana)?.version == Version(rawValue: 2))
        try again.append([.happened("seen")], to: .ana)
        #expect(throws: StorageError.closed) { try log.find(.ana) }
        again.close()
    }

    @Test("The files of a closed log can be moved and opened elsewhere while the log is still referenced")
    func files() throws {
        let folder = try TemporaryFolder.made(prefix: "moved")
        let log = try folder.open("a")
        try log.append([.happened("seen")], to: .ana)
        log.close()
        try FileManager.default.moveItem(atPath: folder("a"), toPath: folder("b"))
        let moved = try folder.open("b", create: false)
        #expect(try moved.userCount() == 1)
        moved.close()
        #expect(throws: StorageError.closed) { try log.userCount() }
    }

    @Test("Of two logs on one store each can be closed, and the other goes on", arguments: [false, true])
    func two(closesFirst: Bool) throws {
        let first = try folder.open()
        let second = try folder.open()
        try first.append([.happened("seen")], to: .ana)
        let (closed, open) = closesFirst ? (first, second) : (second, first)
        closed.close()
        #expect(throws: StorageError.closed) { try closed.find(.ana) }
        #expect(throws: AppendError.closed) { try closed.append([.happened("seen")], to: .ana) }
        try open.append([.happened("seen")], to: .ana)
        #expect(try open.find(.ana)?.version == Version(rawValue: 3))
        open.close()
        let again = try folder.open(create: false)
        #expect(try again.find(.ana)?.version == Version(rawValue: 3))
    }

    @Test("A log is closed when its running reads have ended")
    func waits() throws {
        let log = try folder.open()
        try log.append([.happened("seen")], to: .ana)
        let hasEnded = Mutex(false)
        let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let thread = Thread {
            try? log.forEachEvent(of: .ana) { _ in
                begun.signal()
                mayEnd.wait()
                hasEnded.withLock { $0 = true }
                return false
            }
        }
        thread.start()
        begun.wait()
        let closing = Thread {
            log.close()
            #expect(hasEnded.withLock { $0 })
            begun.signal()
        }
        closing.start()
        // From here on new reads are refused, or the log is not yet being closed.
        while (try? log.lastPosition()) != nil { sched_yield() }
        #expect(!hasEnded.withLock { $0 })
        mayEnd.signal()
        begun.wait()
    }

    @Test("Reads and appends on all threads end with an error while the log is closed")
    func load() async throws {
        let log = try folder.open()
        try log.append([.happened("seen")], to: .ana)
        let errors = await withTaskGroup(of: String.self) { group in
            for task in 0..<4 {
                group.addTask {
                    do {
                        while true {
                            if task == 0 { try log.append([.happened("seen")], to: .ana) }
                            _ = try log.find(.ana)
                            await Task.yield()
                        }
                    } catch {
                        return "\(error)"
                    }
                }
            }
            group.addTask {
                try? await log.wait(for: Position(rawValue: 10))
                log.close()
                return "closed"
            }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        let known = ["closed", StorageError.closed.description, AppendError.closed.description]
        #expect(errors.isSubset(of: known), "\(errors)")
    }

    @Test("A log is not closed within a read of it: the program ends instead of waiting for itself")
    func within() async {
        await #expect(processExitsWith: .failure) {
            let folder = TestFolders.new("closed-within")
            defer { try? FileManager.default.removeItem(at: folder) }
            let log = try EventLog(path: folder.path, create: true)
            try log.append([.customEventLogged(CustomEvent(name: "seen"))], to: .externalID("ana"))
            try log.forEachEvent(of: "ana") { _ in
                log.close()
                return true
            }
        }
    }
}
