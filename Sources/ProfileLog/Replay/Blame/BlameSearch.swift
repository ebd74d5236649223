extension LogReader {
    /// As ``EventLog/blame(_:of:withLog:)``: all attributes and counts, or those that the text `field` names, as of
    /// `version`; nil for the present. Both are from one view. With a log, each has `page` of it.
    package func blameWithCounts(
        of user: UserNumber, asOf version: Version? = nil, field: String? = nil, withLog: Bool = false,
        page: BlamePage = BlamePage()
    ) throws -> (attributes: [FieldBlame], counts: [OccurrenceBlame]) {
        try withView { view in
            let search = try BlameSearch(self, view, of: user, asOf: version, withLog: withLog, page: page)
            let subject = field.flatMap { OccurrenceBlame.Subject($0) }
            let hasCounts = field == nil || subject != nil
            return (try search.attributes(field), hasCounts ? try search.occurrences(of: subject) : [])
        }
    }
}

/// Finds the events of one user that wrote attributes or raised counts.
struct BlameSearch {
    let log: LogReader
    let view: LogView
    let user: UInt64
    let version: UInt64
    let withLog: Bool
    /// The part of each log.
    let page: BlamePage
    let now: ProfileState
    private let read = ReadWrites()

    init(
        _ log: LogReader, _ view: LogView, of user: UserNumber, asOf wanted: Version?, withLog: Bool,
        page: BlamePage = BlamePage()
    ) throws {
        (self.log, self.view, self.user, self.withLog, self.page) = (log, view, user.rawValue, withLog, page)
        version = try wanted?.rawValue ?? view.version(of: user.rawValue)
        now = try log.states.state(ProfileProjection.self, user.rawValue, version: version, view)
    }

    /// The blame of an attribute, or of a part of it; of all attributes for nil.
    func attributes(_ field: String?) throws -> [FieldBlame] {
        guard let field else { return try answer(now.fields.fields.map { ($0.key, []) }) }
        for asked in attributes(named: field) {
            let answer = try answer(asked)
            if !answer.isEmpty { return answer }
        }
        return []
    }

    /// Returns the attributes that `text` may name, the longest name first: names of attributes may contain dots.
    private func attributes(named text: String) -> [[(key: FieldKey, path: [FieldBlame.Step])]] {
        // A name has no more characters than this, and each of them is a place where a path may begin.
        let places = text.indices.prefix(Limits.charactersPerName + 1)
        let ends = [text.endIndex] + places.filter { text[$0] == "." || text[$0] == "[" }.reversed()
        return ends.compactMap { end in
            guard end > text.startIndex, let path = [FieldBlame.Step](text[end...]) else { return nil }
            let name = String(text[..<end])
            let standard = StandardAttribute(name: name).map { FieldKey(standard: UInt32($0.rawValue)) }
            let custom = log.names.number(Name(name)).map { FieldKey(custom: $0) }
            return [standard, custom].compactMap { $0.map { ($0, path) } }
        }
    }

    /// The blame of these attributes, or of parts of them; of those without a value only if they had one before.
    func answer(_ asked: [(key: FieldKey, path: [FieldBlame.Step])]) throws -> [FieldBlame] {
        let found = try find(asked.map(\.key))
        var answer: [FieldBlame] = []
        let named = asked.compactMap { key, path in name(of: key).map { (name: $0, key: key, path: path) } }
        let order = named.sorted { ($0.key.isCustom ? 1 : 0, $0.name) < ($1.key.isCustom ? 1 : 0, $1.name) }
        for (name, key, path) in order {
            guard let track = found.tracks[key] else { continue }
            guard let traced = track.traced else {
                let log = withLog ? try entries(track, [path])[0] : []
                guard let current = track.current else {
                    // All its writes are void.
                    guard let last = log.last else { continue }
                    answer.append(try entry(name, key, path, nil, write(last, found), nil, log, found))
                    continue
                }
                let previous = track.previous.flatMap { write in write.value.map { ($0, write.position) } }
                answer.append(try entry(name, key, path, nil, write(current, found), previous, log, found))
                continue
            }
            var leaves: [(path: [FieldBlame.Step], leaf: TracedValue)] = []
            traced.part(at: path)?.forEachLeaf(path) { leaves.append(($0, $1)) }
            let logs = withLog ? try entries(track, leaves.map(\.path)) : []
            for (index, (path, leaf)) in leaves.enumerated() {
                let write = try self.write(leaf.origin.position, leaf.value, void: nil, found)
                let log = withLog ? logs[index] : []
                answer.append(try entry(name, key, path, leaf.value, write, leaf.origin.replaced, log, found))
            }
        }
        return answer
    }

