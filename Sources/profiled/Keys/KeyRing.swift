internal import Foundation
internal import Synchronization

/// The keys that are valid now. Each request checks whether the file has changed, for about a microsecond.
final class KeyRing: Sendable {
    /// Identifies a version of the file: every change gives another stamp.
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
        var keys: [String: StoredKey] = [:]
        /// Whether requests need a key. Never becomes false again: if the file is removed, requests are refused.
        var isClosed: Bool
    }

    private let file: KeyFile?
    private let state: Mutex<State>

    /// The keys of `file`. Without a file, or until it exists, requests need no key, unless `isClosed`.
    init(_ file: KeyFile?, isClosed: Bool) {
        self.file = file
        state = Mutex(State(stamp: nil, isClosed: isClosed))
    }

    /// Whether requests need a key.
    var isClosed: Bool { current { $0.isClosed } }

    /// The stored key of `text`; nil if there is none, or it was revoked.
    func key(_ text: String) -> StoredKey? {
        guard let key = APIKey(text), let stored = current({ $0.keys[key.id] }), stored.matches(key) else { return nil }
        return stored
    }

    private func current<Result: Sendable>(_ read: (State) -> Result) -> Result {
        state.withLock { state in
            guard let file else { return read(state) }
            let stamp = Stamp(file.path)
            // An unreachable file may exist.
            if stamp != nil || (try? file.exists()) != false { state.isClosed = true }
            if stamp != state.stamp {
                // While the file cannot be read, no key is valid; the next check reads it again.
                let keys = stamp == nil ? [] : ((try? file.read()) ?? nil)
                state.keys = Dictionary((keys ?? []).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
                if keys != nil { state.stamp = stamp }
            }
            return read(state)
        }
    }
}
