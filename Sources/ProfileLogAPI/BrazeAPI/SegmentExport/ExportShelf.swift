internal import Foundation
internal import ProfileLog
internal import Synchronization

/// The files that exports have written, until they are old, there are many, or the program ends.
final class ExportShelf: Sendable {
    private let state = Mutex(State())
    private let now: @Sendable () -> Date
    private let sleep: @Sendable (TimeInterval) async throws -> Void

    private struct State {
        /// Made by the first export.
        var folder: ScratchFolder?
        /// The finished ones, in the order in which they were.
        var files: [File] = []
        /// How often all files were removed.
        var clearings = 0
        /// No file has what an erasure up to here took out of the log.
        var seen = Position.start
        /// The segments that are being exported.
        var running: [String: Running] = [:]
        /// Removes the files that become old, as long as there are any.
        var cleaning: Task<Void, any Error>?
    }

    /// Who asks for an export.
    struct Asker: Sendable {
        /// Stands for the request.
        var digest: [UInt8]
        /// Where the log ended when it came: what was written up to there is in its file, unless it asks again.
        var position: Position
        /// Whether somebody still waits for the answer.
        var isAwaited: @Sendable () async -> Bool
    }

    /// An export under way.
    private struct Running {
        /// Its file.
        var name: String
        /// Who asked for it first.
        var asker: Asker
        /// How often all files had been removed when it began.
        var clearings: Int
        /// The same request, sent again meanwhile.
        var joined: [(asker: Asker, answer: CheckedContinuation<File?, any Error>)] = []

        /// Whether somebody still waits for it.
        func isAwaited() async -> Bool {
            if await asker.isAwaited() { return true }
            for other in joined { if await other.asker.isAwaited() { return true } }
            return false
        }

        /// Whether it is `other`, and nobody has joined it since.
        func isUnchanged(since other: Running?) -> Bool { name == other?.name && joined.count == other?.joined.count }
    }

    /// A finished export.
    struct File {
        var name: String
        var path: String
        var mediaType: String
        var finished: Date
        /// Stands for the request that asked for it.
        var digest: [UInt8]
        /// Where the log ended when it was begun.
        var position: Position
        /// Whether nobody was told of it: whoever asked for it gave up before.
        var isUntold = true
    }

    /// Files that are kept.
    private static let mostFiles = 16
    /// Seconds for which a file is kept.
    static let age: TimeInterval = 4 * 3600
    /// Seconds for which a file of which nobody was told waits for the same request while nothing is written.
    static let patience: TimeInterval = 15 * 60
    /// Seconds for which it waits although something was: whoever asks so soon asks again, and did not write it.
    static let patienceBehindWrite: TimeInterval = 60

    init(
        now: @escaping @Sendable () -> Date = { Date() },
        sleep: @escaping @Sendable (TimeInterval) async throws -> Void = { try await Task.sleep(for: .seconds($0)) }
    ) {
        self.now = now
        self.sleep = sleep
    }

    deinit { state.withLock { $0.cleaning?.cancel() } }

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

    /// Removes all files if somebody was erased in `log`, by whatever process, since this was asked last.
    func removeOutdated(_ log: EventLog) throws {
        let last = try log.lastPosition()
        let seen = state.withLock { $0.files.isEmpty && $0.running.isEmpty ? last : $0.seen }
        if try log.hasErasure(behind: seen) { clear() }
        state.withLock { $0.seen = max($0.seen, last) }
    }

    /// The file of an export of `segment`: the one that the same request has begun before and was not told of, or else a new one, which
    /// `body` writes. One export of a segment runs at a time.
    func write(
        _ name: String, mediaType: String, of segment: String, for asker: Asker,
        _ body: (FileHandle) async throws -> Void
    ) async throws -> File {
        if let file = try await begun(name, segment, asker) {
            if await asker.isAwaited() { tell(file.name) }
            return file
        }
        defer { clean() }
        do {
            let (file, clearings) = try await write(name, mediaType: mediaType, asker, body)
            return try await keep(file, of: segment, clearings)
        } catch {
            let joined = state.withLock { $0.running.removeValue(forKey: segment)?.joined ?? [] }
            for other in joined { other.answer.resume(throwing: error) }
            throw error
        }
    }

    /// Puts `file` on the shelf and ends its export. If somebody waits for it, nobody else gets it from then on.
    private func keep(_ file: File, of segment: String, _ clearings: Int) async throws -> File {
        while true {
            let abandoned = await abandoned(segment)
            var file = file
            file.isUntold = abandoned != nil
            let ended = try state.withLock { [file] state -> Running? in
                guard state.clearings == clearings else { throw Self.outdated }
                if let abandoned, state.running[segment]?.isUnchanged(since: abandoned) == false { return nil }
                state.files.append(file)
                return state.running.removeValue(forKey: segment)
            }
            guard let ended else { continue }
            for other in ended.joined { other.answer.resume(returning: file) }
            removeOld()
            return file
        }
    }

