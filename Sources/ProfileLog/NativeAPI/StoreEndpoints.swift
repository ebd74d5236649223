internal import ProfileLogRequests

/// The numbers of the whole store.
struct StoreEndpoints {
    let store: RequestStore

    private static let mostUsers = 10_000
    /// Users that one answer about the past looks at: it may be short although more follow.
    private static let mostScanned: UInt64 = 100_000

    func users(_ request: APIRequest) async throws -> APIAnswer {
        var query = Query(request)
        if let prefix = try query.text("prefix") {
            let search = try PrefixSearch(prefix, &query, request)
            return try store.read { try search.answer($0) }
        }
        for (name, isGiven) in [("cursor", try query.text("cursor") != nil), ("reverse", try query.flag("reverse"))]
        where isGiven {
            throw APIError.invalid(
                name, "belongs to `prefix`", remedy: "Send `prefix` with it, or `after` for the users after a number.")
        }
        let after = UserNumber(rawValue: try query.number("after", 0 ... .max - 1, standard: 0))
        let limit = try query.limit(standard: 100, most: Self.mostUsers)
        let asked = try query.past(now: store.log.options.now())
        let note = ListNote("users", request, past: asked)
        let condition = try query.text("where")
        let isCount = try query.flag("count")
        try query.end()
        if condition != nil || isCount {
            return try await store.performSlowly { [store] _ in
                let search = try store.read { log in
                    try UserSearch(condition, isCount: isCount, after: after, limit: limit, asked, note, log)
                }
                return try search.answer(store)
            }
        }
        if asked.isPresent {
            return try store.read { log in
                let total = try log.users.count()
                let users = try log.users.page(after: after, limit: limit).map {
                    (info: $0, canonical: try log.users.canonicalUser(of: $0.number))
                }
                let isMore = users.last.map { $0.info.number.rawValue < total } ?? false
                return try Self.answer(users, total: total, isMore: isMore, note, log)
            }
        }
        return try await store.readSlowly { log in
            let past = try asked.wholeHistory(log)
            let (users, scanned, total) = try log.past.users(
                after: after, limit: limit, in: past, mostScanned: Self.mostScanned)
            return try Self.answer(users, scanned: scanned, total: total, isMore: scanned < total, note, log)
        }
    }

    private static func answer(
        _ users: [PastReader.PastUser], scanned: UInt64? = nil, total: UInt64, isMore: Bool, _ note: ListNote,
        _ log: LogReader
    ) throws -> APIAnswer {
        try APIAnswer.ok { json in
            json.objects("users", users) { json, user in
                json.members(ofUser: user.info)
                if user.info.isErased { json.member("erased", true) }
                if user.canonical != user.info.number { json.member("merged_into", user.canonical.rawValue) }
            }
            if let scanned { json.member("scanned", scanned) }
            json.member("total", total)
            json.member("more", isMore)
            try json.note(note, isEmpty: users.isEmpty && !isMore, in: log)
        }
    }

    func stats(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        try Query(request).end()
        let statistics = try log.statistics()
        var times = WaitingTimes(now: log.options.now())
        for device in try log.devices.all() {
            times.add(try log.devices.pending(on: device.text), try log.devices.queue(on: device.text))
        }
        let rejected = try log.items.rejected(isOpen: false)
        let jump = try log.clockJump()
        let outdated = try log.withView { try store.log.shadow.projections(withStatesOf: .otherPrograms, $0) }
        return try APIAnswer.ok { json in
            try json.store(log)
            json.member("events", statistics.extent.lastPosition.rawValue)
            json.member("last_position", statistics.extent.lastPosition.rawValue)
            json.member("users", statistics.extent.users)
            json.member("devices", statistics.devices)
            json.member("file_bytes", statistics.extent.usedBytes)
            json.member("indexed_position", statistics.extent.indexed.rawValue)
            json.object("rows") { json in
                for table in statistics.tables {
                    json.member(table.name, table.rows)
                }
            }
            json.object("pending") { json in
                json.member("total", statistics.pending.values.reduce(0, +))
                json.member("devices", statistics.devicesWithPending)
                for kind in PendingKind.allCases {
                    json.member(kind.key, statistics.pending[kind] ?? 0)
                }
                times.write(to: &json)
            }
            json.member("queued", statistics.queued)
            json.object("rejected") { json in
                json.member("open", rejected.count { $0.repairedBy == nil })
                json.member("repaired", rejected.count { $0.repairedBy != nil })
            }
            if !outdated.isEmpty { json.array("outdated_states", outdated) { $0.value($1) } }
            if let jump {
                json.object("clock_ahead") { json in
                    json.member("position", jump.position)
                    json.member("recorded_at", jump.recordedAt.rfc3339())
                    json.member("seconds", Int(jump.seconds))
                }
            }
        }
    }

    func status(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        try Query(request).end()
        let extent = try log.extent()
        let report = store.auditor.report
        return try APIAnswer.ok { json in
            try json.store(log)
            json.member("last_position", extent.lastPosition.rawValue)
            json.member("indexed_position", extent.indexed.rawValue)
            json.object("audit") { Self.write(report, users: extent.users, to: &$0) }
        }
    }

    private static func write(_ report: AuditReport, users: UInt64, to json: inout JSONWriter) {
        json.member("at", report.last?.at)
        if let last = report.last {
            json.member("position", last.position.rawValue)
            json.member("users", last.users)
            json.member("took_s", Int(last.took.components.seconds))
        }
        json.objects("differences", report.differences) { json, difference in
            json.member("user_number", difference.user.rawValue)
            json.member("place", difference.place)
        }
        if report.done > 0 {
            json.object("running") { json in
                json.member("done", report.done)
                json.member("users", users)
                if let rate = report.usersPerSecond { json.member("users_per_s", (rate * 10).rounded() / 10) }
                if let left = report.left { json.member("left_s", Int(left.components.seconds)) }
                if let devices = report.devicesLeft { json.member("devices_left", devices) }
            }
        }
    }
}

// MARK: - The form of the answers

extension StoreEndpoints {
    static let statistics: AnswerShape = [
        "store": .text, "history": .text, "events": .integer, "last_position": .integer, "users": .integer,
        "devices": .integer, "file_bytes": .integer, "indexed_position": .integer, "rows": .map(.integer),
        "pending": ["total": .integer, "devices": .integer] + PendingKind.shape(.integer)
            + ["waiting_s": WaitingTimes.shape],
        "queued": .integer, "rejected": ["open": .integer, "repaired": .integer], "outdated_states?": [.text],
        "clock_ahead?": ["position": .integer, "recorded_at": .time, "seconds": .integer],
    ]

    static let state: AnswerShape = [
        "store": .text, "history": .text, "last_position": .integer, "indexed_position": .integer,
        "audit": [
            "at": .orNull(.time), "position?": .integer, "users?": .integer, "took_s?": .integer,
            "differences": [["user_number": .integer, "place": .text]],
            "running?": [
                "done": .integer, "users": .integer, "users_per_s?": .number, "left_s?": .integer,
                "devices_left?": .integer,
            ],
        ],
    ]
}