    private func name(of key: FieldKey) -> Name? {
        key.isCustom ? log.names.name(key.customName) : key.standard.map { Name($0.name) }
    }

    private func entry(
        _ name: Name, _ key: FieldKey, _ path: [FieldBlame.Step], _ value: AttributeValue?, _ write: FieldWrite,
        _ previous: (value: AttributeValue, position: UInt64)?, _ log: [LogEntry], _ found: Found
    ) throws -> FieldBlame {
        let (writes, place) = try part(of: log, found)
        return FieldBlame(
            attribute: name, isCustom: key.isCustom, path: path, value: value, write: write,
            replaced: previous.map { .init(value: $0.value, position: Position(rawValue: $0.position)) }, log: writes,
            logPlace: place)
    }

    // MARK: - The search

    /// The findings of walks.
    struct Found {
        var tracks: [FieldKey: AttributeTrack] = [:]
        /// The position at which each write took effect, if that is another event.
        var effects: [UInt64: UInt64] = [:]
        /// The merges by which users came to this one.
        var merges: [UInt64: UInt64] = [:]

        mutating func take(_ walk: AttributeWalk) {
            tracks.merge(walk.tracks) { $1 }
            effects.merge(walk.effects) { $1 }
            merges.merge(walk.merges) { $1 }
        }
    }

    private func find(_ keys: [FieldKey]) throws -> Found {
        if !withLog, let found = try findLastWrites(keys) { return found }
        var voided = VoidedEvents()
        if now.voids > 0 { voided = try view.voidedEvents(among: view.positions(of: user, from: 1, to: version)) }
        var walk = try walk(keys, skipping: voided)
        _ = try walk.run(user, 1..<version + 1, from: nil)
        var found = Found()
        found.take(walk)
        return found
    }

    private func walk(_ keys: [FieldKey], skipping voided: VoidedEvents) throws -> AttributeWalk {
        AttributeWalk(
            view, log.names, try log.states.driver(view, skipping: voided), wanted: keys.count == 1 ? keys[0] : nil,
            keepsAll: withLog)
    }

    /// Walks from snapshots shortly before the last writes, which the profile names. Nil if that does not tell all.
    private func findLastWrites(_ keys: [FieldKey]) throws -> Found? {
        var goals: [AttributeWalk.Goal] = []
        for key in keys {
            guard let field = now.fields.field(key) else { return nil }
            let header = try view.header(at: field.position)
            // The event of a merged user took effect with the merge.
            guard header.user == user else { return nil }
            goals.append(.init(key: key, position: field.position, version: header.version))
        }
        goals.sort { $0.version < $1.version }
        // Each walk begins with a snapshot, and so costs all attributes.
        let walks = 1 + zip(goals, goals.dropFirst()).count { $1.version > $0.version + AttributeWalk.fewEvents }
        guard walks == 1 || UInt64(walks) * UInt64(now.fields.fields.count) < version else { return nil }
        var found = Found()
        var rest = goals[...]
        while let first = rest.first {
            let base = try log.states.snapshot(ProfileProjection.self, user, upTo: first.version - 1, view)
            // Later voids are about events that the snapshot or this walk includes.
            guard base?.state.voids ?? 0 == now.voids else { return nil }
            var walk = try walk(keys, skipping: VoidedEvents())
            let met = try walk.run(user, (base?.version ?? 0) + 1..<version + 1, from: base, goals: rest)
            guard met > 0 else { return nil }
            found.take(walk)
            rest = rest.dropFirst(met)
        }
        for key in keys {
            guard let track = found.tracks[key], track.isExact, let field = now.fields.field(key),
                now.fields.withBytes(field, { track.current?.bytes?.elementsEqual($0) }) == true
            else { return nil }
        }
        return found
    }