    /// Somebody was told of the file of this name.
    private func tell(_ name: String) {
        state.withLock { state in
            if let index = state.files.firstIndex(where: { $0.name == name }) { state.files[index].isUntold = false }
        }
    }

    /// Whether somebody waits for the export of `segment` that another one has begun.
    func hasWaiting(_ segment: String) -> Bool { state.withLock { $0.running[segment]?.joined.isEmpty == false } }

    /// The file that the same request has begun; nil if there is none, as if somebody has cleaned the temporary folder, and from then on the
    /// caller is the one who writes it. What was written since is not in it: then only those get it who plainly ask again.
    private func begun(_ name: String, _ segment: String, _ asker: Asker) async throws -> File? {
        let abandoned = await abandoned(segment)
        let now = now()
        return try await withCheckedThrowingContinuation { continuation in
            let answer: Result<File?, any Error>? = state.withLock { state in
                if let running = state.running[segment] {
                    guard running.asker.digest == asker.digest, running.clearings == state.clearings,
                        asker.position <= running.asker.position || running.isUnchanged(since: abandoned)
                    else { return .failure(Self.isRunning) }
                    state.running[segment]?.joined.append((asker, continuation))
                    return nil
                }
                state.files.removeAll { !FileManager.default.fileExists(atPath: $0.path) }
                let file = state.files.last { file in
                    let patience = asker.position <= file.position ? Self.patience : Self.patienceBehindWrite
                    return file.isUntold && file.digest == asker.digest
                        && file.finished.addingTimeInterval(patience) > now
                }
                if file == nil {
                    state.running[segment] = Running(name: name, asker: asker, clearings: state.clearings)
                }
                return .success(file)
            }
            if let answer { continuation.resume(with: answer) }
        }
    }

    /// The running export of `segment`, if nobody waits for it any more.
    private func abandoned(_ segment: String) async -> Running? {
        guard let running = state.withLock({ $0.running[segment] }), await !running.isAwaited() else { return nil }
        return running
    }

    private static let isRunning = APIProblem(
        status: 429, code: "export_running", error: "Another export of this segment is running.",
        remedy: "Wait until it is answered, then ask again.", place: "segment_id")

    private func write(
        _ name: String, mediaType: String, _ asker: Asker, _ body: (FileHandle) async throws -> Void
    ) async throws -> (File, clearings: Int) {
        do {
            let (folder, clearings) = try folder()
            let path = "\(folder.path)/\(name)"
            do {
                try await write(to: path, body)
                // Somebody may have cleaned the temporary folder meanwhile.
                guard FileManager.default.fileExists(atPath: path) else { throw CocoaError(.fileNoSuchFile) }
            } catch {
                try? FileManager.default.removeItem(atPath: path)
                throw error
            }
            let file = File(
                name: name, path: path, mediaType: mediaType, finished: now(), digest: asker.digest,
                position: asker.position)
            return withExtendedLifetime(folder) { (file, clearings) }
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
            remedy: "Make room there if it has none, and ask for the segment again; or set TMPDIR to a folder with "
                + "room and start the service again.")
    }

    private func write(to path: String, _ body: (FileHandle) async throws -> Void) async throws {
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let file = FileHandle(forWritingAtPath: path)
        else { throw CocoaError(.fileWriteUnknown) }
        defer { try? file.close() }
        try await body(file)
    }

    /// The folder, a new one if somebody has cleaned the temporary folder.
    private func folder() throws -> (ScratchFolder, clearings: Int) {
        try state.withLock { state in
            if let folder = state.folder, !FileManager.default.fileExists(atPath: folder.path) { state.folder = nil }
            let folder = try state.folder ?? ScratchFolder(prefix: "profilelog-exports-")
            state.folder = folder
            return (folder, state.clearings)
        }
    }

    /// Has files removed as they become old, also if nobody asks for anything any more, and the folder behind the last one: whoever cleans
    /// the temporary folder would remove it.
    private func clean() {
        state.withLock { state in
            if state.cleaning != nil { return }
            state.cleaning = Task { [weak self, sleep] in
                while let span = self?.timeUntilOld() {
                    try await sleep(span)
                    self?.removeOld()
                }
            }
        }
    }

    /// Seconds until the oldest file is too old; nil if there is no file, and then the cleaning is over, and the folder gone unless an
    /// export runs.
    private func timeUntilOld() -> TimeInterval? {
        let now = now()
        let (span, folder) = state.withLock { state -> (TimeInterval?, ScratchFolder?) in
            if let oldest = state.files.first {
                return (max(0, oldest.finished.addingTimeInterval(Self.age).timeIntervalSince(now)), nil)
            }
            state.cleaning = nil
            return (nil, state.running.isEmpty ? state.folder.take() : nil)
        }
        withExtendedLifetime(folder) {}
        return span
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
