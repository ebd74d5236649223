extension EventLog {
    // MARK: - Export and import

    /// Calls `body` with each saved and logged event as one line of JSON, without a line feed, in the order of the log.
    ///
    /// ```swift
    /// var lines: [String] = []
    /// try log.exportEvents { lines.append($0) }
    /// let counts = try other.importEvents(lines, named: "events of the shop")
    /// ```
    ///
    /// The events are those of the moment when the call begins, without what is void or erased. Only the log makes
    /// events of other kinds, such as launches and merges: they have no line, and ``copy(to:until:progress:)`` copies
    /// them too. So what was saved waits again where it is imported, and a user comes along with one ID. A new e-mail
    /// address of REST makes a user `subscribed`; where its event is imported, the state is absent, which means the
    /// same.
    public func exportEvents(where filter: EventFilter = EventFilter(), _ body: (String) throws -> Void) throws {
        let (end, voided) = try withReader { log in
            let end = try log.lastPosition()
            return (end, try log.past.voided(asOf: end))
        }
        var pages = EventPages(after: .start, where: filter, withKeys: true)
        var ids: [UserNumber: String] = [:]
        while pages.scanned < end, !pages.isAtEnd {
            var lines: [String] = []
            try withReader { log in
                try pages.next(in: log, limit: Self.eventsPerPage, maxBytes: Self.bytesPerPage) { event in
                    guard event.position <= end else { return false }
                    let kind = event.event.kind
                    guard kind.isSaved || kind.isLogged, !event.isErased, !voided.contains(event.position.rawValue),
                        let content = event.event.content
                    else { return true }
                    if ids.count >= Self.mostIDs { ids.removeAll(keepingCapacity: true) }
                    let known = try ids[event.user] ?? log.users.find(event.user)?.id.description
                    guard let id = known else { return true }
                    ids[event.user] = id
                    var json = JSONWriter()
                    json.object { json in
                        ContentJSON.writeHeader(of: event, user: id, to: &json)
                        ContentJSON.write(content, to: &json)
                    }
                    lines.append(json.text)
                    return true
                }
            }
            for line in lines { try body(line) }
        }
    }

    private static let eventsPerPage = 1_024
    private static let bytesPerPage = 256 << 10
    private static let mostIDs = 65_536

    /// Stores the events of lines that ``exportEvents(where:_:)`` of another log wrote, and says how many it stored and
    /// how many were there. Empty lines are skipped.
    ///
    /// The events of one append are stored together under its idempotency key, and events without a key under `name`
    /// and the number of their line. So the same lines, imported again under the same name, change nothing, and an
    /// import that was stopped goes on.
    ///
    /// The source of the events is `import`; they are recorded now, and keep the time at which they happened. The first
    /// line that cannot be stored ends the import with an ``AppendError`` that names it: what comes before it is
    /// stored. A user without an ID of their own is unknown to another log.
    @discardableResult
    public func importEvents(
        _ lines: some Sequence<some StringProtocol>, named name: String
    ) throws -> (stored: UInt64, skipped: UInt64) {
        var run = try LineImport(into: self, named: name)
        for line in lines { try run.add(String(line)) }
        try run.finish()
        return (run.stored, run.skipped)
    }
}

/// Stores the lines of an export: the events of one key in one append, and many appends in one commit.
private struct LineImport {
    private let log: EventLog
    private let name: String
    private let times: ImportTimes
    /// The number of the last line that was taken.
    private var number = 0
    /// The lines that were taken last, if they have the same key.
    private var group: Group?
    private var appends: [(line: Int, events: Int, append: PreparedAppend)] = []
    private var events = 0
    private(set) var stored: UInt64 = 0
    private(set) var skipped: UInt64 = 0

    private struct Group {
        let key: String
        let line: Int
        var facts: [(line: Int, fact: LineFact)]
    }

    /// Events after which a commit begins.
    private static let eventsPerCommit = 1_000

    init(into log: EventLog, named name: String) throws(AppendError) {
        guard 1...900 ~= name.utf8.count else {
            throw .invalid(place: "The name of an import", reason: "must have 1 to 900 bytes")
        }
        (self.log, self.name) = (log, name)
        times = ImportTimes(takesAny: true, now: log.options.now())
    }

