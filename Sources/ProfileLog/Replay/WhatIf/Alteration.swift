/// An `AlteredHistory` on one log: what becomes of each record.
package struct Alteration: Sendable {
    /// All names, also those that only corrected events have.
    package private(set) var names: NameMap
    /// The end of the history: later events are not looked at.
    package let last: UInt64
    /// The rules of the log; nil if it has none.
    package let timeline: RulesTimeline?
    /// Tells whether the altered history has rules of its own.
    let hasOwnRules: Bool
    /// The rules by which the altered history is folded; nil if there are none.
    package let alteredTimeline: RulesTimeline?
    /// The canonical users who may differ; nil if each of them may.
    package let users: Set<UInt64>?

    private var positions: Set<UInt64> = []
    private var corrected: [UInt64: (kind: EventKind, body: [UInt8])] = [:]
    private var sources: Set<EventSource> = []
    private var devices: Set<Name> = []
    private var owners: Set<UInt64> = []
    private var omittedNames: Set<Name> = []
    private var customNames: Set<UInt64> = []
    private var standardNames: Set<UInt64> = []
    /// Tells whether the positions alone decide.
    private let isByPosition: Bool

    /// Throws `AppendError.invalid` for an event that cannot be omitted or corrected.
    ///
    /// - Parameter end: the last event that counts; nil for the last one of the log.
    package init(_ history: AlteredHistory, of log: LogReader, upTo end: Position? = nil) throws {
        (names, last, timeline) = try log.withView { view in
            (log.names.current, min(view.last, end?.rawValue ?? .max), try log.states.rules(view))
        }
        var canonical: Set<UInt64> = []
        var isLocal = true
        for omission in history.without {
            switch omission {
            case .event(let position):
                canonical.insert(try Self.target(position, log).user)
                positions.insert(position.rawValue)
            case .user(let user):
                let user = try log.users.canonicalUser(of: user).rawValue
                canonical.insert(user)
                owners.formUnion(try log.withView { try Self.owners(of: user, $0) })
            case .name(let name):
                omittedNames.insert(name)
                if let number = names.number(name) { customNames.insert(UInt64(number)) }
                if let attribute = StandardAttribute(name: name.text) {
                    standardNames.insert(UInt64(attribute.rawValue))
                }
            case .source(let source): sources.insert(source)
            case .device(let device): devices.insert(device)
            }
            switch omission {
            case .event, .user: break
            case .name, .source, .device: isLocal = false
            }
        }
        var newNames = NewNames(log.names)
        for (position, event) in history.corrections {
            let (user, original) = try Self.target(position, log)
            canonical.insert(user)
            let event = try Self.corrected(original, event, history.times[position])
            corrected[position.rawValue] = try Self.encoded(event, &newNames)
        }
        if !newNames.added.isEmpty { names = newNames.map }
        hasOwnRules = history.rules != nil
        alteredTimeline =
            history.rules.map { [names] in RulesTimeline(always: BoundRules($0, names: names)) }
            ?? (newNames.added.isEmpty ? timeline : timeline?.bound(to: names) ?? RulesTimeline([], names: names))
        users = isLocal && !hasOwnRules ? canonical : nil
        isByPosition = isLocal && owners.isEmpty
    }

    // MARK: - What is asked

    private static let remedy = "Name an event that was saved or logged: `log.history` lists them."

    /// The event at `position`, and the canonical user who has it.
    private static func target(_ position: Position, _ log: LogReader) throws -> (user: UInt64, event: RecordedEvent) {
        let place = "The event at position \(position.rawValue)"
        return try log.withView { view in
            guard position > .start, position.rawValue <= view.last else {
                throw AppendError.invalid(
                    place: place, reason: VoidRefusal.beyondEnd(last: view.last).reason, remedy: Self.remedy)
            }
            let header = try view.header(at: position.rawValue)
            switch VoidRefusal(of: header) {
            case nil: break
            case .kind(let kind)?:
                let reason =
                    "is of the kind \((kind ?? .unknown).name), and only what was saved or logged can be altered"
                throw AppendError.invalid(place: place, reason: reason, remedy: Self.remedy)
            case let refusal?: throw AppendError.invalid(place: place, reason: refusal.reason, remedy: Self.remedy)
            }
            let event = try RecordedEvent(reading: header, at: position.rawValue, names: log.names.current)
            return (try view.canonicalUser(of: header.user), event)
        }
    }

    /// `user` and all who were merged into them.
    private static func owners(of user: UInt64, _ view: LogView) throws -> Set<UInt64> {
        var owners: Set<UInt64> = [user]
        var waiting = [user]
        while let user = waiting.popLast() {
            for position in try view.positions(of: user, from: 1, to: view.version(of: user)) {
                let header = try view.header(at: position)
                guard header.kind == .usersMerged, let body = RecordBody(header.body), let source = body.otherUser,
                    owners.insert(source).inserted
                else { continue }
                waiting.append(source)
            }
        }
        return owners
    }

    /// `original` with another content.
    private static func corrected(
        _ original: RecordedEvent, _ event: ProfileEvent, _ time: OccurredAt?
    ) throws(AppendError) -> RecordedEvent {
        var corrected = original
        corrected.event = event
        if let time { corrected.context.occurredAt = time }
        guard case .content(_, let timing) = original.event.kind.role, case .content(_, timing) = event.kind.role else {
            throw .invalid(
                place: "The event at position \(original.position.rawValue)",
                reason: "cannot become one of the kind \(event.kind.name): what is saved, logged or queued stays so")
        }
        try Validation.check(event, corrected.context)
        return corrected
    }

    private static func encoded(
        _ event: RecordedEvent, _ names: inout NewNames
    ) throws(AppendError) -> (kind: EventKind, body: [UInt8]) {
        var writer = WireWriter()
        guard EventEncoder.write(event.event, event.context, names: &names, to: &writer) else {
            throw .invalid(place: "The event", reason: "has a name without a number")
        }
        return (event.event.kind, Array(writer.bytes))
    }

    // MARK: - Record by record

    /// Returns the effect on the event of `header`.
    package func effect(on header: RecordHeader, at position: UInt64) -> RecordEffect {
        if let event = corrected[position] { return .replaced(event.kind, body: event.body) }
        if positions.contains(position) { return .omitted }
        if isByPosition { return .none }
        guard case .content(let content, _)? = header.kind?.role else { return .none }
        if owners.contains(header.user) || !sources.isEmpty && sources.contains(header.source) { return .omitted }
        if !devices.isEmpty, let device = RecordBody(header.body)?.device,
            devices.contains(Name(String(decoding: device, as: UTF8.self)))
        {
            return .omitted
        }
        return omittedNames.isEmpty ? .none : effectOfNames(content, header, position)
    }

    private func effectOfNames(_ content: EventRole.Content, _ header: RecordHeader, _ position: UInt64) -> RecordEffect
    {
        switch content {
        case .customEvent, .purchase:
            return RecordBody(header.body).map { customNames.contains(UInt64($0.name)) } == true ? .omitted : .none
        case .customAttributes:
            return Self.sets(customNames, header) ? withoutNames(header, position) : .none
        case .userAttributes:
            return Self.sets(standardNames, header) ? withoutNames(header, position) : .none
        }
    }

    /// Tells whether one of the changes is about an attribute in `numbers`.
    private static func sets(_ numbers: Set<UInt64>, _ header: RecordHeader) -> Bool {
        var reader = WireReader(header.body)
        while let bytes = reader.bytes(of: RecordField.entries) {
            var entry = WireReader(bytes)
            if entry.field()?.number == RecordField.Value.name, numbers.contains(entry.varint()) { return true }
        }
        return false
    }

    /// The event with the changes of other attributes only.
    private func withoutNames(_ header: RecordHeader, _ position: UInt64) -> RecordEffect {
        guard var event = RecordedEvent(header, position: Position(rawValue: position), names: names),
            let rest = rest(of: event.event)
        else { return .omitted }
        event.event = rest
        var names = names
        var writer = WireWriter()
        guard EventEncoder.write(event.event, event.context, names: &names, to: &writer) else { return .omitted }
        return .replaced(event.event.kind, body: Array(writer.bytes))
    }

    /// `event` without the omitted attributes; nil if none is left.
    private func rest(of event: ProfileEvent) -> ProfileEvent? {
        if case .queued(let event) = event { return rest(of: event).map { .queued($0) } }
        switch event.content {
        case .customAttributes(let changes):
            let others = changes.filter { !omittedNames.contains($0.name) }
            if others.isEmpty { return nil }
            return event.kind.isSaved ? .customAttributesSaved(others) : .customAttributesChanged(others)
        case .userAttributes(let changes):
            let others = changes.filter { !omittedNames.contains(Name($0.attribute.name)) }
            return others.isEmpty ? nil : .userAttributesChanged(others)
        case .customEvent, .purchase, nil: return nil
        }
    }
}
