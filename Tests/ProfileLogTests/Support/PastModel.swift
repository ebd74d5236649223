import ProfileLog

/// The custom attributes and events that a naive fold gives of a history: of whole numbers that are set and
/// incremented, and of events that are saved, logged, flushed and discarded, through merges.
struct PastModel: Equatable {
    var values: [Name: AttributeValue] = [:]
    var events: [Name: UInt64] = [:]
    private var waiting: [Position: RecordedEvent] = [:]

    static func == (left: PastModel, right: PastModel) -> Bool {
        left.values == right.values && left.events == right.events
    }

    init(_ view: Profile) {
        for field in view.customAttributes { values[field.name] = field.value }
        for event in view.customEvents { events[event.name] = event.occurrences.count }
    }

    /// Folds `events` in the order of the log. `history` has the events of a user up to a version.
    init(recorded events: [RecordedEvent], history: (UserNumber, Version) throws -> [RecordedEvent]) rethrows {
        for event in events {
            switch event.event {
            case .pendingFlushed(let flush):
                for position in flush.flushed { if let item = waiting.removeValue(forKey: position) { apply(item) } }
            case .pendingDiscarded(let discard): for position in discard.positions { waiting[position] = nil }
            case .usersMerged(let merge):
                try add(PastModel(recorded: history(merge.source, merge.version), history: history))
            case _ where event.event.kind.isSaved: waiting[event.position] = event
            default: apply(event)
            }
        }
    }

    /// Folds `events` sorted by when they happened, without those after `end`. `effective` are the saved items that
    /// took effect.
    init(
        occurred events: [RecordedEvent], until end: Timestamp, effective: Set<Position>,
        history: (UserNumber, Version) throws -> [RecordedEvent]
    ) rethrows {
        let order = events.filter { $0.occurredAt.timestamp <= end }
            .sorted { ($0.occurredAt.timestamp, $0.position) < ($1.occurredAt.timestamp, $1.position) }
        for event in order {
            switch event.event {
            case .usersMerged(let merge):
                try add(
                    PastModel(
                        occurred: history(merge.source, merge.version), until: end, effective: effective,
                        history: history))
            case _ where event.event.kind.isSaved: if effective.contains(event.position) { apply(event) }
            default: apply(event)
            }
        }
    }

    private mutating func add(_ source: PastModel) {
        values.merge(source.values) { own, _ in own }
        events.merge(source.events, uniquingKeysWith: +)
        waiting.merge(source.waiting) { own, _ in own }
    }

    private mutating func apply(_ event: RecordedEvent) {
        switch event.event {
        case .customEventLogged(let event), .customEventSaved(let event): events[event.name, default: 0] += 1
        case .customAttributesChanged(let changes), .customAttributesSaved(let changes):
            for change in changes {
                switch change.operation {
                case .set(let value): values[change.name] = value
                case .increment(let step):
                    guard case .int(let number) = values[change.name] ?? .int(0) else { continue }
                    values[change.name] = .int(number + step)
                default: values[change.name] = nil
                }
            }
        default: break
        }
    }
}