    mutating func add(_ line: String) throws {
        number += 1
        if line.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
        let read: (fact: LineFact, key: String?)?
        do throws(LineRefusal) {
            read = try self.read(line)
        } catch {
            try finish()
            throw error.asError(ofLine: number)
        }
        guard let (fact, ownKey) = read else { return }
        let key = ownKey ?? "import:\(name):\(number)"
        if group?.key == key {
            group?.facts.append((number, fact))
        } else {
            try endGroup()
            group = Group(key: key, line: number, facts: [(number, fact)])
        }
    }

    /// Stores what was taken and is not stored yet.
    mutating func finish() throws {
        try endGroup()
        try commit()
    }

    /// The event of a line, and its key; nil for a line that has none of its own.
    private func read(_ line: String) throws(LineRefusal) -> (fact: LineFact, key: String?)? {
        let value: AttributeValue
        do throws(JSONError) {
            value = try JSON.parse(line)
        } catch {
            throw LineRefusal("it is no valid JSON at byte \(error.offset): \(error.kind)")
        }
        guard case .object(let members) = value else { throw LineRefusal("it is no JSON object") }
        let fields = ImportFields(members)
        let kind = try fields.requiredText("kind")
        if ExportedLine.isErased(kind, fields) { return nil }
        guard fields.wasInLog else { throw LineRefusal("it has no \"position\", as the events of a log have") }
        guard let fact = try ExportedLine.read(kind, fields, times, Self.userAttribute) else { return nil }
        return (fact, try fields.key())
    }

    /// The value was in a log: it is taken as it is.
    private static func userAttribute(
        _ name: String, _ value: AttributeValue, _ asItIs: Bool
    ) throws(LineRefusal) -> UserAttributeChange {
        guard let attribute = StandardAttribute(name: name) else {
            throw LineRefusal("`\(name.shown)` is no user attribute")
        }
        do throws(JSONFormError) {
            return UserAttributeChange(attribute, try JSONValues.value(value))
        } catch {
            throw LineRefusal("its value \(error.reason)")
        }
    }

    private mutating func endGroup() throws {
        guard let group else { return }
        self.group = nil
        var builder = log.prepare(capacity: group.facts.count)
        for (line, fact) in group.facts {
            do throws(AppendError) {
                for event in fact.events { try builder.add(event, fact.context, to: fact.user) }
            } catch {
                try commit()
                throw error.named(asOfLine: line)
            }
        }
        let count = builder.count
        appends.append((group.line, count, try builder.finish(idempotencyKey: group.key)))
        events += count
        if events >= Self.eventsPerCommit { try commit() }
    }

    private mutating func commit() throws {
        if appends.isEmpty { return }
        let taken = appends
        (appends, events) = ([], 0)
        for (append, result) in zip(taken, log.commit(taken.map(\.append), endsAtRefusal: true)) {
            switch result {
            case .success(let receipt) where receipt.isRepetition: skipped += UInt64(append.events)
            case .success: stored += UInt64(append.events)
            case .failure(let error): throw error.named(asOfLine: append.line)
            }
        }
    }
}

extension LineRefusal {
    fileprivate func asError(ofLine number: Int) -> AppendError {
        let remedy: String? =
            switch self.remedy {
            case .correct, .setApart: nil
            case .timeUnit, .anyTime: "Write its times as in RFC 3339."
            case .correctOrUpdate: "Correct it, or import it with the version of the library that exported it."
            case .exportAgain: "Export it again with this version of the library."
            case .takeOut: "Take the line out."
            }
        return .invalid(place: "Line \(number)", reason: "cannot be imported: \(reason)", remedy: remedy)
    }
}

extension AppendError {
    /// The error with the number of the line, if it is about what a line says.
    fileprivate func named(asOfLine number: Int) -> AppendError {
        switch self {
        case .overloaded, .closed, .refused, .unavailable, .outcomePending, .outcomeUnknown: return self
        case .invalid, .unknownUser, .unknownDevice, .pendingFull, .keyReused, .tooLarge, .versionConflict, .conflict:
            let text = fact
            return .invalid(
                place: "Line \(number)",
                reason: "cannot be imported: \(text.prefix(1).lowercased())\(text.dropFirst().dropLast())",
                remedy: remedy)
        }
    }
}
