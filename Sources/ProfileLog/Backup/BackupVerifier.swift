internal import Glibc

/// Reads a backup whole, as a restore does, and says what is wrong. Changes nothing, also while a run writes.
///
/// ```swift
/// let report = try BackupVerifier(path: "/backup/shop").verify()
/// report.problems.forEach { print($0.description) }
/// ```
package struct BackupVerifier: Sendable {
    private let path: String

    package init(path: String) { self.path = path }

    /// The number of times that it begins with a new manifest: a run may write one while it reads.
    private static let mostManifests = 100

    /// Reads each file. With `absent`, also searches each byte of the folder and what its records say. Throws if there
    /// is no manifest that can be read. `progress` stops the work with false.
    package func verify(
        absent: [String] = [], progress: (LogProgress) -> Bool = { _ in true }
    ) throws(BackupError) -> VerifyReport {
        var known: [Manifest.File: [BackupError]] = [:]
        var manifest = try BackupReader(path: path).manifest
        for _ in 0..<Self.mostManifests {
            var pass = Pass(reader: BackupReader(path: path, manifest: manifest), absent: absent, known: known)
            let isDone = pass.run(progress)
            // A file that is missing or changed may be of a run that ended in between.
            let now = try BackupReader(path: path).manifest
            if now == manifest || !isDone || pass.problems.isEmpty {
                var report = VerifyReport(
                    manifest: manifest, problems: pass.problems, isComplete: isDone, found: pass.found)
                if isDone, !absent.isEmpty { report.found += try strays(absent) }
                return report
            }
            known = pass.known.filter { $0.value.isEmpty }
            manifest = now
        }
        throw .overtaken
    }

    /// Places of other files in the folder that hold one of `texts`.
    private func strays(_ texts: [String]) throws(BackupError) -> [VerifyReport.Place] {
        var found: [VerifyReport.Place] = []
        let overlap = max(1, texts.map(\.utf8.count).max() ?? 1) - 1
        for name in try BackupFolder.allFiles(in: path) {
            guard let pieces = try BackupFilePieces(of: name, in: path) else { continue }
            var missing = texts
            // The end of the piece before: a text may be in both.
            var end: [UInt8] = []
            while !missing.isEmpty, let piece = try pieces.next() {
                let bytes = end + piece
                missing.removeAll { text in
                    guard ByteText.isIn(bytes, text) else { return false }
                    found.append(.init(file: "\(path)/\(name)", position: nil))
                    return true
                }
                end = Array(bytes.suffix(overlap))
            }
        }
        return found
    }

    /// One reading of all files of a manifest.
    private struct Pass {
        let reader: BackupReader
        let absent: [String]
        /// The problems of files that were read, by what the manifest says of them.
        var known: [Manifest.File: [BackupError]]
        var problems: [BackupError] = []
        var found: [VerifyReport.Place] = []

        init(reader: BackupReader, absent: [String], known: [Manifest.File: [BackupError]]) {
            (self.reader, self.absent, self.known) = (reader, absent, known)
        }

        /// Returns false if `progress` stopped it.
        mutating func run(_ progress: (LogProgress) -> Bool) -> Bool {
            let manifest = reader.manifest
            do { _ = try Restore(reader) } catch { problems += [error].compactMap { $0 as? BackupError } }
            var names = NameMap()
            check(manifest.names, always: !absent.isEmpty) { (reader) throws(BackupError) in
                for row in try reader.names().rows { row.withUnsafeBytes { names.add(row: $0) } }
            }
            for settings in manifest.settings {
                check(settings.file) { (reader) throws(BackupError) in _ = try reader.content(of: settings.file) }
            }
            var times = Timestamp(rawValue: .min)
            for file in manifest.segments {
                var found: [VerifyReport.Place] = []
                check(file.file, always: !absent.isEmpty) { [absent] (reader) throws(BackupError) in
                    let segment = try reader.segment(file)
                    if !absent.isEmpty { found = segment.places(of: absent, names, reader.path(of: file.file)) }
                }
                self.found += found
                // Times never fall: a time leads to a position.
                if file.firstAt < times {
                    problems.append(
                        .damaged(
                            path: reader.path(of: file.file), reason: "its times are before those of the one before"))
                }
                times = file.lastAt
                let now = LogProgress(stage: "verify", done: file.last.rawValue, total: manifest.position.rawValue)
                if !progress(now) { return false }
            }
            return true
        }

        private mutating func check(
            _ file: Manifest.File, always: Bool = false, _ read: (BackupReader) throws(BackupError) -> Void
        ) {
            if !always, let before = known[file] {
                problems += before
                return
            }
            do throws(BackupError) {
                try read(reader)
                known[file] = []
            } catch {
                known[file] = [error]
                problems.append(error)
            }
        }
    }
}

/// The report of a verification.
package struct VerifyReport: Sendable {
    /// The manifest of the backup that was read.
    package let manifest: Manifest
    /// The problems of its files, one for each that has any.
    package var problems: [BackupError]
    /// Tells whether all was read; if not, it was stopped.
    package var isComplete: Bool
    /// The places of texts that must be absent.
    package var found: [Place]

    package struct Place: Hashable, Sendable {
        package let file: String
        /// The position of the record; nil if it is in the bytes of the file.
        package let position: Position?

        /// The place in a sentence.
        package var text: String { position.map { "the record at position \($0.rawValue) in \(file)" } ?? file }
    }

    package var isSound: Bool { problems.isEmpty && found.isEmpty && isComplete }
}

extension BackupReader {
    /// The path of a file of the backup.
    package func path(of file: Manifest.File) -> String { "\(path)/\(file.name)" }
}

extension Segment {
    /// The records that say one of `texts` when they are decoded: a text may be stored in another form.
    fileprivate func places(of texts: [String], _ names: NameMap, _ file: String) -> [VerifyReport.Place] {
        var found: [VerifyReport.Place] = []
        forEachRecord { position, record in
            guard let header = RecordHeader(record),
                let event = RecordedEvent(header, position: position, names: names)
            else { return }
            var shown = ""
            dump(event, to: &shown)
            if texts.contains(where: { ByteText.isIn(shown.utf8, $0) }) {
                found.append(.init(file: file, position: position))
            }
        }
        return found
    }
}

/// A text among bytes.
private enum ByteText {
    static func isIn(_ whole: some Sequence<UInt8>, _ text: String) -> Bool {
        let (whole, part) = (Array(whole), Array(text.utf8))
        guard let first = part.first else { return true }
        return whole.withUnsafeBytes { whole in
            part.withUnsafeBytes { part in
                var begin = 0
                while begin + part.count <= whole.count {
                    let rest = whole.slice(begin..<whole.count)
                    guard let base = rest.baseAddress, let found = memchr(base, Int32(first), rest.count) else {
                        return false
                    }
                    begin += UnsafeRawPointer(found) - base
                    if begin + part.count > whole.count { return false }
                    if whole.slice(begin..<begin + part.count).hasSameBytes(as: part) { return true }
                    begin += 1
                }
                return false
            }
        }
    }
}
