internal import ArgumentParser
internal import Foundation
internal import ProfileLog
internal import ProfileLogBackup
internal import ProfileLogNativeAPI
internal import ProfileLogRequests
internal import Synchronization

/// Copies of a store for nodes that join its cluster: the archive of a whole backup, with the files of settings that
/// nodes share.
struct StoreCopies: StoreCopying {
    /// The file of the keys, and that of the workspace.
    let keys: String
    let workspace: String?

    func copy(of log: EventLog) -> any APIAnswer.Stream { CopyStream(of: log, self) }
}

/// A copy of a store while it is sent. A backup writes it on a thread of its own, which waits until each part is taken:
/// in memory are two segments of the log and two parts. The thread begins with the first part.
private final class CopyStream: APIAnswer.Stream {
    let mediaType = "application/x-tar"
    private let log: EventLog
    private let copies: StoreCopies
    private let parts = Mutex<PartQueue?>(nil)

    init(of log: EventLog, _ copies: StoreCopies) { (self.log, self.copies) = (log, copies) }

    deinit { parts.withLock { $0 }?.abandon() }

    func next() throws -> [UInt8]? {
        let parts = self.parts.withLock { parts -> PartQueue in
            if let begun = parts { return begun }
            let begun = PartQueue()
            parts = begun
            startThread("copy") { [log, copies] in
                BackupRun.yieldToWriters()
                begun.end(with: Result { try Self.write(log, copies, into: begun) })
            }
            return begun
        }
        return try parts.take()
    }

    private static func write(_ log: EventLog, _ copies: StoreCopies, into parts: PartQueue) throws {
        // A person who is erased while it runs is in the older of two files; the node that joins removes both.
        let archive = BackupArchive(modified: .now(), holdsOldGenerations: true) { try parts.put($0) }
        var run = BackupRun(log: log, target: archive)
        run.program = Profiled.version
        // The configuration is this node's own.
        run.settings = BackupPlan.settings(keys: copies.keys, workspace: copies.workspace)
        _ = try run.run()
    }
}

/// Hands parts from the thread that makes them to the one that sends them: one waits at most.
private final class PartQueue: Sendable {
    /// The reader has gone.
    private struct Abandoned: Error {}

    private struct State {
        var part: [UInt8]?
        var end: Result<Void, any Error>?
        var isAbandoned = false
    }

    private let state = Mutex(State())
    /// Counts the places for a part, and the parts or ends to take. Both begin with 0: a semaphore must not end below
    /// the value with which it was made.
    private let places = DispatchSemaphore(value: 0)
    private let ready = DispatchSemaphore(value: 0)

    init() { places.signal() }

    /// Gives a part, when the one before was taken. Throws if no reader takes parts any more.
    func put(_ part: [UInt8]) throws {
        places.wait()
        try state.withLock { state in
            if state.isAbandoned { throw Abandoned() }
            state.part = part
        }
        ready.signal()
    }

    func end(with result: Result<Void, any Error>) {
        state.withLock { $0.end = result }
        ready.signal()
    }

    /// The next part; nil at the end. Throws the error that ended the parts.
    func take() throws -> [UInt8]? {
        ready.wait()
        let part = state.withLock { state -> [UInt8]? in
            defer { state.part = nil }
            return state.part
        }
        if let part {
            places.signal()
            return part
        }
        ready.signal()  // the end stays
        try state.withLock { $0.end }?.get()
        return nil
    }

    func abandon() {
        state.withLock { $0.isAbandoned = true }
        places.signal()
    }
}
