/// Rebuilds a store from a backup, up to a position: `log`, `names` and `meta` byte for byte but for the row of
/// histories (docs/decisions/0017), and their caches.
///
/// `backup verify` reads by it too: what it accepts can be restored.
package struct Restore: Sendable {
    /// The end of what is restored.
    package enum End: Hashable, Sendable {
        /// Everything that the backup has.
        case whole
        /// The event at this position, which may be 0: then nothing is restored but the store's own rows.
        case position(Position)
        /// All that was recorded at this time or before.
        case time(Timestamp)
    }

    package let reader: BackupReader
    /// The position of the last event that is restored.
    package let end: Position
    /// The time of that event; that of the backup's first one, if none is restored.
    package let recordedAt: Timestamp
    /// The histories of the backup.
    package let histories: LogHistories
    /// Tells whether the store is for another node of the cluster: then its rows are those of the backup, and it has
    /// the backup's place in the cluster.
    package let isForNode: Bool
    private let register: ErasureRegister

    /// Reads a whole backup for a node that joins the cluster of the store: no history begins.
    package init(forNode reader: BackupReader) throws {
        try self.init(reader, to: .whole, erasures: nil, isForNode: true)
        guard reader.manifest.meta.contains(where: { $0.name == ReplicaPosition.row }) else {
            throw RestoreError.noPlace(path: reader.path)
        }
    }

    /// Finds the end. With `erasures`, those that the backup does not know are applied to what is restored. Those that
    /// it knows count too: `erasures` may be older than the backup.
    package init(_ reader: BackupReader, to end: End = .whole, erasures: ErasureRegister? = nil) throws {
        try self.init(reader, to: end, erasures: erasures, isForNode: false)
    }

    private init(_ reader: BackupReader, to end: End, erasures: ErasureRegister?, isForNode: Bool) throws {
        let manifest = reader.manifest
        if let erasures, erasures.store != manifest.store { throw RestoreError.otherRegister }
        (self.reader, self.isForNode) = (reader, isForNode)
        register = ErasureRegister(
            store: manifest.store, erasures: ErasureRegister.sorted(manifest.erasures + (erasures?.erasures ?? [])))
        (self.end, recordedAt) = try Self.place(of: end, in: reader)
        histories = try Self.histories(of: manifest, path: reader.path)
    }

    /// The histories of the backup. Throws unless a store can be made with the rows of table `meta` that it has.
    private static func histories(of manifest: Manifest, path: String) throws(BackupError) -> LogHistories {
        func damaged(_ reason: String) -> BackupError {
            .damaged(path: "\(path)/\(Manifest.fileName)", reason: reason)
        }
        func row(_ name: String) -> [UInt8]? { manifest.meta.first { $0.name == name }?.value }
        guard row("uuid") == manifest.store else { throw damaged("its row uuid is not that of the store") }
        let bytes = row(LogHistories.row) ?? []
        guard let histories = bytes.withUnsafeBytes({ LogHistories($0) }), histories.newest.id == manifest.history
        else { throw damaged("its histories are not those of the log") }
        do throws(StorageError) {
            _ = try CommitBatch.restoredMeta(manifest.meta, histories, hasBuried: true, hasForgotten: true)
        } catch {
            throw damaged("its rows of table meta are not those of a store")
        }
        return histories
    }

    private static func place(of end: End, in reader: BackupReader) throws -> (Position, Timestamp) {
        let manifest = reader.manifest
        let whole = (manifest.position, manifest.recordedAt)
        switch end {
        case .whole: return whole
        case .position(let position):
            if position > manifest.position {
                throw RestoreError.beyondBackup(last: manifest.position, recordedAt: manifest.recordedAt)
            }
            guard let file = manifest.segment(at: position) else {
                return (.start, manifest.segments.first?.firstAt ?? manifest.recordedAt)
            }
            return (position, try reader.segment(file).recordedAt(position))
        case .time(let time):
            if time > max(manifest.written, manifest.recordedAt) {
                throw RestoreError.afterBackup(written: manifest.written)
            }
            if manifest.position == .start { return whole }
            guard let file = manifest.lastSegment(notAfter: time) else {
                throw RestoreError.beforeFirst(
                    recordedAt: manifest.segments.first?.firstAt ?? manifest.recordedAt)
            }
            if file.lastAt <= time { return (file.last, file.lastAt) }
            let segment = try reader.segment(file)
            // Times never fall.
            var (known, beyond) = (file.first, file.last)
            while beyond.rawValue - known.rawValue > 1 {
                let middle = Position(rawValue: (known.rawValue + beyond.rawValue) / 2)
                if segment.recordedAt(middle) <= time { known = middle } else { beyond = middle }
            }
            return (known, segment.recordedAt(known))
        }
    }

    // MARK: - Reading

    /// Reads all that is restored, and compares every checksum; nothing is written. `progress` stops the work by
    /// returning false.
    package func verify(progress: (LogProgress) -> Bool = { _ in true }) throws -> RestoreReport {
        for file in reader.manifest.settings { _ = try reader.content(of: file.file) }
        return try read(at: Timestamp(rawValue: 0), stage: "read", progress, begin: { _ in }, store: { _ in })
    }

    /// Hands out the rows of table `meta`, then the names and the records as batches of a commit. `now` is the time of
    /// the restore. With `isHashed`, the report has the digest of the rows.
    private func read(
        at now: Timestamp, stage: String, isHashed: Bool = false, _ progress: (LogProgress) -> Bool,
        begin: ([CommitBatch.MetaRow]) throws -> Void, store: (CommitBatch) throws -> Void
    ) throws -> RestoreReport {
        func advance(_ done: LogProgress) throws { if !progress(done) { throw RestoreError.stopped } }
        let names = try reader.names()
        let erasures = try RestoredErasures(register, in: reader, upTo: end, names: names, advance)
        let restored = isForNode ? histories : histories.restored(to: end, at: now)
        var meta = reader.manifest.meta
        if !isForNode {
            meta = try CommitBatch.restoredMeta(
                meta, restored, hasBuried: erasures.events > 0, hasForgotten: !erasures.forgottenNames.isEmpty)
        }
        try begin(meta)
        var digest = isHashed ? TruthDigest() : nil
        digest?.add(meta: meta)
        var writer = RestoredNames(names, forgotten: erasures.forgottenNames)
        var batch = CommitBatch(firstPosition: 1)
        func flush() throws {
            batch.firstName = writer.count + 1
            batch.names = try writer.take(in: reader)
            if digest != nil { for name in writer.rows(from: batch.firstName) { digest?.add(name: name) } }
            if batch.count > 0 || !batch.names.isEmpty { try store(batch) }
            batch = CommitBatch(firstPosition: batch.firstPosition + UInt64(batch.count))
        }
        // Of a beginning, the names that its records use: those that came later are absent.
        let isWhole = end == reader.manifest.position
        if isWhole { writer.need(UInt32(names.rows.count)) }
        try reader.forEachRecord(upTo: end, stage: stage, advance) { position, record in
            if !isWhole { try need(record, at: position, &writer) }
            if let tombstone = try erasures.tombstone(of: record, at: position) {
                batch.bytes += tombstone
                digest?.add(record: tombstone)
            } else {
                batch.bytes.append(contentsOf: record)
                digest?.add(record: record)
            }
            batch.ends.append(batch.bytes.count)
            if batch.bytes.count >= Self.bytesPerBatch || position.rawValue % Segment.positions == 0 { try flush() }
        }
        try flush()
        return RestoreReport(
            end: end, recordedAt: recordedAt, names: writer.count, history: restored.newest,
            erasedUsers: erasures.events > 0 ? erasures.users.count : 0, erasedEvents: erasures.events,
            digest: digest?.text)
    }

    /// The erasures that the log of the restored store does not tell of: it ends before them, or they happened in a
    /// history that is gone. The backups of the store must know them still.
    private var unrecordedErasures: ErasureRegister {
        let unrecorded = register.erasures.filter { erasure in
            erasure.position > end || histories.history(at: erasure.position).id != erasure.history
        }
        return ErasureRegister(store: register.store, erasures: unrecorded)
    }

    /// The files that belong into the folder of the store: the settings, and the erasures of which its log does not
    /// tell.
    func filesNextToStore() throws -> [(name: String, content: [UInt8])] {
        var files = try reader.manifest.settings.map { (name: $0.name, content: try reader.content(of: $0.file)) }
        let unrecorded = unrecordedErasures
        if !unrecorded.erasures.isEmpty {
            let lines = unrecorded.lines.map { $0 + "\n" }.joined()
            files.append((name: ErasureRegister.fileName, content: Array(lines.utf8)))
        }
        return files
    }

    private static let bytesPerBatch = 32 << 20

    private func need(_ record: UnsafeRawBufferPointer, at position: Position, _ names: inout RestoredNames) throws {
        guard let header = RecordHeader(record), let body = RecordBody(header.body) else {
            throw reader.unreadable(position)
        }
        body.forEachName(header.kind) { names.need($0) }
    }

    // MARK: - Writing

    /// Writes the store in `folder`, with its caches and settings, and gives it its place. If it throws, or is killed,
    /// the folder is as it was.
    package func run(
        into folder: RestoreFolder, options: LogOptions = LogOptions(),
        projections: [any Projection.Type] = [ProfileProjection.self],
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> RestoreReport {
        do {
            try folder.begin()
            var options = options
            options.fileMode = folder.fileMode
            var report = try LogCopier.copying(into: folder.path) {
                let report = try write(in: folder.store, options: options, projections: projections, progress: progress)
                for (name, content) in try filesNextToStore() { try folder.write(content, to: name) }
                return report
            }
            report.settings = reader.manifest.settings.map(\.name)
            try folder.finish(at: options.now())
            report.movedAside = folder.movedAside
            return report
        } catch {
            folder.abandon()
            throw error
        }
    }

    /// Writes the store with its caches in `path`, a folder that does not exist or is empty, and closes it.
    func write(
        in path: String, options: LogOptions, projections: [any Projection.Type], isHashed: Bool = false,
        progress: (LogProgress) -> Bool
    ) throws -> RestoreReport {
        let clock = ContinuousClock()
        let begin = clock.now
        // Not closed on an error: that would write its caches.
        var log: EventLog?
        var options = options
        options.transport = CopyTransport()
        var report = try read(at: options.now(), stage: "restore", isHashed: isHashed, progress) { meta in
            log = try EventLog(
                path: path, create: true, options: options, projections: projections, creation: CommitBatch(meta: meta))
        } store: {
            try log?.restore($0)
        }
        report.elapsedOfTruth = clock.now - begin
        try log?.writeCachesOfRestored { position in
            let done = LogProgress(stage: "caches", done: position.rawValue, total: end.rawValue)
            if !progress(done) { throw RestoreError.stopped }
        }
        log?.close()
        report.elapsed = clock.now - begin
        return report
    }

    /// Writes the store in `path`, a folder that does not exist or is empty, and compares its rows with those of the
    /// backup. The caller gives it its place.
    package func writeVerified(
        in path: String, options: LogOptions = LogOptions(), projections: [any Projection.Type],
        progress: (LogProgress) -> Bool
    ) throws -> RestoreReport {
        var report = try LogCopier.copying(into: path) {
            try write(in: path, options: options, projections: projections, isHashed: true, progress: progress)
        }
        let log = try EventLog(path: path, options: options, projections: projections)
        defer { log.close() }
        if try log.truthDigest() != report.digest {
            report.problems.append("the restored rows are not those of the backup")
        }
        return report
    }

    /// Restores into `path`, an empty folder whose content the caller removes afterwards, checks that store, and
    /// compares its rows with those of the backup.
    package func drill(
        in path: String, options: LogOptions = LogOptions(),
        projections: [any Projection.Type] = [ProfileProjection.self],
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> RestoreReport {
        var report = try LogCopier.copying(into: path) {
            try write(in: path, options: options, projections: projections, isHashed: true, progress: progress)
        }
        let log = try EventLog(path: path, options: options, projections: projections)
        defer { log.close() }
        report.problems = try log.check { _ = progress($0) }.problems.map(\.description)
        if try log.truthDigest() != report.digest {
            report.problems.append("the restored rows are not those of the backup")
        }
        return report
    }
}

/// The report of a restore.
package struct RestoreReport: Hashable, Sendable {
    /// The position of the last event.
    package let end: Position
    package let recordedAt: Timestamp
    /// The number of names.
    package let names: UInt32
    /// The history that the restored store begins.
    package let history: LogHistory
    /// Users whose records were erased here and not in the backup, and the number of these records.
    package let erasedUsers: Int
    package let erasedEvents: UInt64
    /// The digest of the rows (`TruthDigest`), for a drill.
    package let digest: String?
    /// The names of the files of settings that were restored.
    package var settings: [String] = []
    /// The new path of the store that was replaced.
    package var movedAside: String?
    /// The time until `log`, `names` and `meta` were written, and that until the caches were too.
    package var elapsedOfTruth = Duration.zero
    package var elapsed = Duration.zero
    /// Problems that a drill has found.
    package var problems: [String] = []

    init(
        end: Position, recordedAt: Timestamp, names: UInt32, history: LogHistory, erasedUsers: Int,
        erasedEvents: UInt64, digest: String?
    ) {
        (self.end, self.recordedAt, self.names, self.history) = (end, recordedAt, names, history)
        (self.erasedUsers, self.erasedEvents, self.digest) = (erasedUsers, erasedEvents, digest)
    }
}

/// The names of a store while it is restored: each is written before the first record that uses it, or with it.
private struct RestoredNames {
    private let segment: NamesSegment
    private let forgotten: Set<UInt32>
    /// The number of names that were taken.
    private(set) var count: UInt32 = 0
    private var needed: UInt32 = 0

    init(_ segment: NamesSegment, forgotten: Set<UInt32>) { (self.segment, self.forgotten) = (segment, forgotten) }

    /// Notes that a record uses name `number`.
    mutating func need(_ number: UInt32) { needed = max(needed, number) }

    /// The names that are needed and were not taken yet.
    mutating func take(in reader: BackupReader) throws -> [Name] {
        if needed <= count { return [] }
        guard needed <= segment.rows.count else {
            throw BackupError.damaged(
                path: "\(reader.path)/\(reader.manifest.names.name)", reason: "name \(needed) is missing")
        }
        let names = (count + 1...needed).map { number -> Name in
            if forgotten.contains(number) { return "" }
            return Name(String(decoding: segment.rows[Int(number) - 1].dropLast(4), as: UTF8.self))
        }
        count = needed
        return names
    }

    /// The rows of the names that were taken, from `number` on, as the store has them.
    func rows(from number: UInt32) -> [[UInt8]] {
        if number > count { return [] }
        return (number...count).map { number in
            if !forgotten.contains(number) { return segment.rows[Int(number) - 1] }
            var row: [UInt8] = []
            row.appendChecksum()
            return row
        }
    }
}
