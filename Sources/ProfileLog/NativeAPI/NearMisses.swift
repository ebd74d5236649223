internal import ProfileLogRequests

/// Something of a user's life that came near to what was asked for, and why it did not get there.
struct NearMiss {
    let event: RecordedEvent
    let reason: String
    /// The place to look: a request's place for people, as in `profilecli rejected`.
    var look: String?
}

/// Finds near misses in the life of a user: what was refused, lost, given up, or still waits.
struct NearMisses {
    let log: LogReader
    /// The history that is asked about; nil for the present.
    var past: PastHistory?

    /// An answer names so many, the newest.
    static let most = 20

    /// The subject of the question.
    enum Subject {
        /// An attribute, or a part of one.
        case field(Name)
        case event(Name)
        case product(Name)
    }

    /// Returns the updates of `subject` of `user` that had no effect, each with the reason, oldest first: by the events
    /// up to the version of `user`.
    func of(_ subject: Subject, _ user: UserInfo) throws -> [NearMiss] {
        var updates: [RecordedEvent] = []
        var fates = ItemFates()
        let voided = try log.events.voided(of: user.number, asOf: user.version)
        try log.events.forEachInLife(
            of: user.number, asOf: user.version, skipping: { _, _ in },
            where: { kind, position in
                // A logged event that is not void had its effect.
                kind.mayMiss || voided.void(of: position.rawValue) != nil
            }
        ) { event in
            fates.add(event)
            if case .objectsLeftOut(let items) = event.event {
                if items.contains(where: { subject.isNamed(by: $0) }) { updates.append(event) }
            } else if subject.isOf(event.event) {
                updates.append(event)
            }
            return true
        }
        let waiting = updates.filter { fates.waits($0) }.map(\.device)
        var finder = UnsettledItems(
            log: log, fates: fates, settings: try past.map { try log.settings(of: Set(waiting), in: $0) })
        var misses: [NearMiss] = []
        for event in updates {
            if case .objectsLeftOut(let items) = event.event {
                for item in items where subject.isNamed(by: item) {
                    // Of a refused event the log keeps no name.
                    let which = item.field == nil ? ", and the log does not keep what it was" : ""
                    misses.append(
                        NearMiss(event: event, reason: Self.refusal(item) + which, look: "profilecli rejected"))
                }
            } else if let void = voided.void(of: event.position.rawValue) {
                misses.append(NearMiss(event: event, reason: "it is void since position \(void)"))
            } else if let miss = try finder.miss(event) {
                misses.append(miss)
            }
        }
        return Array(misses.suffix(Self.most))
    }

    private static func refusal(_ item: ObjectRefusal) -> String {
        item.reason == ObjectRefusal.reasonLost ? "lost: \(item.reason)" : "refused: \(item.reason)"
    }
}

/// The outcomes of the items of a life, by the events that decided them.
struct ItemFates {
    private(set) var decided: [Position: Fate] = [:]

    enum Fate {
        case effective
        /// The SDK has it.
        case handed
        case rejected(at: Position, String)
        case discarded(at: Position, by: String, String)
    }

    /// Tells whether the SDK has taken the item.
    func isTaken(_ position: Position) -> Bool {
        switch decided[position] {
        case .effective, .handed: true
        case .rejected, .discarded, nil: false
        }
    }

    /// Tells whether `event` is an item whose outcome depends on its device.
    fileprivate func waits(_ event: RecordedEvent) -> Bool {
        guard event.event.kind.isSaved || event.event.kind.isQueued else { return false }
        switch decided[event.position] {
        case .handed, nil: return true
        case .effective, .rejected, .discarded: return false
        }
    }

    mutating func add(_ event: RecordedEvent) {
        if case .pendingFlushed(let flush) = event.event {
            for position in flush.flushed { decided[position] = flush.isQueued ? .handed : .effective }
            for item in flush.rejected { decided[item.position] = .rejected(at: event.position, item.reason) }
        } else if case .dataSent(let positions) = event.event {
            for position in positions { decided[position] = .effective }
        } else if case .pendingDiscarded(let discard) = event.event {
            for position in discard.positions {
                decided[position] = .discarded(at: event.position, by: discard.actor, discard.reason)
            }
        }
    }
}

/// The reasons that stand between saved and queued events and their effect.
struct UnsettledItems {
    let log: LogReader
    let fates: ItemFates
    /// Tells whether the devices are those of a past history.
    private let isPast: Bool
    private var settings: [Name: DeviceSettings]

    /// Reasons of the present; with `settings`, of a past history in which devices had these, and others those of a new
    /// device.
    init(log: LogReader, fates: ItemFates, settings: [Name: DeviceSettings]? = nil) {
        (self.log, self.fates) = (log, fates)
        (self.settings, isPast) = (settings ?? [:], settings != nil)
    }

