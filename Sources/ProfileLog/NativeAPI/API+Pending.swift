internal import ProfileLogRequests

/// What waits on devices, for a launch or to be sent.
extension NativeAPI {
    private static let mostPendingItems = 100_000

    /// What waits on one device, as far as it is asked for.
    private struct Waiting {
        var device: DeviceInfo
        var items: [PendingSave]
        var queue: [RecordedEvent]
        var times: WaitingTimes
    }

    func pending(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let device = try query.text("device").map { try Identifiers.device($0) }
        let user = try query.text("user").map { try Identifiers.user($0) }
        let storage = try query.text("storage").map(Self.storage)
        let limit = try query.limit(standard: 10_000, most: Self.mostPendingItems)
        try query.end()
        let number = try user.map { id -> UserNumber in
            guard let user = try log.user(meantBy: id) else { throw APIProblem.unknownUser(id) }
            return user.number
        }
        let devices: [DeviceInfo]
        if let device {
            guard let info = try log.device(device) else { throw APIProblem.unknownDevice }
            devices = [info]
        } else {
            devices = try log.devices()
        }
        let now = log.options.now()
        var times = WaitingTimes(now: now)
        var events = EventJSON(log: log)
        var (total, queued, listed) = (0, 0, 0)
        return try APIAnswer.ok { json in
            json.key("devices")
            json.beginArray()
            for info in devices {
                var waiting = try waiting(on: info, number, storage, now: now, &times)
                total += waiting.items.count
                queued += waiting.queue.count
                if waiting.items.isEmpty, waiting.queue.isEmpty, device == nil { continue }
                waiting.items = Array(waiting.items.prefix(limit - listed))
                listed += waiting.items.count
                waiting.queue = Array(waiting.queue.prefix(limit - listed))
                listed += waiting.queue.count
                try write(waiting, now: now, &events, to: &json)
            }
            json.endArray()
            json.key("total")
            json.value(total)
            json.key("queued")
            json.value(queued)
            json.key("listed")
            json.value(listed)
            json.key("waiting_s")
            times.write(to: &json)
        }
    }

    private func waiting(
        on device: DeviceInfo, _ user: UserNumber?, _ storage: DeviceStorage?, now: Timestamp,
        _ times: inout WaitingTimes
    ) throws -> Waiting {
        func isWanted(_ event: RecordedEvent) throws -> Bool {
            try user.map { try log.survivor(of: event.user) == $0 } ?? true
                && storage.map { $0 == event.context.storage } ?? true
        }
        var waiting = Waiting(
            device: device, items: try log.pending(on: device.device).filter { try isWanted($0.event) },
            queue: try log.queue(on: device.device).filter(isWanted), times: WaitingTimes(now: now))
        for item in waiting.items {
            waiting.times.add(item)
            times.add(item)
        }
        for item in waiting.queue {
            waiting.times.addQueued(item)
            times.addQueued(item)
        }
        return waiting
    }

    private func write(
        _ waiting: Waiting, now: Timestamp, _ events: inout EventJSON, to json: inout JSONWriter
    ) throws {
        let device = waiting.device
        json.beginObject()
        json.key("device")
        json.value(device.device)
        json.key("user")
        json.user(try device.user.flatMap { try log.find($0) })
        json.key("last_launch")
        json.position(device.lastLaunch ?? .start)
        json.key("sdk_enabled")
        json.value(device.settings.isSDKEnabled)
        json.key("storages")
        let byStorage = Dictionary(grouping: waiting.items, by: \.storage).sorted {
            Name($0.key.name) < Name($1.key.name)
        }
        try json.array(byStorage) { json, group in
            json.beginObject()
            Self.write(group.key, device.settings, to: &json)
            json.key("kinds")
            json.beginObject()
            for kind in PendingKind.allCases {
                json.key(kind.key)
                try json.array(group.value.filter { $0.kind == kind }) { json, item in
                    try write(item.event, now: now, nil, &events, to: &json)
                }
            }
            json.endObject()
            json.endObject()
        }
        json.key("queue")
        let why = device.settings.reasonQueued()
        try json.array(waiting.queue) { try write($1, now: now, why, &events, to: &$0) }
        json.key("waiting_s")
        waiting.times.write(to: &json)
        json.endObject()
    }

    /// Writes a storage's name, and whether the app sees it.
    static func write(_ storage: DeviceStorage, _ settings: DeviceSettings, to json: inout JSONWriter) {
        json.key("storage")
        json.value(storage.name)
        json.key("visible_to_app")
        json.value(settings.appSees(storage))
        json.member("hidden_because", settings.reasonHidden(storage))
    }

    private func write(
        _ item: RecordedEvent, now: Timestamp, _ why: QueueReason?, _ events: inout EventJSON,
        to json: inout JSONWriter
    ) throws {
        json.beginObject()
        try Self.write(item, &events, to: &json)
        json.key("age_s")
        json.value(item.seconds(until: now))
        json.member("why", why?.rawValue)
        json.endObject()
    }

    /// A storage by its name in the answers: an app group, or `private:PROCESS`.
    private static func storage(_ name: String) throws -> DeviceStorage {
        guard name.hasPrefix("private:") else { return .appGroup(Name(name)) }
        return .privateTo(process: Name(String(name.dropFirst("private:".count))))
    }

    // MARK: - Giving up

    func discard(_ request: APIRequest) async throws -> APIAnswer {
        try Self.refuseConditions(request)
        let fields = try Fields(request.body, ["device", "storage", "positions", "reason", "actor"])
        let device = try fields.text("device").map { try Identifiers.device($0) } ?? Self.defaultDevice
        let storage = try fields.text("storage").map(Self.storage)
        let positions = try fields.array("positions").map { try $0.map(Self.position) }
        let reason = try fields.requiredText("reason")
        let actor = try fields.text("actor") ?? "api"
        if storage != nil, positions != nil {
            throw APIProblem.invalid("positions", "and `storage` exclude each other")
        }
        let selection = try await selection(on: device, storage: storage, positions: positions)
        let receipt = try await store.commit(
            PreparedAppend.discard(
                device: device, selection, actor: actor, reason: reason, context: EventContext(source: .app)))
        let discarded = try discarded(by: receipt)
        return try APIAnswer.ok { json in
            json.key("position")
            if receipt.places.isEmpty { json.null() } else { json.value(receipt.last.rawValue) }
            json.key("device")
            json.value(device)
            json.key("discarded")
            json.array(discarded) { $0.value($1.rawValue) }
            json.key("events")
            json.value(receipt.places.count)
            json.key("waiting")
            json.value(try log.pendingCount(on: device))
        }
    }

    private func selection(
        on device: String, storage: DeviceStorage?, positions: [Position]?
    ) async throws -> PendingSelection {
        guard try log.device(device) != nil else { throw APIProblem.unknownDevice }
        guard let positions else { return storage.map { .storage($0) } ?? .all }
        let waiting = Set(try log.pending(on: device).map(\.event.position))
        if let wrong = positions.first(where: { !waiting.contains($0) }) {
            throw APIProblem.invalid(
                "positions", "has \(wrong.rawValue), which does not wait on this device",
                remedy: "Look at what is pending, and name positions of it.")
        }
        return .positions(Set(positions))
    }

    private static func position(_ value: AttributeValue) throws -> Position {
        guard case .int(let position) = value, position > 0 else {
            throw APIProblem.invalid("positions", "must list positions of the log")
        }
        return Position(rawValue: UInt64(position))
    }
}
