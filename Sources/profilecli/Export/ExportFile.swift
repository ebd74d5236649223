internal import ArgumentParser
internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// The forms of an export for analysis.
enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
    case jsonl, csv, sqlite

    /// The form of lines; nil for SQLite.
    var lines: RowLines.Format? { RowLines.Format(rawValue: rawValue) }

    func file(_ target: ExportTarget, _ table: ExportTable) throws -> any ExportFile {
        if let lines { return TextExportFile(target, RowLines(table, lines)) }
        return try SQLiteExportFile(target, table)
    }
}

/// An unfinished export. Rows and how far it is become durable together, so a kill at any time loses one page.
protocol ExportFile {
    /// Returns the place at which an earlier run of `request` stopped, after which all is removed; nil if there was
    /// none. Throws `OtherExport`, and changes nothing, if the file is of another export.
    func progress(of request: String) throws -> ExportProgress?
    /// Removes what is there.
    func begin(_ progress: ExportProgress) throws
    /// Adds rows; `progress` is the place after them.
    func append(_ rows: [AttributeValue], _ progress: ExportProgress) throws
    /// Makes it the complete file; all rows are there. A run after a kill may do it once more.
    func finish(_ progress: ExportProgress) throws
}

/// The unfinished file is of another export, or of another program.
struct OtherExport: Error {}

/// The file that an export makes: `FILE.partial` until it is complete, then `FILE`.
final class ExportTarget {
    let path: String
    let partial: String
    /// The path of the file with the progress of the unfinished one, while that cannot hold it itself.
    let state: String
    /// The descriptor of the unfinished file, which is locked.
    let descriptor: Int32

    /// Opens or makes the unfinished file, for its owner only.
    init(_ path: String, force: Bool) throws {
        self.path = path
        partial = path + ".partial"
        state = partial + ".state"
        var status = stat()
        if stat(path, &status) == 0 {
            guard force else {
                throw CommandError(
                    "\(path) exists.", remedy: "Name another file, or replace it with --force.", status: .usage)
            }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw CommandError("\(path) is no file.", remedy: "Name a file.", status: .usage)
            }
        }
        while true {
            let descriptor = open(partial, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw OutputFile.unwritable(partial) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw CommandError(
                    "Another program writes \(partial).", remedy: "Wait until it has ended, or name another file.")
            }
            // The other program may have given it its final name before it was locked.
            if FileIdentity(partial) == FileIdentity(descriptor: descriptor) {
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
    }

    deinit { close(descriptor) }

    /// Tells whether the unfinished file begins with these bytes.
    func begins(with bytes: [UInt8]) -> Bool {
        var found = [UInt8](repeating: 0, count: bytes.count)
        return pread(descriptor, &found, found.count, 0) == bytes.count && found == bytes
    }

    /// The length of the unfinished file.
    var length: off_t {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status.st_size : 0
    }

    /// Makes the unfinished file an empty one. What SQLite left next to it would be rolled back into it.
    func empty() throws {
        unlink(partial + "-journal")
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw Output.CannotWrite(code: errno)
        }
        unlink(state)
    }

    /// The text that the last `note` wrote; nil if there was none.
    var noted: JSONObject? {
        FileManager.default.contents(atPath: state).flatMap { try? JSONObject(Array($0)) }
    }

    /// Writes the file at `state`, which is durable when this returns.
    func note(_ json: String) throws {
        let new = state + ".new"
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Output.CannotWrite(code: errno) }
        do {
            defer { close(file) }
            try Output.write(Array(json.utf8), to: file)
            guard fdatasync(file) == 0, rename(new, state) == 0 else { throw Output.CannotWrite(code: errno) }
        } catch {
            unlink(new)
            throw error
        }
    }

    /// Gives the complete file its name.
    func complete() throws {
        guard fsync(descriptor) == 0, rename(partial, path) == 0 else { throw Output.CannotWrite(code: errno) }
        unlink(state)
    }
}

/// Lines; the place where they stop is in `FILE.partial.state`.
struct TextExportFile: ExportFile {
    private let target: ExportTarget
    private let lines: RowLines

    init(_ target: ExportTarget, _ lines: RowLines) { (self.target, self.lines) = (target, lines) }

    func progress(of request: String) throws -> ExportProgress? {
        guard let json = target.noted, let progress = ExportProgress(json) else {
            // A run that was killed before it noted a place left the header at most.
            guard target.begins(with: Array(lines.header.prefix(Int(target.length)))),
                target.length <= lines.header.count
            else { throw OtherExport() }
            return nil
        }
        // SQLite files have a place without a length.
        guard progress.request == request, let length = json["bytes"].integer else { throw OtherExport() }
        // A file that is shorter is not the one of this place.
        guard target.length >= off_t(length) else { return nil }
        try cut(to: off_t(length))
        return progress
    }

    func begin(_ progress: ExportProgress) throws {
        try target.empty()
        try Output.write(lines.header, to: target.descriptor)
        try note(progress)
    }

    func append(_ rows: [AttributeValue], _ progress: ExportProgress) throws {
        var bytes: [UInt8] = []
        for row in rows { lines.write(row, to: &bytes) }
        try Output.write(bytes, to: target.descriptor)
        try note(progress)
    }

    func finish(_: ExportProgress) {}

    private func cut(to bytes: off_t) throws {
        guard ftruncate(target.descriptor, bytes) == 0, lseek(target.descriptor, bytes, SEEK_SET) == bytes else {
            throw Output.CannotWrite(code: errno)
        }
    }

    /// The lines first, then the place: a place never says more than there is.
    private func note(_ progress: ExportProgress) throws {
        guard fdatasync(target.descriptor) == 0 else { throw Output.CannotWrite(code: errno) }
        let bytes = UInt64(max(0, lseek(target.descriptor, 0, SEEK_CUR)))
        try target.note(progress.json(bytes: bytes))
    }
}