    /// The reason why `event` had no effect; nil if it had, or is not saved or queued.
    mutating func miss(_ event: RecordedEvent) throws -> NearMiss? {
        guard event.event.kind.isSaved || event.event.kind.isQueued else { return nil }
        let device = event.device
        let look = "profilecli pending --device \(device.text)"
        switch fates.decided[event.position] {
        case .effective: return nil
        case nil where event.event.kind.isSaved:
            let hidden = try event.context.storage.flatMap { try known(device).reasonHidden($0) }
            let reason =
                hidden.map { "it waits on \(device.text): \($0)" } ?? "it waits on \(device.text) for a launch"
            return NearMiss(event: event, reason: reason, look: look)
        case .handed, nil:
            let why = try known(device).reasonQueued().words
            return NearMiss(event: event, reason: "the SDK on \(device.text) has not sent it: \(why)", look: look)
        case .rejected(let position, let reason):
            return NearMiss(
                event: event, reason: "refused at position \(position): \(reason)", look: "profilecli rejected")
        case .discarded(let position, let actor, let reason):
            return NearMiss(event: event, reason: "discarded at position \(position) by \(actor): \(reason)")
        }
    }

    private mutating func known(_ device: Name) throws -> DeviceSettings {
        if let known = settings[device] { return known }
        let found = isPast ? DeviceSettings() : try log.devices.state(of: device.text).settings
        settings[device] = found
        return found
    }
}

extension LogReader {
    /// The settings of `devices` in `past`, by one scan of the log; none for no devices.
    fileprivate func settings(of devices: Set<Name>, in past: PastHistory) throws -> [Name: DeviceSettings] {
        if devices.isEmpty { return [:] }
        return try deviceStates(in: past, of: devices).mapValues(\.settings)
    }
}

extension RecordedEvent {
    /// The device on which it was saved or queued.
    fileprivate var device: Name { Name(context.device ?? DeviceStorage.defaultDevice) }
}

extension EventKind {
    /// Tells whether it may be without effect, or says what became of such events.
    fileprivate var mayMiss: Bool {
        switch role {
        case .content(_, .saved), .content(_, .queued), .outcome: true
        case .content(_, .logged), .identity, .device, .message: false
        case .note: self == .objectsLeftOut
        }
    }
}

extension ProfileEvent {
    /// The names of what it says: of an event, a product, or attributes.
    var names: [Name] {
        switch content {
        case .customEvent(let event): [event.name]
        case .purchase(let purchase): [purchase.product]
        case .customAttributes(let changes): changes.map(\.name)
        case .userAttributes(let changes): changes.map { Name($0.attribute.name) }
        case nil: []
        }
    }
}

extension NearMisses.Subject {
    /// Tells whether `event` would have changed it.
    fileprivate func isOf(_ event: ProfileEvent) -> Bool {
        switch (self, event.content) {
        case (.field(let field), .customAttributes?), (.field(let field), .userAttributes?):
            event.changes(Name(String(field.text.prefix { $0 != "[" })))
        case (.event(let name), .customEvent(let event)?): event.name == name
        case (.product(let product), .purchase(let purchase)?): purchase.product == product
        default: false
        }
    }

    /// Tells whether a refused `item` of a request was about it.
    fileprivate func isNamed(by item: ObjectRefusal) -> Bool {
        switch self {
        case .field(let name):
            let top = name.text.prefix { $0 != "." && $0 != "[" }
            return item.list == "attributes" && (item.field == name.text || item.field.map { $0 == top } ?? false)
        case .event(let name): return item.list == "events" && item.field ?? name.text == name.text
        case .product(let product): return item.list == "purchases" && item.field ?? product.text == product.text
        }
    }
}

extension APIError {
    /// Status 404: nothing of `field` took effect; `last` is the newest of so many updates.
    static func noEffect(of field: String, _ last: NearMiss, _ count: Int) -> APIError {
        let others = count > 1 ? " Nor had \(count - 1) before it." : ""
        let look = last.look.map { "See `\($0)`" } ?? "See `GET /v1/history`"
        return APIError(
            status: 404, code: "unknown_field",
            error:
                "\(field.shown) has no value: the update at position \(last.event.position.rawValue) had no effect "
                + "(\(last.reason)).\(others)",
            remedy: "\(look).", place: "field", facts: [("position", last.event.position.rawValue)])
    }
}

extension EventJSON {
    /// The member `misses`, unless there are none.
    mutating func write(_ misses: [NearMiss], to json: inout JSONWriter) throws {
        if misses.isEmpty { return }
        try json.objects("misses", misses) { json, miss in
            json.member("position", miss.event.position.rawValue)
            json.member("kind", miss.event.event.kind.name)
            json.member("at", miss.event.occurredAt)
            json.member("user", try id(of: miss.event.user))
            ContentJSON.writeOrigin(miss.event.context, to: &json)
            json.member("reason", miss.reason)
            json.member("look", miss.look)
        }
    }
}
