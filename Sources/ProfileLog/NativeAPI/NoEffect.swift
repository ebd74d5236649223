internal import ProfileLogRequests

/// Updates of attributes that changed nothing of what their user had before them, and why.
struct NoEffect {
    private(set) var reasons: [(name: Name, reason: String)] = []
    /// How many updates there were.
    private var updates = 0

    /// Of the events at `places` of `receipt`, which are of one user and effective at once.
    init(of places: Range<Int>, _ receipt: AppendReceipt, in log: EventLog) throws {
        var updates: [(name: Name, key: FieldKey, operation: AttributeOperation, at: Timestamp, position: UInt64)] = []
        for place in places {
            let position = receipt.first.rawValue + UInt64(place)
            guard let event = try log.event(at: Position(rawValue: position)), event.event.kind.isLogged else {
                continue
            }
            let at = event.context.occurredAt?.timestamp ?? event.recordedAt
            switch event.event.content {
            case .customAttributes(let changes):
                for change in changes {
                    guard let number = log.names.number(change.name) else { continue }
                    updates.append((change.name, FieldKey(custom: number), change.operation, at, position))
                }
            case .userAttributes(let changes):
                for change in changes {
                    let key = FieldKey(standard: UInt32(change.attribute.rawValue))
                    updates.append((Name(change.attribute.name), key, .set(change.value), at, position))
                }
            case .customEvent, .purchase, nil: break
            }
        }
        self.updates = updates.count
        // Others of these events are of devices.
        guard !updates.isEmpty, let user = receipt.places[places].last?.user,
            let first = receipt.places[places].first(where: { $0.user == user })
        else { return }
        let rules = try log.boundRules(asOf: Position(rawValue: receipt.first.rawValue - 1)) ?? .none
        guard updates.contains(where: { $0.operation.isRelative || rules.policy(of: $0.key) != .lastArrival }) else {
            return
        }
        var state = try log.profile(of: user, asOf: Version(rawValue: first.version.rawValue - 1))
        for update in updates {
            let policy = rules.policy(of: update.key)
            if let reason = state.reasonToLose(update.key, at: update.at, under: policy)
                ?? update.operation.reasonWithoutEffect(on: state.fields.value(update.key), under: policy)
            {
                reasons.append((update.name, reason))
            }
            state.apply(
                update.operation, to: update.key, position: update.position, at: update.at.rawValue, under: rules)
        }
    }

    /// Writes `no_effect`, if there is one.
    func write(to json: inout JSONWriter) {
        if reasons.isEmpty { return }
        json.objects("no_effect", reasons) { json, entry in
            json.member("attribute", entry.name.text)
            json.member("reason", entry.reason)
        }
        json.member("all_without_effect", reasons.count == updates)
    }

    static let members: AnswerShape = [["attribute": .text, "reason": .text]]
}
