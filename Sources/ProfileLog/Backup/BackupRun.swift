internal import Glibc

/// One run of a backup: what is new in the log, and what an erasure changed, comes into the folder. The manifest is
/// replaced at the end; until then the backup is that of the run before.
///
/// ```swift
/// let folder = try BackupFolder(path: "/backup/shop", store: log.path)
/// let report = try BackupRun(log: log, target: folder).run()
/// ```
///
/// Readers and writers of the store go on. A damaged record of the store, and a record that is another one than in the
/// backup without an erasure that explains it, stop the run: what a backup has once it keeps.
package struct BackupRun {
    private let source: StoreReads
    private let target: any BackupTarget
    /// Files of settings to keep with the log, by their names: those of `BackupFileName.settingsNames`.
    package var settings: [(name: String, content: [UInt8])] = []
    /// The version of the program, for the manifest.
    package var program = ""
    /// The time of the last verification, for the manifest; nil leaves what it says.
    package var verified: Timestamp?

    package init(log: EventLog, target: any BackupTarget) {
        source = StoreReads(log: log)
        self.target = target
    }

    /// The number of times that a run begins again because of erasures that came during it.
    private static let mostPasses = 20

    /// Brings the backup up to the end of the log. `progress` is asked after each segment, and stops the run with
    /// false: what was copied by then counts.
    package func run(progress: (LogProgress) -> Bool = { _ in true }) throws -> BackupReport {
        let old = try target.manifest()
        if old == nil {
            let now = try source.moment()
            try target.refuseOrphans(
                store: source.log.storeID, history: now.histories().newest.id, last: now.last)
        }
        // Files of a run that was stopped are kept for as long as they may be right; see `write`.
        do {
            return try run(old, progress)
        } catch {
            target.removeUnnamed(unlessReplaced: old)
            throw error
        }
    }

    private func run(_ old: Manifest?, _ progress: (LogProgress) -> Bool) throws -> BackupReport {
        let start = try source.moment()
        if let old { try refuseForeign(old, start) }
        var state = try RunState(old, path: target.path, start.histories(), unrecorded: source.unrecordedErasures())
        if target.path != "-" {
            state.report.isOnFileSystemOfStore = Self.areTogether(target.path, source.log.path)
            let fileSystem = FileSystem(path: target.path)
            state.report.networkFileSystem = fileSystem?.kind == .network ? fileSystem?.name : nil
        }
        try check(&state)
        for _ in 0..<Self.mostPasses {
            let goesOn = try copyClosed(&state, progress)
            try rewriteErased(&state)
            if !goesOn { return try stop(&state) }
            guard let end = try source.end(after: state.closed, history: state.history) else { continue }
            if try finish(end, &state) { return state.report }
        }
        throw BackupError.overtaken
    }

    // MARK: - Is it the backup of this store?

    private func refuseForeign(_ old: Manifest, _ start: StoreReads.Moment) throws {
        guard old.store == source.log.storeID else { throw BackupError.otherStore(path: target.path) }
        let known = try StoreReads.Moment(last: old.position, meta: old.meta).histories()
        if let common = try known.commonEnd(with: start.histories()) {
            throw BackupError.otherHistory(path: target.path, from: common.next)
        }
        if start.last < old.position {
            throw BackupError.shorterStore(path: target.path, last: start.last, backup: old.position)
        }
    }

    private static func areTogether(_ left: String, _ right: String) -> Bool {
        var (one, other) = (stat(), stat())
        return stat(left, &one) == 0 && stat(right, &other) == 0 && one.st_dev == other.st_dev
    }

    /// Compares two segments of the backup with the store: the last one, and another one at each run.
    private func check(_ state: inout RunState) throws {
        guard let old = state.old, let last = old.segments.last else { return }
        let closed = old.segments.last(where: { $0.isClosed })?.number ?? 0
        let turn = old.nextCheck > 0 && old.nextCheck <= closed ? old.nextCheck : min(1, closed)
        state.nextCheck = turn < closed ? turn + 1 : min(1, closed)
        let reader = BackupReader(path: target.path, manifest: old)
        // An open segment is compared when it is read again at the end.
        for number in Set([last.isClosed ? last.number : 0, turn]).sorted() where number > 0 {
            let known = old.segments[Int(number - 1)]
            let live = try source.segment(number, history: state.history, to: known.last)
            if try !isReadable(known, live, reader, &state) || live.sha256 == known.file.sha256 { continue }
            try state.note(reader.segment(known), Segment(live.bytes), target.path)
            // Only an erasure that is found later may explain it.
            state.toRewrite.insert(number)
        }
    }

    /// Tells whether the backup has its file of a segment. If that has lost its content, and the store has what it had,
    /// it is written again.
    private func isReadable(
        _ known: Manifest.SegmentFile, _ live: StoreReads.LiveSegment, _ reader: BackupReader, _ state: inout RunState
    ) throws -> Bool {
        do throws(BackupError) {
            _ = try reader.beginsWithRecords(of: known.file, live.bytes)
            return true
        } catch {
            guard case .damaged(let path, _) = error, live.sha256 == known.file.sha256 else { throw error }
            state.report.repaired.append(path)
            try put(live, at: known.number, &state)
            return false
        }
    }

    // MARK: - Copying

    /// Lowers the priority of the calling thread, which makes a backup and nothing else: writers of the store come
    /// first where cores are few.
    package static func yieldToWriters() { yieldToOtherThreads(niceness: 10) }

    /// The most bytes of a segment while whose file is written the next one is read: two of them are in memory then.
    private static let mostBytesAhead = 64 << 20

    /// Copies the segments that are closed by now. False if `progress` stopped it.
    private func copyClosed(_ state: inout RunState, _ progress: (LogProgress) -> Bool) throws -> Bool {
        let end = try source.moment().last
        var ahead: ValueAhead<StoreReads.LiveSegment>?
        // Its thread reads the store, so it ends before the run does.
        defer { _ = try? ahead?.value() }
        var lastSeen = end
        while Segment.last(of: state.closed + 1) <= end {
            let begin = ContinuousClock.now
            let number = state.closed + 1
            let live = try ahead?.value() ?? source.segment(number, history: state.history)
            ahead = nil
            if Segment.last(of: number + 1) <= end, live.bytes.count <= Self.mostBytesAhead {
                ahead = ValueAhead { [source, history = state.history] in
                    try source.segment(number + 1, history: history, expecting: live.bytes.count)
                }
            }
            try take(live, &state)
            state.closed = number
            let done = Segment.last(of: number).rawValue
            let isLast = done + Segment.positions > end.rawValue
            if !progress(LogProgress(stage: "backup", done: done, total: end.rawValue)), !isLast { return false }
            // An archive takes as long as its reader.
            if target.path == "-" || isLast { continue }
            let last = try source.moment().last
            if last > lastSeen { Self.rest(after: begin.duration(to: .now)) }
            lastSeen = last
        }
        return true
    }

    /// Waits, as others write now: they share the disk, and its syncs, with the run. It works for a sixth of the time
    /// then.
    private static func rest(after work: Duration) {
        usleep(UInt32(min(5 * (work / .microseconds(1)), 1_000_000)))
    }

    /// Writes a segment that has records which the backup lacks.
    private func take(_ live: StoreReads.LiveSegment, _ state: inout RunState) throws {
        let number = Segment.number(of: live.first)
        if let known = state.entry(number) {
            let isReadable = try compare(known, with: live, &state)
            if !isReadable || known.file.sha256 != live.sha256 { try put(live, at: number, &state) }
            state.asOf[Int(number - 1)] = live.asOf
            state.toRewrite.remove(number)
        } else {
            try put(live, at: number, &state)
        }
        try register(live.erasures, &state)
    }

    /// Throws unless the store's segment is the backup's, with more records or with tombstones. False if the backup's
    /// file has lost its content, and the store has what it had.
    private func compare(
        _ known: Manifest.SegmentFile, with live: StoreReads.LiveSegment, _ state: inout RunState
    ) throws -> Bool {
        // What this run wrote was compared already.
        guard let old = state.old, Int(known.number) <= old.segments.count,
            old.segments[Int(known.number - 1)].file == known.file, live.last >= known.last
        else { return true }
        let segment: Segment
        let reader = BackupReader(path: target.path, manifest: old)
        do throws(BackupError) {
            // As a rule: then there is one copy in memory, that of the store.
            if try reader.beginsWithRecords(of: known.file, live.bytes) { return true }
            segment = try reader.segment(known)
        } catch {
            let part = try source.segment(known.number, history: state.history, to: known.last)
            guard case .damaged(let path, _) = error, part.sha256 == known.file.sha256 else { throw error }
            state.report.repaired.append(path)
            return false
        }
        try state.note(segment, Segment(live.bytes), target.path)
        return true
    }

    /// Writes the file of a segment, as a new generation if there is one.
    private func put(_ live: StoreReads.LiveSegment, at number: UInt64, _ state: inout RunState) throws {
        let name = state.newName(.segment(number), in: state.entry(number)?.file)
        let file = try write(live.bytes, live.sha256, to: name, &state)
        let entry = Manifest.SegmentFile(
            file: file, first: live.first, last: live.last, firstAt: live.firstAt, lastAt: live.lastAt)
        state.set(entry, asOf: live.asOf)
        state.report.segmentsWritten += 1
    }

    private func write(
        _ content: [UInt8], _ sha256: [UInt8], to name: String, _ state: inout RunState
    ) throws -> Manifest.File {
        try target.write(content, to: name)
        state.report.bytesWritten += UInt64(content.count)
        return Manifest.File(name: name, bytes: content.count, sha256: sha256)
    }

    // MARK: - Erasures

    /// Notes erasures that the run met, and the segments that they concern.
    private func register(_ found: [StoreReads.FoundErasure], _ state: inout RunState) throws {
        for erasure in found where state.met.insert(erasure.position).inserted {
            let erased = try source.erasedPositions(of: erasure.user)
            state.erasures += source.entries(of: erasure, erased, state.histories)
            state.erasedUsers.formUnion(erased.users.map(\.number.rawValue))
            for position in erased.positions {
                let number = Segment.number(of: position)
                state.erasedLast[number] = max(state.erasedLast[number] ?? .start, erasure.position)
            }
        }
    }

    /// Writes the closed segments again that were read before an erasure of one of their records.
    private func rewriteErased(_ state: inout RunState) throws {
        for number in state.outdated() {
            guard let known = state.entry(number), known.isClosed else { continue }
            let live = try source.segment(number, history: state.history)
            let isReadable = try compare(known, with: live, &state)
            if !isReadable || live.sha256 != known.file.sha256 {
                try put(live, at: number, &state)
                state.report.segmentsRewritten += 1
            }
            state.asOf[Int(number - 1)] = live.asOf
            state.toRewrite.remove(number)
        }
    }

    // MARK: - The end

    /// Writes what is left and the manifest. False if an erasure came in between: the run goes on.
    private func finish(_ end: StoreReads.End, _ state: inout RunState) throws -> Bool {
        if let open = end.open { try take(open, &state) }
        if !state.outdated().isEmpty { return false }
        state.erasedUpTo = end.moment.last
        try commit(end.moment, end.names, &state)
        return true
    }

    /// Writes a manifest of the segments that are closed, for a run that was stopped.
    private func stop(_ state: inout RunState) throws -> BackupReport {
        let (moment, names) = try source.names()
        state.report.isComplete = false
        guard let last = state.segments.last, last.last > state.report.before, state.isExplained,
            target.path != "-"
        else {
            try target.removeUnnamed(state.old)
            return state.report
        }
        state.erasedUpTo = max(last.last, state.asOf.min() ?? .start)
        // The log's place in a cluster is after the records that the backup has.
        try commit(moment.alone, names, &state)
        return state.report
    }

    private func commit(_ moment: StoreReads.Moment, _ rows: [[UInt8]], _ state: inout RunState) throws {
        try state.refuseUnexplained(target.path)
        let names = try writeNames(rows, moment, &state)
        let settings = try writeSettings(&state)
        let last = state.segments.last
        let erasures = ErasureRegister.sorted(state.erasures)
        state.report.erasures = erasures.count - (state.old?.erasures.count ?? 0)
        let manifest = Manifest(
            program: program, store: source.log.storeID, history: state.history, written: source.log.options.now(),
            verified: verified ?? state.old?.verified,
            position: last?.last ?? .start, recordedAt: last?.lastAt ?? Timestamp(rawValue: 0),
            erasedUpTo: state.erasedUpTo, rewrites: try moment.rewrites(), nameErasures: try moment.nameErasures(),
            meta: moment.meta, names: names, nameCount: UInt32(rows.count), segments: state.segments,
            settings: settings, erasures: erasures,
            nextCheck: max(state.nextCheck, min(1, state.closed)))
        try target.commit(manifest)
        state.report.position = manifest.position
        state.report.segments = manifest.segments.count
        state.report.bytes = manifest.files.reduce(0) { $0 + UInt64($1.bytes) }
        try target.removeUnnamed(manifest)
    }

    private func writeNames(
        _ rows: [[UInt8]], _ moment: StoreReads.Moment, _ state: inout RunState
    ) throws -> Manifest.File {
        let content = names(rows[...], state)
        let sha256 = SHA256.hash(content)
        guard let old = state.old else { return try write(content, sha256, to: BackupFileName.names.text, &state) }
        let reader = BackupReader(path: target.path, manifest: old)
        if old.names.sha256 == sha256 {
            if (try? reader.content(of: old.names)) != nil { return old.names }
            state.report.repaired.append("\(target.path)/\(old.names.name)")
        } else if SHA256.hash(names(rows.prefix(Int(old.nameCount)), state)) != old.names.sha256 {
            let known = try reader.names().rows
            let isErasure = try moment.nameErasures() > old.nameErasures
            for (index, row) in known.enumerated() {
                // An erased name has a checksum alone. A scrub may have erased one that the store has for others.
                let isSame = index < rows.count && (rows[index] == row || row.count == 4)
                guard isSame || index < rows.count && isErasure && rows[index].count == 4 else {
                    throw BackupError.otherNames(path: target.path, number: index + 1)
                }
            }
        }
        return try write(content, sha256, to: state.newName(.names, in: old.names), &state)
    }

    private func names(_ rows: ArraySlice<[UInt8]>, _ state: RunState) -> [UInt8] {
        NamesSegment(store: source.log.storeID, history: state.history, rows: Array(rows)).bytes
    }

    private func writeSettings(_ state: inout RunState) throws -> [Manifest.SettingsFile] {
        var files = state.old?.settings ?? []
        for (name, content) in settings {
            let index = files.firstIndex { $0.name == name }
            let known = index.map { files[$0].file }
            let sha256 = SHA256.hash(content)
            if let known, known.sha256 == sha256, let old = state.old,
                (try? BackupReader(path: target.path, manifest: old).content(of: known)) != nil
            {
                continue
            }
            let file = try write(content, sha256, to: state.newName(.settings(name), in: known), &state)
            let entry = Manifest.SettingsFile(name: name, file: file)
            if let index { files[index] = entry } else { files.append(entry) }
        }
        return files.sorted { $0.name < $1.name }
    }
}

