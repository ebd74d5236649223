internal import Foundation
internal import ProfileLog

/// The file of keys: JSON that only its owner may read, replaced as a whole, and changed by one process at a time.
struct KeyFile: Sendable {
    private struct Content: Codable {
        var format = 1
        var keys: [StoredKey]
    }

    let path: String

    /// Whether there is a file. Throws if that cannot be determined, and for a link that leads nowhere: unreachable
    /// keys are not the same as none.
    func exists() throws(StartFailure) -> Bool {
        var status = stat()
        if stat(path, &status) == 0 { return true }
        let code = errno
        guard code == ENOENT else { throw unreadable(": \(String(cString: strerror(code)))") }
        if lstat(path, &status) == 0 { throw unreadable(": it is a link that leads nowhere") }
        return false
    }

    /// The keys; nil if there is no file.
    func read() throws(StartFailure) -> [StoredKey]? {
        guard try exists() else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else { throw unreadable() }
        guard let content = try? JSONDecoder().decode(Content.self, from: data), content.format == 1 else {
            throw StartFailure(
                "\(path) is no file of keys of this version.",
                remedy: "Restore it from a copy, or remove it and make new keys with `profiled keys add`.")
        }
        return content.keys
    }

    private func unreadable(_ reason: String = "") -> StartFailure {
        StartFailure(
            "The keys \(path) cannot be read\(reason).",
            remedy: "Check the path, whose file it is, and its permissions.")
    }

    /// Reads the keys, lets `change` change them, and replaces the file, under a lock. If `path` is a link, the file
    /// that it leads to is locked and replaced. The change holds at once, and outlives a power cut after ``sync()``.
    func update<Result>(_ change: (inout [StoredKey]) throws -> Result) throws -> Result {
        try KeyFile(path: realPath).updateItself(change)
    }

    /// Syncs the folder: else a revoked key could be valid again after a power cut.
    func sync() throws(StartFailure) {
        do throws(StorageError) {
            try FolderSync.sync(URL(fileURLWithPath: realPath).deletingLastPathComponent().path)
        } catch {
            throw StartFailure(
                "\(path) is changed, but that may not outlive a power cut: its folder cannot be synced.",
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
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw cannotWrite }
        defer { close(lock) }
        var keys = try read() ?? []
        let result = try change(&keys)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try replace(by: encoder.encode(Content(keys: keys)) + Data("\n".utf8))
        return result
    }

    private var cannotWrite: StartFailure {
        StartFailure(
            "The keys \(path) cannot be written: \(String(cString: strerror(errno))).",
            remedy: "Name a file in a folder that exists and that you may write in, with --keys.")
    }

    /// Puts a whole new file in place: a reader never sees half a file, nor one that other users may read.
    private func replace(by data: Data) throws {
        let new = "\(path).new-\(getpid())"
        unlink(new)
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw cannotWrite }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: data)
            try handle.synchronize()
        } catch {
            unlink(new)
            throw cannotWrite
        }
        guard rename(new, path) == 0 else {
            let failure = cannotWrite
            unlink(new)
            throw failure
        }
    }
}
