import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

/// Threads of one process read while another commits and writes the index.
///
///     writer   commit (user at v) ── stores v in `acknowledged` ── index flush replaces the tail
///     reader          loads v ──────── looks for v: must see it, whatever happens to the tail
@Suite("Reads on other threads see what was acknowledged")
struct ThreadReadTests {
    @Test(
        "Reads on other threads see what was acknowledged while the index is written again and again",
        arguments: [1, 20, 50])
    func duringIndexFlushes(lag: Int) async throws {
        let problems = try await onOwnThread { try Self.run(lag) }
        #expect(problems.isEmpty, "index lag \(lag)")
    }

    private static func run(_ lag: Int) throws -> [String] {
        let scratch = try TemporaryFolder.made(prefix: "crash")
        var options = LogOptions()
        options.indexLag = lag
        options.usersPerIndexSlice = 3
        options.snapshotInterval = 4
        let log = try EventLog(path: scratch("store"), create: true, options: options)
        let user = UserID.externalID("ana")
        var receipt = try log.append([.customEventLogged(CustomEvent(name: "Opened"))], to: user)
        let acknowledged = Atomic<UInt64>(receipt.places.last?.version.rawValue ?? 0)
        let isDone = Atomic<Bool>(false)
        let problems = Mutex<[String]>([])
        let number = UserNumber(rawValue: 1)
        let readers = (0..<2).map { _ in
            Self.thread {
                while !isDone.load(ordering: .acquiring) {
                    let seen = acknowledged.load(ordering: .acquiring)
                    do {
                        let found = try Self.look(log, user, number, atLeast: seen)
                        problems.withLock { $0 += found }
                    } catch {
                        problems.withLock { $0.append("\(error)") }
                    }
                }
            }
        }
        for index in 0..<1500 {
            let name = Name("Event \(index % 7)")
            receipt = try log.append([.customEventLogged(CustomEvent(name: name))], to: user)
            acknowledged.store(receipt.places.last?.version.rawValue ?? 0, ordering: .releasing)
        }
        isDone.store(true, ordering: .releasing)
        for reader in readers { reader.wait() }
        let sound = try log.check().problems.map(\.description)
        return Array((problems.withLock { $0 } + sound).prefix(20))
    }

    private static func look(_ log: EventLog, _ user: UserID, _ number: UserNumber, atLeast seen: UInt64) throws
        -> [String]
    {
        var problems: [String] = []
        let version = try log.find(user)?.version.rawValue ?? 0
        if version < seen { problems.append("version \(version) was found after \(seen) was acknowledged") }
        let history = try log.history(of: number).map(\.version.rawValue)
        if history != Array(1...UInt64(max(1, history.count))) {
            problems.append("a history of \(history.count) has a gap")
        }
        if UInt64(history.count) < seen { problems.append("a history of \(history.count) was read after \(seen)") }
        let profile = try log.profile(of: number)
        if profile.version.rawValue < seen {
            problems.append("a profile at \(profile.version.rawValue) was read after \(seen)")
        }
        let counted = profile.events.reduce(0) { $0 + $1.occurrences.count }
        if counted + 1 != profile.version.rawValue {
            problems.append("a profile at \(profile.version.rawValue) counts \(counted)")
        }
        return problems
    }

    private static func thread(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
        let end = DispatchSemaphore(value: 0)
        let thread = Thread {
            body()
            end.signal()
        }
        thread.stackSize = 8 << 20
        thread.start()
        return end
    }
}
