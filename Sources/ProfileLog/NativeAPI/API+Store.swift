internal import ProfileLogRequests

extension NativeAPI {
    private static let mostUsers = 10_000

    func users(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let after = UserNumber(rawValue: try query.number("after", 0 ... .max - 1, standard: 0))
        let limit = try query.limit(standard: 100, most: Self.mostUsers)
        try query.end()
        let users = try log.users(after: after, limit: limit)
        let total = try log.userCount()
        return try APIAnswer.ok { json in
            json.key("users")
            try json.array(users) { json, user in
                json.beginObject()
                json.key("number")
                json.value(user.number.rawValue)
                json.key("id")
                json.value(user.id.description)
                json.key("braze_id")
                json.value(user.brazeID)
                json.key("ids")
                json.array(user.ids) { $0.value($1.description) }
                json.key("version")
                json.value(user.version.rawValue)
                json.key("created")
                json.position(user.created)
                if user.isErased {
                    json.key("erased")
                    json.value(true)
                }
                let survivor = try log.survivor(of: user.number)
                if survivor != user.number {
                    json.key("merged_into")
                    json.value(survivor.rawValue)
                }
                json.endObject()
            }
            json.key("total")
            json.value(total)
            json.key("more")
            json.value(users.last.map { $0.number.rawValue < total } ?? false)
        }
    }

    func stats(_ request: APIRequest) throws -> APIAnswer {
        try Query(request).end()
        let statistics = try log.statistics()
        var times = WaitingTimes(now: log.options.now())
        for device in try log.devices() {
            for item in try log.pending(on: device.device) { times.add(item) }
            for item in try log.queue(on: device.device) { times.addQueued(item) }
        }
        let rejected = try log.rejected(isOpen: false)
        let jump = try log.clockJump()
        return APIAnswer.ok { json in
            json.key("store")
            json.value(Hexadecimal.text(log.storeID))
            json.key("events")
            json.value(statistics.extent.lastPosition.rawValue)
            json.key("last_position")
            json.value(statistics.extent.lastPosition.rawValue)
            json.key("users")
            json.value(statistics.extent.users)
            json.key("devices")
            json.value(statistics.devices)
            json.key("file_bytes")
            json.value(statistics.extent.usedBytes)
            json.key("indexed_position")
            json.value(statistics.extent.indexed.rawValue)
            json.key("rows")
            json.beginObject()
            for table in statistics.tables {
                json.key(table.name)
                json.value(table.rows)
            }
            json.endObject()
            json.key("pending")
            json.beginObject()
            json.key("total")
            json.value(statistics.pending.values.reduce(0, +))
            json.key("devices")
            json.value(statistics.devicesWithPending)
            for kind in PendingKind.allCases {
                json.key(kind.key)
                json.value(statistics.pending[kind] ?? 0)
            }
            json.key("waiting_s")
            times.write(to: &json)
            json.endObject()
            json.key("queued")
            json.value(statistics.queued)
            json.key("rejected")
            json.beginObject()
            json.key("open")
            json.value(rejected.count { $0.repairedBy == nil })
            json.key("repaired")
            json.value(rejected.count { $0.repairedBy != nil })
            json.endObject()
            if let jump {
                json.key("clock_ahead")
                json.beginObject()
                json.key("position")
                json.position(jump.position)
                json.key("recorded_at")
                json.value(jump.recordedAt.rfc3339())
                json.key("seconds")
                json.value(jump.seconds)
                json.endObject()
            }
        }
    }
}
