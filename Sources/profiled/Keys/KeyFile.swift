internal import CoreFoundation
internal import Foundation
internal import ProfileLog
internal import Synchronization

/// The file of keys: JSON that only its owner may read, replaced as a whole, and changed by one process at a time.
struct KeyFile: Sendable {
    private struct Content: Codable {
        var format = 1
        var keys: [StoredKey]
    }

    let path: String

    /// Tells whether there is a file. Throws if it may exist and cannot be reached: that is not the same as no keys.
    func exists() throws(StartError) -> Bool {
        try status() != nil
    }

    /// As ``exists()``; nil if there is no file.
    func stamp() throws(StartError) -> FileStamp? { try status().map { FileStamp($0) } }

    private func status() throws(StartError) -> stat? {
        var status = stat()
        if lstat(path, &status) == 0 {
            if status.st_mode & S_IFMT != S_IFLNK || stat(path, &status) == 0 { return status }
            if errno == ENOENT { throw unreadable(": it is a link that leads nowhere") }
        }
        let code = errno
        guard code == ENOENT else { throw unreadable(": \(String(cString: strerror(code)))") }
        return nil
    }

    func read() throws(StartError) -> [StoredKey]? {
        guard try exists() else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else { throw unreadable() }
        guard let content = try? JSONDecoder().decode(Content.self, from: data), content.format == 1 else {
            throw StartError(
                "\(path) is not a file of keys of this version.",
                remedy: "Restore it from a copy, or remove it and make new keys with `profiled keys add`.")
        }
        return content.keys
    }

    private func unreadable(_ reason: String = "") -> StartError {
        StartError(
            "The keys \(path) cannot be read\(reason).",
            remedy: "Check the path, whose file it is, and its permissions.")
    }

    /// Reads the keys, lets `change` change them, and replaces the file, under a lock. If `path` is a link, the file
    /// that it leads to is locked and replaced. The change is valid at once, and durable after ``sync()``.
    func update<Result>(_ change: (inout [StoredKey]) throws -> Result) throws -> Result {
        try KeyFile(path: realPath).updateItself(change)
    }

    /// Syncs the folder: else a revoked key could be valid again after a power cut.
    func sync() throws(StartError) {
        do throws(StorageError) {
            try FolderSync.sync(KeyFile(path: realPath).folder)
        } catch {
            throw StartError(
                "\(path) is changed, but a power cut may undo that: its folder cannot be synced.",
                remedy: "Check the disk; after a power cut, `profiled keys list` shows whether the change is there.")
        }
    }

    /// The path of the file itself, without links, if it exists.
    private var realPath: String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    private func updateItself<Result>(_ change: (inout [StoredKey]) throws -> Result) throws -> Result {
        let lock = FolderOwner.open(path + ".lock", O_RDWR, 0o600, in: folder)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw cannotWrite }
        defer { close(lock) }
        var keys = try read() ?? []
        let result = try change(&keys)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try replace(by: encoder.encode(Content(keys: keys)) + Data("\n".utf8))
        return result
    }

    private var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    private var cannotWrite: StartError {
        StartError(
            "The keys \(path) cannot be written: \(String(cString: strerror(errno))).",
            remedy: "Name a file in a folder that exists and that you may write in, with --keys.")
    }

    /// Puts a whole new file in place: a reader never sees half a file, nor one that other users may read.
    private func replace(by data: Data) throws {
        let new = "\(path).new-\(getpid())"
        unlink(new)
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw cannotWrite }
        FolderOwner.give(descriptor, in: folder)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: data)
            try handle.synchronize()
            guard rename(new, path) == 0 else { throw cannotWrite }
        } catch {
            let failure = error as? StartError ?? cannotWrite
            unlink(new)
            throw failure
        }
    }
}

/// The keys that are valid now. Each request checks whether the file has changed, which takes about a microsecond.
final class KeyRing: Sendable {
    private struct State {
        /// The stamp of the file that was read.
        var stamp: FileStamp?
        var keys: [String: StoredKey] = [:]
        /// Tells whether requests need a key. Never becomes false again: if the file is removed, requests are refused.
        var isClosed: Bool
    }

    private let file: KeyFile?
    private let state: Mutex<State>

    /// The keys of `file`. Without a file, or until it exists, requests need no key, unless `isClosed`.
    init(_ file: KeyFile?, isClosed: Bool) {
        self.file = file
        state = Mutex(State(isClosed: isClosed))
    }

    /// Tells whether requests need a key.
    var isClosed: Bool { state.withLock { $0.isClosed } || current { $0.isClosed } }

    /// The stored key of `text`; nil if there is none, or it was revoked.
    func key(_ text: String) -> StoredKey? {
        guard let key = APIKey(text), let stored = current({ $0.keys[key.id] }), stored.matches(key) else { return nil }
        return stored
    }

    /// The first key that has one of these names; nil if there is none, or it was revoked.
    func key(named names: [String]) -> StoredKey? {
        if names.isEmpty { return nil }
        return current { state in
            for name in names {
                if let key = state.keys.values.first(where: { $0.name == name }) { return key }
            }
            return nil
        }
    }

    private func current<Result: Sendable>(_ read: (State) -> Result) -> Result {
        state.withLock { state in
            guard let file else { return read(state) }
            let stamp: FileStamp?
            do throws(StartError) {
                stamp = try file.stamp()
                if stamp != nil { state.isClosed = true }
            } catch {
                // An unreachable file may exist.
                stamp = nil
                state.isClosed = true
            }
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
