internal import Foundation
internal import Synchronization

/// The keys that are valid now: every 20 ms a request looks whether the file is still the one that was read.
final class KeyRing: Sendable {
    /// Which version of the file it is: every change makes a new one.
    private struct Stamp: Equatable {
        var inode: UInt64
        var seconds: Int
        var nanoseconds: Int
        var bytes: Int

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            inode = UInt64(status.st_ino)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
            bytes = Int(status.st_size)
        }
    }

    private struct State {
        var stamp: Stamp?
        var nextLook = ContinuousClock.now
        var keys: [String: StoredKey] = [:]
        /// Whether requests need a key. Never becomes false again: a file that is gone opens no door.
        var isClosed: Bool
    }

    private static let lookInterval = Duration.milliseconds(20)

    private let file: KeyFile?
    private let state: Mutex<State>

    /// The keys of `file`; without one, or as long as it does not exist, nobody needs a key, unless `isClosed`.
    init(_ file: KeyFile?, isClosed: Bool) {
        self.file = file
        state = Mutex(State(stamp: nil, isClosed: isClosed))
    }

    /// Whether requests need a key.
    var isClosed: Bool { current { $0.isClosed } }

    /// The key behind `text`; nil if it is none, or was revoked.
    func key(_ text: String) -> StoredKey? {
        guard let key = APIKey(text), let stored = current({ $0.keys[key.id] }), stored.matches(key) else { return nil }
        return stored
    }

    private func current<Result: Sendable>(_ read: (State) -> Result) -> Result {
        state.withLock { state in
            let now = ContinuousClock.now
            guard let file, now >= state.nextLook else { return read(state) }
            state.nextLook = now + Self.lookInterval
            let stamp = Stamp(file.path)
            // One that is out of reach may be there.
            if stamp != nil || (try? file.exists()) != false { state.isClosed = true }
            if stamp != state.stamp {
                // A file that cannot be read lets nobody in, and is read again with the next look: what failed may pass.
                let keys = stamp == nil ? [] : ((try? file.read()) ?? nil)
                state.keys = Dictionary((keys ?? []).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
                if keys != nil { state.stamp = stamp }
            }
            return read(state)
        }
    }
}
