internal import ProfileLogRequests

/// Devices, to look at.
extension NativeAPI {
    private static let mostDevices = 10_000

    func devices(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let after = try query.text("after").map { Name($0) }
        let limit = try query.limit(standard: 1_000, most: Self.mostDevices)
        try query.end()
        let all = try log.devices()
        let behind = all.drop { device in after.map { Name(device.device) <= $0 } ?? false }
        return try APIAnswer.ok { json in
            json.key("devices")
            try json.array(behind.prefix(limit)) { json, device in
                json.beginObject()
                try write(device, try log.deviceState(device.device), to: &json)
                json.endObject()
            }
            json.key("total")
            json.value(all.count)
            json.key("more")
            json.value(behind.count > limit)
        }
    }

    func device(_ request: APIRequest) throws -> APIAnswer {
        try Query(request).end()
        let device = try knownDevice(request)
        let items = try log.pending(on: device.device)
        let now = log.options.now()
        var times = WaitingTimes(now: now)
        for item in items { times.add(item) }
        for item in try log.queue(on: device.device) { times.addQueued(item) }
        return try APIAnswer.ok { json in
            try write(device, try log.deviceState(device.device), to: &json)
            json.key("storages")
            let byStorage = Dictionary(grouping: items, by: \.storage).sorted { Name($0.key.name) < Name($1.key.name) }
            json.array(byStorage) { json, group in
                json.beginObject()
                Self.write(group.key, device.settings, to: &json)
                for kind in PendingKind.allCases {
                    json.key(kind.key)
                    json.value(group.value.count { $0.kind == kind })
                }
                json.endObject()
            }
            json.key("waiting_s")
            times.write(to: &json)
        }
    }

    /// The device that the path names, if anything is known of it.
    func knownDevice(_ request: APIRequest) throws -> DeviceInfo {
        let id = try Identifiers.device(request.parameters["device"] ?? Self.defaultDevice)
        guard let device = try log.device(id) else { throw APIProblem.unknownDevice }
        return device
    }

    private func write(_ device: DeviceInfo, _ state: DeviceState, to json: inout JSONWriter) throws {
        json.key("device")
        json.value(device.device)
        json.key("user")
        json.user(try device.user.flatMap { try log.find($0) })
        json.key("last_launch")
        try write(device.lastLaunch, to: &json)
        json.key("session")
        try write(device.session, to: &json)
        json.key("settings")
        EventJSON.write(device.settings, to: &json)
        json.key("waiting")
        json.value(state.waiting.count)
        json.key("queued")
        json.value(state.queued.count)
        json.member("why_queued", state.queued.isEmpty ? nil : device.settings.reasonQueued().rawValue)
    }

    /// Writes the position of an event and when it happened, or `null`.
    private func write(_ position: Position?, to json: inout JSONWriter) throws {
        guard let position, let event = try log.event(at: position) else {
            json.null()
            return
        }
        json.beginObject()
        json.key("position")
        json.value(position.rawValue)
        json.key("at")
        json.value(event.occurredAt)
        json.endObject()
    }
}
