/// Applies erasures to a backup that no run reaches: a copy of a folder, kept elsewhere.
///
/// Records of erased users become tombstones, as in the store, and names that only they used are emptied. The
/// backup ends where it ended.
package struct BackupScrub {
    private let folder: BackupFolder

    package init(_ folder: BackupFolder) { self.folder = folder }

    /// The report of a scrub.
    package struct Report: Hashable, Sendable {
        /// Segments that held content of erased users, and names that were emptied.
        package var segments = 0, names = 0
        /// Erased users that the register of the backup lacked.
        package var erasures = 0
        /// Tells whether it was done; if not, the backup is as it was.
        package var isComplete = true

        /// Of a scrub that was stopped.
        package static let stopped = Report(isComplete: false)
    }

    /// Applies the erasures of `register`. With `log`, the store itself, those names are emptied that it has emptied;
    /// without it those that the backup has for erased users alone. `progress` stops the work with false.
    package func scrub(
        _ register: ErasureRegister, log: EventLog? = nil, progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> Report {
        guard let manifest = try folder.manifest() else { throw BackupError.noBackup(path: folder.path) }
        guard manifest.store == register.store else { throw BackupError.otherStore(path: folder.path) }
        do {
            return try scrub(manifest, register, log, progress)
        } catch {
            folder.removeUnnamed(unlessReplaced: manifest)
            throw error
        }
    }

    private func scrub(
        _ old: Manifest, _ register: ErasureRegister, _ log: EventLog?, _ progress: (LogProgress) -> Bool
    ) throws -> Report {
        let reader = BackupReader(path: folder.path, manifest: old)
        var manifest = old
        var report = Report()
        manifest.erasures = ErasureRegister.sorted(old.erasures + register.erasures)
        report.erasures = manifest.erasures.count - old.erasures.count
        let names = try reader.names()
        let erasures: RestoredErasures
        do {
            erasures = try RestoredErasures(register, in: reader, upTo: old.position, names: names) {
                if !progress($0) { throw Stopped() }
            }
            for (index, file) in old.segments.enumerated() {
                if let scrubbed = try scrubbed(reader.segment(file), file, erasures) {
                    manifest.segments[index] = scrubbed
                    report.segments += 1
                }
                if !progress(LogProgress(stage: "scrub", done: file.last.rawValue, total: old.position.rawValue)) {
                    throw Stopped()
                }
            }
        } catch is Stopped {
            try folder.removeUnnamed(old)
            return .stopped
        }
        let live = try log.map { try StoreReads(log: $0).names().rows }
        let empty = Self.erasedRow
        let rows = names.rows.enumerated().map { index, row in
            let isErased =
                live.map { index < $0.count && $0[index] == empty }
                ?? erasures.forgottenNames.contains(UInt32(index + 1))
            return isErased ? empty : row
        }
        report.names = zip(names.rows, rows).count { $0 != $1 }
        if report.names > 0 {
            let bytes = NamesSegment(store: old.store, history: old.history, rows: rows).bytes
            let name = Self.newName(old.names)
            try folder.write(bytes, to: name)
            manifest.names = Manifest.File(name: name, content: bytes)
        }
        if manifest != old { try folder.commit(manifest) }
        try folder.removeUnnamed(manifest)
        return report
    }

    private struct Stopped: Error {}

    /// Writes the segment with tombstones for what is erased; nil if it has none of it.
    private func scrubbed(
        _ segment: Segment, _ file: Manifest.SegmentFile, _ erasures: RestoredErasures
    ) throws -> Manifest.SegmentFile? {
        var writer = SegmentWriter(store: segment.store, history: segment.history, number: segment.number)
        var hasChanged = false
        try segment.forEachRecord { position, record in
            guard let tombstone = try erasures.tombstone(of: record, at: position) else { return writer.append(record) }
            hasChanged = true
            tombstone.withUnsafeBytes { writer.append($0) }
        }
        if !hasChanged { return nil }
        let (name, bytes) = (Self.newName(file.file), writer.finish())
        try folder.write(bytes, to: name)
        return Manifest.SegmentFile(
            file: Manifest.File(name: name, content: bytes), first: file.first, last: file.last,
            firstAt: file.firstAt, lastAt: file.lastAt)
    }

    private static func newName(_ file: Manifest.File) -> String { BackupFileName(file.name)?.next.text ?? file.name }

    /// The row of a name that was erased: the checksum of no bytes.
    private static var erasedRow: [UInt8] {
        var row: [UInt8] = []
        row.appendChecksum()
        return row
    }
}
