import Glibc
import ProfileLog
import Synchronization

/// A process that stops in the middle of a transaction, until it is killed.
enum HoldRun {
    private static let isCommitting = Atomic(false)

    /// Stops in a read transaction.
    static func read(store: String) throws {
        try TableWalk.readThrough(path: store) { _ in hold() }
    }

    /// Stays in a read until a line comes. Then it ends the read, and begins another one.
    static func readUntilTold(store: String) throws {
        let log = try EventLog(path: store)
        try log.withReader { _ in
            Report.line("holds")
            _ = readLine()
        }
        Report.line("ended")
        do {
            try log.withReader { _ in Report.line("read again") }
        } catch StorageError.filesChanged {
            Report.line("refused")
        }
    }

    /// Stops in a write transaction, with LMDB's write lock.
    static func write(store: String) throws {
        var options = LogOptions()
        options.now = {
            // A commit asks for the time while it decides.
            if isCommitting.load(ordering: .relaxed) { hold() }
            return Timestamp.now()
        }
        let log = try EventLog(path: store, options: options)
        isCommitting.store(true, ordering: .relaxed)
        _ = try log.commit(Recipe(seed: 0, round: 0, append: 1).prepare(for: log))
    }

    private static func hold() -> Never {
        Report.line("holds")
        while true { pause() }
    }
}