/// The backup that a run writes, as far as it is known by now.
private struct RunState {
    let old: Manifest?
    let histories: LogHistories
    var report: BackupReport
    /// The segments of the new manifest, and the end of the log when each was read.
    private(set) var segments: [Manifest.SegmentFile]
    var asOf: [Position]
    /// The number of closed segments.
    var closed: UInt64
    var erasures: [RegisteredErasure]
    /// The positions of the erasures that this run has met.
    var met: Set<Position> = []
    /// Users whose erasure this run has met, and the last erasure that concerns each segment.
    var erasedUsers: Set<UInt64> = []
    var erasedLast: [UInt64: Position] = [:]
    /// Tombstones that the backup lacked: each must be of one of these users.
    private var changes: [Segment.Change] = []
    /// Segments that are other ones in the store, and were not written again yet.
    var toRewrite: Set<UInt64> = []
    var erasedUpTo: Position
    var nextCheck: UInt64 = 0
    /// Names of files that this run wrote.
    private var written: Set<String> = []

    init(_ old: Manifest?, path: String, _ histories: LogHistories, unrecorded: [RegisteredErasure]) {
        (self.old, self.histories) = (old, histories)
        report = BackupReport(path: path, before: old?.position ?? .start)
        segments = old?.segments ?? []
        asOf = segments.map { _ in old?.erasedUpTo ?? .start }
        closed = UInt64(segments.count { $0.isClosed })
        erasures = (old?.erasures ?? []) + unrecorded
        erasedUpTo = old?.erasedUpTo ?? .start
        if let old { written = Set(old.files.map(\.name)) }
    }

