internal import ProfileLogMessaging
internal import ProfileLogRequests

/// Sends what is due of the scheduled requests.
struct DueSends {
    let api: BrazeAPI

    private var log: EventLog { api.log }

    /// Sends all that is due, in the order of time, and returns how many requests that were. One that fails waits, and
    /// keeps none of the others waiting: the first error is thrown after them.
    ///
    /// Each end is stored with the send that it ends, so none is sent twice, even by two callers at the same time. A
    /// request that cannot be sent any more, as its campaign is not declared now, ends with the reason.
    func send() async throws -> Int {
        var sent = 0
        var failure: (any Error)?
        for schedule in try api.schedules.due(at: log.options.now()) {
            do {
                let isSent =
                    if schedule.events == nil { try await broadcast(schedule) } else { try await send(schedule.id) }
                if isSent { sent += 1 }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return sent
    }

    // MARK: - To users

    private func send(_ id: String) async throws -> Bool {
        try await api.store.decide(evenIfFull: true) { [self] view in
            guard let schedule = try due(id, view) else { return Decision(false) }
            do {
                return Decision(true, storing: try append(schedule, view))
            } catch  where Self.isLasting(error) {
                return Decision(true, storing: try Self.end(schedule, "cannot be sent: \(Self.words(error))", log))
            }
        }.value
    }

    /// The schedule, if it waits still and is due.
    private func due(_ id: String, _ view: DecisionView) throws -> Schedule? {
        guard let schedule = try api.schedules.waiting(id, view), schedule.time <= log.options.now() else { return nil }
        return schedule
    }

    private func append(_ schedule: Schedule, _ view: DecisionView) throws -> PreparedAppend {
        guard let request = try request(of: schedule) else {
            return try Self.end(schedule, "no user of the request is known", log)
        }
        var builder = log.prepare(capacity: request.recipients.count)
        var decision = SendDecision(request, api, view)
        try decision.decide(&builder)
        try builder.addOfSystem(schedule.end(Schedule.sent))
        return try builder.finish()
    }

    private static func end(_ schedule: Schedule, _ reason: String, _ log: EventLog) throws -> PreparedAppend {
        var builder = log.prepare(capacity: 0)
        try builder.addOfSystem(schedule.end(reason))
        return try builder.finish()
    }

    /// The request for all of its users who were not erased; nil if there is none.
    private func request(of schedule: Schedule) throws -> SendRequest? {
        var request: SendRequest?
        var users: Set<UserID> = []
        for part in try parts(of: schedule) {
            guard let user = try log.reader.users.find(.assignedID(part.user.brazeID)) else { continue }
            let id = UserID.assignedID(user.brazeID)
            guard users.insert(id).inserted else { continue }
            var own = try SendRequest(schedule.form, part.request, api.workspace)
            for index in own.recipients.indices {
                own.recipients[index].person = .id(id)
                own.recipients[index].cause = part.position
            }
            if request == nil { request = own } else { request?.recipients += own.recipients }
        }
        request?.plan.dispatch = schedule.dispatch
        return request
    }

    /// The part of the request that belongs to one user.
    struct Part {
        var user: UserInfo
        var request: AttributeValue
        var position: Position
    }

    /// The steps of the users in the request, without those who were erased.
    func parts(of schedule: Schedule) throws -> [Part] {
        guard let events = schedule.events else { return [] }
        let span = min(UInt64(events), schedule.source.rawValue - 1)
        let page = try log.reader.events.page(
            from: Position(rawValue: schedule.source.rawValue - span), limit: events,
            where: EventFilter(kinds: [.messageScheduled]), scanLimit: Int(span))
        return try page.events.compactMap { event in
            guard event.user != .system, let request = schedule.request(in: event.event),
                let user = try log.reader.users.find(event.user)
            else { return nil }
            return Part(user: user, request: request.naming(user), position: event.position)
        }
    }

    // MARK: - To all who match

    private func broadcast(_ schedule: Schedule) async throws -> Bool {
        do {
            var request = try SendRequest(schedule.form, self.request(ofBroadcast: schedule), api.workspace)
            request.plan.dispatch = schedule.dispatch
            return try await Broadcast(request, api).send(schedule)
        } catch  where Self.isLasting(error) {
            return try await api.store.decide(evenIfFull: true) { [self] view in
                guard let schedule = try due(schedule.id, view) else { return Decision(false) }
                return Decision(true, storing: try Self.end(schedule, "cannot be sent: \(Self.words(error))", log))
            }.value
        }
    }

    func request(ofBroadcast schedule: Schedule) throws -> AttributeValue {
        guard let event = try log.event(at: schedule.source), let request = schedule.request(in: event.event) else {
            throw StorageError.damaged(place: "the record at position \(schedule.source)")
        }
        return request
    }

    // MARK: - Errors

    /// Tells whether the request would be refused at each later time as well.
    private static func isLasting(_ error: any Error) -> Bool {
        error is SendError || !(error is WorkBudgetExceeded) && [400, 413].contains(APIError(error).status)
    }

    private static func words(_ error: any Error) -> String {
        if let error = error as? SendError { return "\(error)" }
        return APIError(error).error
    }
}

extension AttributeValue {
    /// The stored request of one user, with `user` in place of an address that others may have by now.
    fileprivate func naming(_ user: UserInfo) -> AttributeValue {
        let list: Name = "recipients"
        guard case .object(let recipient)? = self[list]?.asArray?.first, self[list]?.asArray?.count == 1,
            recipient.contains(where: { $0.key == WireNames.email })
        else { return self }
        let others = recipient.filter { ![WireNames.email, "prioritization"].contains($0.key) }
        return setting(list, .array([AttributeValue.object(others).setting(WireNames.brazeID, .string(user.brazeID))]))
    }
}
