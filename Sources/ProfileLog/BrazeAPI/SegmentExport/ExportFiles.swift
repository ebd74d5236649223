internal import Foundation
internal import ProfileLogRequests
internal import Synchronization

/// The files that segment exports wrote: the newest 16, each for four hours, and none that is older than an erasure.
///
/// They hold persons' data: they lie in a folder of this process only, and are removed when they are too old (if the
/// program calls ``removeOld()`` now and then), when this process erases a user, and with the process; after a kill, by
/// the next export of any process.
final class ExportFiles: Sendable {
    /// The file of one export.
    struct File: Sendable {
        let name: String
        let path: String
        let mediaType: String
        let finished: Date
        /// No user who was erased up to this position is in it.
        var position: Position
    }

    private struct State {
        /// Made by the first export.
        var folder: ScratchFolder?
        /// The oldest first.
        var files: [File] = []
        /// The segments that are being exported.
        var running: Set<String> = []
    }

    private static let mostFiles = 16
    /// Exports that run at once: each has a thread and a read transaction.
    static let mostRunning = 4
    /// Seconds for which a file is kept.
    static let age: TimeInterval = 4 * 3600

    private let state = Mutex(State())
    private let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    // MARK: - Handing out

    /// The file of this name; nil if there is none, or none any more.
    func file(_ name: String, of log: EventLog) -> File? {
        removeOld()
        removeOutdated(log)
        return state.withLock { $0.files.first { $0.name == name } }
    }

    /// Removes the files that are older than an erasure in `log`, by whatever process.
    func removeOutdated(_ log: EventLog) {
        for file in state.withLock({ $0.files }) {
            if let last = try? log.lastPosition(), (try? log.reader.events.hasErasure(after: file.position)) == false {
                // The next look begins where this one ended.
                state.withLock { state in
                    for index in state.files.indices where state.files[index].position == file.position {
                        state.files[index].position = max(last, file.position)
                    }
                }
            } else {
                state.withLock { $0.files.removeAll { $0.name == file.name } }
                try? FileManager.default.removeItem(atPath: file.path)
            }
        }
    }

    /// Removes all files: at the end of a program, or when the store is emptied.
    func clear() {
        let (files, folder) = state.withLock { state in
            defer { state.files = [] }
            return (state.files, state.running.isEmpty ? state.folder.take() : nil)
        }
        for file in files { try? FileManager.default.removeItem(atPath: file.path) }
        withExtendedLifetime(folder) {}
    }

    // MARK: - Writing

    /// Runs `body`, which exports `segment` into the folder that it is given: one export of a segment at a time, and a
    /// few in all.
    func withFolder<Result>(for segment: String, _ body: (String) async throws -> Result) async throws -> Result {
        do {
            let folder = try begin(segment)
            defer { _ = state.withLock { $0.running.remove(segment) } }
            let result = try await body(folder.path)
            return withExtendedLifetime(folder) { result }
        } catch let error as CocoaError {
            throw Self.notWritten(error.errorCode)
        } catch let failure as ScratchFolder.FolderError {
            throw Self.notWritten(Int(failure.code))
        }
    }

    private func begin(_ segment: String) throws -> ScratchFolder {
        try state.withLock { state in
            guard !state.running.contains(segment) else {
                throw Self.busy("Another export of this segment is running.", place: "segment_id")
            }
            guard state.running.count < Self.mostRunning else {
                throw Self.busy("\(Self.mostRunning) exports are running.", place: nil)
            }
            // The folder is gone if the temporary folder was cleaned.
            if let folder = state.folder, !FileManager.default.fileExists(atPath: folder.path) { state.folder = nil }
            let folder = try state.folder ?? ScratchFolder(prefix: "profilelog-exports-")
            state.folder = folder
            state.running.insert(segment)
            return folder
        }
    }

    /// Makes the file at `path`, for its owner only.
    static func create(_ path: String) throws -> FileHandle {
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let file = FileHandle(forUpdatingAtPath: path)
        else { throw CocoaError(.fileWriteUnknown) }
        return file
    }

    /// Makes the file at `path`, and lets `body` write it. A file that fails is removed.
    static func write(_ path: String, _ body: (FileHandle) throws -> Void) throws {
        let file = try create(path)
        defer { try? file.close() }
        do {
            try body(file)
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    /// Keeps the file `name` of `folder`, in which no user is who was erased up to `position`. Throws if it is not
    /// there any more.
    func keep(_ name: String, in folder: String, mediaType: String, _ position: Position) throws {
        let file = File(
            name: name, path: "\(folder)/\(name)", mediaType: mediaType, finished: now(), position: position)
        // The temporary folder may have been cleaned.
        guard FileManager.default.fileExists(atPath: file.path) else { throw CocoaError(.fileNoSuchFile) }
        state.withLock { $0.files.append(file) }
        removeOld()
    }

    // MARK: - Cleaning

    /// Removes the files that are too old or too many, and the folder with the last one.
    func removeOld() {
        let limit = now().addingTimeInterval(-Self.age)
        let (old, folder) = state.withLock { state in
            let young = state.files.firstIndex { $0.finished > limit } ?? state.files.count
            let gone = state.files.prefix(max(state.files.count - Self.mostFiles, young))
            state.files.removeFirst(gone.count)
            let isUnused = state.files.isEmpty && state.running.isEmpty
            return (gone, isUnused ? state.folder.take() : nil)
        }
        for file in old { try? FileManager.default.removeItem(atPath: file.path) }
        withExtendedLifetime(folder) {}
    }

    // MARK: - Errors

    private static func busy(_ sentence: String, place: String?) -> APIError {
        APIError(
            status: 429, code: "export_running", error: sentence, remedy: "Wait until it is answered, then ask again.",
            place: place)
    }

    private static func notWritten(_ code: Int) -> APIError {
        APIError(
            status: 507, code: "export_not_written",
            error: "The export could not be written to the temporary folder (code \(code)).",
            remedy: "Make room there if it has none, and ask for the segment again; or set TMPDIR to a folder with "
                + "room and start the service again.")
    }
}