    /// The ID of the newest history.
    var history: UInt64 { histories.newest.id }

    func entry(_ number: UInt64) -> Manifest.SegmentFile? {
        number <= segments.count ? segments[Int(number - 1)] : nil
    }

    mutating func set(_ entry: Manifest.SegmentFile, asOf position: Position) {
        let index = Int(entry.number - 1)
        if index < segments.count {
            segments[index] = entry
            asOf[index] = position
        } else {
            segments.append(entry)
            asOf.append(position)
        }
    }

    /// A name that no file has which counts, or that this run wrote.
    mutating func newName(_ first: BackupFileName, in known: Manifest.File?) -> String {
        var name = known.flatMap { BackupFileName($0.name)?.next } ?? first
        while !written.insert(name.text).inserted { name = name.next }
        return name.text
    }

    /// Notes the records of `segment` that are tombstones in the store. Throws if other ones differ.
    mutating func note(_ segment: Segment, _ live: Segment, _ path: String) throws(BackupError) {
        do throws(Segment.OtherRecords) {
            changes += try segment.changes(in: live)
        } catch {
            throw .otherRecords(path: path, first: error.first, count: error.count)
        }
    }

    /// Segments that were read before an erasure of one of their records.
    func outdated() -> [UInt64] {
        erasedLast.filter { number, erasure in
            number <= segments.count && asOf[Int(number - 1)] < erasure
        }.map(\.key).sorted()
    }

    private var unexplained: Set<Position> {
        Set(changes.filter { !erasedUsers.contains($0.user) }.map(\.position))
    }

    /// Tells whether an erasure that the run met is of the users of all tombstones that the backup lacked.
    var isExplained: Bool { toRewrite.isEmpty && unexplained.isEmpty }

    /// Throws unless it is explained.
    func refuseUnexplained(_ path: String) throws(BackupError) {
        let unexplained = unexplained
        if let first = unexplained.min() {
            throw .otherRecords(path: path, first: first, count: unexplained.count)
        }
        if let number = toRewrite.min() {
            throw .otherRecords(path: path, first: Segment.first(of: number), count: 1)
        }
    }
}
