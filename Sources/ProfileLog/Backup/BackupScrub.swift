/// Applies erasures to a backup that no run reaches: a copy of a folder, kept elsewhere.
///
/// What it holds of erased users becomes tombstones, as in the store, and names that only they used are emptied. The
/// backup ends where it ended.
package struct BackupScrub {
    private let folder: BackupFolder

    package init(_ folder: BackupFolder) { self.folder = folder }

    /// What it did.
    package struct Report: Hashable, Sendable {
        /// Segments that held content of erased users, and names that were emptied.
        package var segments = 0, names = 0
        /// Erasures that the register of the backup lacked.
        package var erasures = 0
        /// False if it was stopped: the backup is as it was.
        package var isComplete = true
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
            try? folder.removeUnnamed(manifest)
            throw error
        }
    }

    private func scrub(
        _ old: Manifest, _ register: ErasureRegister, _ log: EventLog?, _ progress: (LogProgress) -> Bool
    ) throws -> Report {
        let reader = BackupReader(path: folder.path, manifest: old)
        var manifest = old
        var report = Report()
        manifest.erasures = Set(old.erasures + register.erasures).sorted {
            ($0.position, $0.user) < ($1.position, $1.user)
        }
        report.erasures = Set(manifest.erasures.map(\.position)).count - Set(old.erasures.map(\.position)).count
        let users = Set(manifest.erasures.map(\.user.rawValue))
        var (gone, used) = (Set<UInt32>(), Set<UInt32>())
        for (index, file) in old.segments.enumerated() {
            let segment = try reader.segment(file)
            segment.forEachRecord { _, record in
                guard let header = RecordHeader(record), let body = RecordBody(header.body), !body.erased else {
                    return
                }
                let isErased = users.contains(header.user)
                body.forEachName(header.kind) { if isErased { gone.insert($0) } else { used.insert($0) } }
            }
            if let bytes = try segment.erasing(users) {
                let name = Self.newName(file.file)
                try folder.write(bytes, to: name)
                manifest.segments[index] = Manifest.SegmentFile(
                    file: Manifest.File(name: name, content: bytes), first: file.first, last: file.last,
                    firstAt: file.firstAt, lastAt: file.lastAt)
                report.segments += 1
            }
            if !progress(LogProgress(stage: "scrub", done: file.last.rawValue, total: old.position.rawValue)) {
                report = Report(isComplete: false)
                try folder.removeUnnamed(old)
                return report
            }
        }
        let rows = try reader.names().rows
        let live = try log.map { try StoreReads(log: $0).names().rows }
        let empty = Self.erasedRow
        let scrubbed = rows.enumerated().map { index, row in
            let number = UInt32(index + 1)
            let isErased =
                live.map { index < $0.count && $0[index] == empty } ?? (gone.contains(number) && !used.contains(number))
            return isErased ? empty : row
        }
        report.names = zip(rows, scrubbed).count { $0 != $1 }
        if report.names > 0 {
            let bytes = NamesSegment(store: old.store, history: old.history, rows: scrubbed).bytes
            let name = Self.newName(old.names)
            try folder.write(bytes, to: name)
            manifest.names = Manifest.File(name: name, content: bytes)
        }
        if manifest != old { try folder.commit(manifest) }
        try folder.removeUnnamed(manifest)
        return report
    }

    private static func newName(_ file: Manifest.File) -> String { BackupFileName(file.name)?.next.text ?? file.name }

    /// The row of a name that was erased: the checksum of no bytes.
    private static var erasedRow: [UInt8] {
        var row: [UInt8] = []
        row.appendChecksum()
        return row
    }
}