    // MARK: - Writes

    /// An entry of a log, of which the event is not read yet.
    struct LogEntry {
        let position: UInt64
        let value: AttributeValue?
        let void: UInt64?
    }

    /// Reads the events of those entries of `log` that are on the page; nil for the place if no log is asked for.
    func part(of log: [LogEntry], _ found: Found) throws -> (writes: [FieldWrite], place: BlamePage.Place?) {
        guard withLog else { return ([], nil) }
        let (entries, place) = page.part(of: log)
        return (try entries.map { try write($0, found) }, place)
    }

    func write(_ entry: LogEntry, _ found: Found) throws -> FieldWrite {
        try write(entry.position, entry.value, void: entry.void, found)
    }

    /// All writes of an attribute, for each of `paths`: of a part of it, the ones that changed that part.
    private func entries(_ track: AttributeTrack, _ paths: [[FieldBlame.Step]]) throws -> [[LogEntry]] {
        var entries: [[LogEntry]] = paths.map { _ in [] }
        var last: [AttributeValue?] = paths.map { _ in nil }
        // Each value is read once, whatever the number of its parts.
        for write in track.all {
            try view.budget?.check()
            let whole = write.value
            for (index, path) in paths.enumerated() {
                let value = whole.flatMap { $0.value(at: path) }
                if !path.isEmpty, value == last[index] { continue }
                if write.void == nil { last[index] = value }
                entries[index].append(LogEntry(position: write.position, value: value, void: write.void))
            }
        }
        return entries
    }

    private func write(_ write: AttributeWrite, _ found: Found) throws -> FieldWrite {
        try self.write(write.position, write.value, void: write.void, found)
    }

    func write(
        _ position: UInt64, _ value: AttributeValue?, void: UInt64?, _ found: Found
    ) throws -> FieldWrite {
        var write = try read.write(at: position, isVoid: void != nil) {
            try self.write(position, isVoid: void != nil, found)
        }
        write.value = value
        write.void = void.map { Position(rawValue: $0) }
        return write
    }

    /// The event at `position` as a write, without its value.
    private func write(_ position: UInt64, isVoid: Bool, _ found: Found) throws -> FieldWrite {
        let header = try view.header(at: position)
        let event = try RecordedEvent(reading: header, at: position, names: log.names.current)
        var write = FieldWrite(value: nil, event: event, request: try read.keys.key(at: position, header, in: view))
        if header.user != user { write.merge = found.merges[header.user].map { Position(rawValue: $0) } }
        if isVoid { return write }
        if let effect = found.effects[position] {
            write.effect = Position(rawValue: effect)
            let flush = try view.header(at: effect)
            if flush.kind == .pendingFlushed, let body = RecordBody(flush.body) {
                write.launch = Position(rawValue: body.launch)
            }
        } else if !event.event.kind.isSaved, !event.event.kind.isQueued {
            write.effect = event.position
        }
        return write
    }
}

/// The events that a blame has read: one event may have set thousands of attributes, and is read once.
private final class ReadWrites {
    private var writes: [UInt64: FieldWrite] = [:]
    private var voidWrites: [UInt64: FieldWrite] = [:]
    var keys = AppendKeys()

    func write(at position: UInt64, isVoid: Bool, _ read: () throws -> FieldWrite) rethrows -> FieldWrite {
        if let known = isVoid ? voidWrites[position] : writes[position] { return known }
        let write = try read()
        if isVoid { voidWrites[position] = write } else { writes[position] = write }
        return write
    }
}
