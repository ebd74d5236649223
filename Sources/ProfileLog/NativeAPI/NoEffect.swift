internal import ProfileLogRequests

/// Updates of attributes that changed nothing of what their user had before them, and why.
struct NoEffect {
    /// Reasons by the event that has the update: logged, or saved and flushed.
    private(set) var reasons: [(event: Position, name: Name, reason: String)] = []
    /// The number of updates.
    private var updates = 0

    private init() {}

    /// Reads the updates at `places` of `receipt`, which are of one user and effective at once.
    init(of places: Range<Int>, _ receipt: AppendReceipt, in log: LogReader) throws {
        let events = try places.compactMap { place in
            try log.event(at: Position(rawValue: receipt.first.rawValue + UInt64(place)))
        }
        // Others of these events are of devices.
        guard let user = receipt.places[places].last?.user,
            let first = receipt.places[places].first(where: { $0.user == user })
        else { return }
        try judge(events.filter(\.event.kind.isLogged), of: user, from: first.version, at: receipt.first, in: log)
    }

    /// Reads the updates that waited and took effect by `decision`, a flush or a report that data was sent.
    init(ofItemsIn decision: RecordedEvent, in log: LogReader) throws {
        var positions: [Position] = []
        if case .pendingFlushed(let flush) = decision.event, !flush.isQueued { positions = flush.flushed }
        if case .dataSent(let items) = decision.event { positions = items }
        let items = try positions.compactMap { try log.event(at: $0) }
        try judge(items, of: decision.user, from: decision.version, at: decision.position, in: log)
    }

    /// Returns the number of updates of `receipt`, of all its users, that changed nothing, if some attributes have
    /// policies.
    static func count(of receipt: AppendReceipt, in log: LogReader) throws -> Int {
        let rules = try log.boundRules(asOf: Position(rawValue: receipt.first.rawValue - 1))
        guard rules?.hasAttributes == true else { return 0 }
        var events: [UserNumber: [RecordedEvent]] = [:]
        for offset in receipt.places.indices {
            let position = Position(rawValue: receipt.first.rawValue + UInt64(offset))
            if let event = try log.event(at: position), event.event.kind.isLogged {
                events[event.user, default: []].append(event)
            }
        }
        return try events.reduce(0) { count, entry in
            var one = NoEffect()
            try one.judge(entry.value, of: entry.key, from: entry.value[0].version, at: receipt.first, in: log)
            return count + one.reasons.count
        }
    }

    /// Does the updates of `events` one after the other, which took effect at `version` of `user`.
    private mutating func judge(
        _ events: [RecordedEvent], of user: UserNumber, from version: Version, at position: Position, in log: LogReader
    ) throws {
        var updates: [(name: Name, key: FieldKey, operation: AttributeOperation, event: RecordedEvent)] = []
        for event in events {
            switch event.event.content {
            case .customAttributes(let changes):
                for change in changes {
                    guard let number = log.names.number(change.name) else { continue }
                    updates.append((change.name, FieldKey(custom: number), change.operation, event))
                }
            case .userAttributes(let changes):
                for change in changes {
                    let key = FieldKey(standard: UInt32(change.attribute.rawValue))
                    updates.append((Name(change.attribute.name), key, .set(change.value), event))
                }
            case .customEvent, .purchase, nil: break
            }
        }
        self.updates = updates.count
        guard !updates.isEmpty else { return }
        let rules = try log.boundRules(asOf: Position(rawValue: position.rawValue - 1)) ?? .none
        guard updates.contains(where: { $0.operation.isRelative || rules.policy(of: $0.key) != .lastArrival }) else {
            return
        }
        var state = try log.profile(of: user, asOf: Version(rawValue: version.rawValue - 1))
        for (name, key, operation, event) in updates {
            let (policy, time) = (rules.policy(of: key), event.occurredAt.timestamp)
            if let reason = state.reasonToLose(key, at: time, under: policy)
                ?? operation.reasonWithoutEffect(on: state.fields.value(key), under: policy)
            {
                reasons.append((event.position, name, reason))
            }
            state.apply(operation, to: key, position: event.position.rawValue, at: time.rawValue, under: rules)
        }
    }

    /// Writes `no_effect`, if there is one.
    func write(to json: inout JSONWriter) {
        if reasons.isEmpty { return }
        Self.write(reasons, to: &json)
        json.member("all_without_effect", reasons.count == updates)
    }

    /// Writes `no_effect` of the item at `position`, if there is one.
    func write(of position: Position, to json: inout JSONWriter) {
        let own = reasons.filter { $0.event == position }
        if !own.isEmpty { Self.write(own, to: &json) }
    }

    private static func write(_ reasons: [(event: Position, name: Name, reason: String)], to json: inout JSONWriter) {
        json.objects("no_effect", reasons) { json, entry in
            json.member("attribute", entry.name.text)
            json.member("reason", entry.reason)
        }
    }

    static let members: AnswerShape = [["attribute": .text, "reason": .text]]

    /// The members that `write(to:)` adds to an answer.
    static let shape: AnswerShape = ["no_effect?": members, "all_without_effect?": .boolean]
}
