internal import Foundation
internal import Synchronization

/// The files that exports have written, in a folder of their own, until they are old or there are many.
final class ExportShelf: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("profilelog-exports-\(UUID())")
    private let state = Mutex(State())

    private struct State {
        /// The finished ones, in the order in which they were.
        var files: [File] = []
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
    private static let age: TimeInterval = 4 * 3600

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The file of this name; nil if there is none, or none any more.
    func file(_ name: String) -> File? { state.withLock { $0.files.first { $0.name == name } } }

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
        let path = folder.appendingPathComponent(name).path
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
                let file = FileHandle(forWritingAtPath: path)
            else { throw CocoaError(.fileWriteUnknown) }
            defer { try? file.close() }
            try await body(file)
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw error is CocoaError ? Self.notWritten : error
        }
        keep(File(name: name, path: path, mediaType: mediaType, finished: Date()))
    }

    private static let notWritten = APIProblem(
        status: 507, code: "export_not_written", error: "The export could not be written to the temporary folder.",
        remedy: "Make room there, or set TMPDIR to a folder with room, and start the service again.")

    private func keep(_ file: File) {
        let old = state.withLock { state in
            state.files.append(file)
            let limit = file.finished.addingTimeInterval(-Self.age)
            let first = max(
                state.files.count - Self.mostFiles, state.files.firstIndex { $0.finished >= limit } ?? 0)
            let old = state.files.prefix(first)
            state.files.removeFirst(first)
            return old
        }
        for file in old { try? FileManager.default.removeItem(atPath: file.path) }
    }
}
