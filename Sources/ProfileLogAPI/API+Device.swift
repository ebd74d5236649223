internal import ProfileLog

extension API {
    func changeUser(_ request: APIRequest) async throws -> APIAnswer {
        try Self.refuseConditions(request)
        let fields = try Fields(request.body, ["device", "user"])
        let device = try fields.text("device").map { try Identifiers.device($0) } ?? Self.defaultDevice
        let id = try Identifiers.user(fields.requiredText("user"))
        let previous = try log.find(.device(device))
        let context = EventContext(source: .app, process: DeviceStorage.app)
        let receipt = try await perform { log in try log.changeUser(device: device, to: id, context: context) }
        let user = try receipt.places.last.map { $0.user }.flatMap { try log.find($0) } ?? log.find(id)
        return try APIAnswer.ok(version: user?.version) { json in
            json.key("position")
            if receipt.places.isEmpty { json.null() } else { json.value(receipt.last.rawValue) }
            json.key("version")
            json.value(user?.version.rawValue ?? 0)
            json.key("device")
            json.value(device)
            json.key("user")
            json.user(user)
            json.key("previous")
            json.user(previous)
            json.key("events")
            json.value(receipt.places.count)
            json.key("changed")
            json.value(!receipt.places.isEmpty)
            json.key("created")
            json.value(receipt.createdUser)
            json.key("waiting")
            json.value(try log.pendingCount(on: device))
        }
    }

    // MARK: - What waits

    private static let mostPendingItems = 100_000

    func pending(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request.query)
        let device = try query.text("device").map { try Identifiers.device($0) }
        let user = try query.text("user").map { try Identifiers.user($0) }
        let storage = try query.text("storage").map(Self.storage)
        let limit = try query.limit(standard: 10_000, most: Self.mostPendingItems)
        try query.end()
        let number = try user.map { id -> UserNumber in
            guard let user = try log.find(id) else { throw APIProblem.unknownUser(id) }
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
        var events = EventJSON(log: log)
        var total = 0
        var listed = 0
        return try APIAnswer.ok { json in
            json.key("devices")
            json.beginArray()
            for info in devices {
                var items = try log.pending(on: info.device)
                items.removeAll { item in
                    number.map { $0 != item.event.user } ?? false || storage.map { $0 != item.storage } ?? false
                }
                total += items.count
                if items.isEmpty, device == nil { continue }
                items = Array(items.prefix(limit - listed))
                listed += items.count
                try write(info, items, now: now, &events, to: &json)
            }
            json.endArray()
            json.key("total")
            json.value(total)
            json.key("listed")
            json.value(listed)
        }
    }

    private func write(
        _ device: DeviceInfo, _ items: [PendingSave], now: Timestamp, _ events: inout EventJSON,
        to json: inout JSONWriter
    ) throws {
        json.beginObject()
        json.key("device")
        json.value(device.device)
        json.key("user")
        json.user(try device.user.flatMap { try log.find($0) })
        json.key("last_launch")
        json.position(device.lastLaunch ?? .start)
        json.key("storages")
        let byStorage = Dictionary(grouping: items, by: \.storage).sorted { Name($0.key.name) < Name($1.key.name) }
        try json.array(byStorage) { json, group in
            json.beginObject()
            json.key("storage")
            json.value(group.key.name)
            json.key("visible_to_app")
            json.value(group.key.isVisibleToApp)
            json.key("kinds")
            json.beginObject()
            for kind in PendingKind.allCases {
                json.key(kind.key)
                try json.array(group.value.filter { $0.kind == kind }) { json, item in
                    json.beginObject()
                    try Self.write(item.event, &events, to: &json)
                    json.key("age_s")
                    json.value(item.event.seconds(until: now))
                    json.endObject()
                }
            }
            json.endObject()
            json.endObject()
        }
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
        guard !reason.isEmpty else { throw APIProblem.invalid("reason", "must not be empty") }
        if storage != nil, positions != nil {
            throw APIProblem.invalid("positions", "and `storage` exclude each other")
        }
        let selection = try await selection(on: device, storage: storage, positions: positions)
        let receipt = try await commit(
            PreparedAppend.discard(
                device: device, selection, actor: actor, reason: reason, context: EventContext(source: .app)))
        var discarded: [Position] = []
        for offset in 0..<UInt64(receipt.places.count) {
            let event = try log.event(at: Position(rawValue: receipt.first.rawValue + offset))
            if case .pendingDiscarded(let discard) = event?.event { discarded += discard.positions }
        }
        return try APIAnswer.ok { json in
            json.key("position")
            if receipt.places.isEmpty { json.null() } else { json.value(receipt.last.rawValue) }
            json.key("device")
            json.value(device)
            json.key("discarded")
            json.array(discarded.sorted()) { $0.value($1.rawValue) }
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
