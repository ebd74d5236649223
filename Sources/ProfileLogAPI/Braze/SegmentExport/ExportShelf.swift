internal import Foundation
internal import Synchronization

/// The files that exports have written, until they are old, there are many, or the program ends.
final class ExportShelf: Sendable {
    private let state = Mutex(State())
    private let now: @Sendable () -> Date

    private struct State {
        /// Made by the first export.
        var folder: ScratchFolder?
        /// The finished ones, in the order in which they were.
        var files: [File] = []
        /// How often all files were removed.
        var clearings = 0
        /// The segments that are being exported.
        var running: Set<String> = []
    }

    /// A finished export.
    struct File {
        var name: String
        var path: String
        var mediaType: String
        var finished: Date
    }

    /// Files that are kept.
    private static let mostFiles = 16
    /// Seconds for which a file is kept.
    static let age: TimeInterval = 4 * 3600

    init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    /// The file of this name; nil if there is none, or none any more.
    func file(_ name: String) -> File? {
        removeOld()
        return state.withLock { $0.files.first { $0.name == name } }
    }

    /// Removes all files, also those that are being written: what they say does not hold any more. An export begins with a new folder.
    func clear() {
        let folder = state.withLock { state in
            state.files = []
            state.clearings += 1
            return state.folder.take()
        }
        withExtendedLifetime(folder) {}
    }

    /// Runs an export of `segment` into a new file, unless one is running.
    func write(
        _ name: String, mediaType: String, of segment: String, _ body: (FileHandle) async throws -> Void
    ) async throws {
        guard state.withLock({ $0.running.insert(segment).inserted }) else {
            throw APIProblem(
                status: 429, code: "export_running", error: "An export of this segment is running.",
                remedy: "Wait until it is answered, then ask again.", place: "segment_id")
        }
        defer { state.withLock { _ = $0.running.remove(segment) } }
        do {
            let (folder, clearings) = try folder()
            let path = "\(folder.path)/\(name)"
            do {
                try await write(to: path, body)
            } catch {
                try? FileManager.default.removeItem(atPath: path)
                throw error
            }
            let file = File(name: name, path: path, mediaType: mediaType, finished: now())
            try withExtendedLifetime(folder) {
                try state.withLock { state in
                    guard state.clearings == clearings else { throw Self.outdated }
                    state.files.append(file)
                }
            }
            removeOld()
        } catch let error as CocoaError {
            throw Self.notWritten(error.errorCode)
        } catch let failure as ScratchFolder.Failure {
            throw Self.notWritten(Int(failure.code))
        }
    }

    private static let outdated = APIProblem(
        status: 409, code: "export_outdated",
        error: "Somebody was erased while the export was written; it was removed.",
        remedy: "Ask for the segment again.")

    private static func notWritten(_ code: Int) -> APIProblem {
        APIProblem(
            status: 507, code: "export_not_written",
            error: "The export could not be written to the temporary folder (code \(code)).",
            remedy: "Make room there, or set TMPDIR to a folder with room and start the service again.")
    }

    private func write(to path: String, _ body: (FileHandle) async throws -> Void) async throws {
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let file = FileHandle(forWritingAtPath: path)
        else { throw CocoaError(.fileWriteUnknown) }
        defer { try? file.close() }
        try await body(file)
    }

    private func folder() throws -> (ScratchFolder, clearings: Int) {
        try state.withLock { state in
            let folder = try state.folder ?? ScratchFolder(prefix: "profilelog-exports-")
            state.folder = folder
            return (folder, state.clearings)
        }
    }

    private func removeOld() {
        let limit = now().addingTimeInterval(-Self.age)
        let old = state.withLock { state in
            let young = state.files.firstIndex { $0.finished > limit } ?? state.files.count
            let gone = state.files.prefix(max(state.files.count - Self.mostFiles, young))
            state.files.removeFirst(gone.count)
            return gone
        }
        for file in old { try? FileManager.default.removeItem(atPath: file.path) }
    }
}
