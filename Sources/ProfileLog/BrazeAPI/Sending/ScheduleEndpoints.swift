internal import Foundation
internal import ProfileLogMessaging
internal import ProfileLogRequests

/// Requests to send at a later time (spec/messaging-api 1). They are stored as steps of messages (``Schedule``);
/// ``DueSends`` sends them.
struct ScheduleEndpoints {
    let api: BrazeAPI

    // MARK: - Creating

    /// `…/schedule/create`: the answer has the ID of the schedule, and the `dispatch_id` under which it will be sent.
    /// Attributes of recipients are applied at once.
    func create(_ request: APIRequest, _ form: SendForm) async throws -> APIAnswer {
        let key = try RequestKey(request)
        if let answer = try api.store.answer(under: key) { return await sendingWhatIsDue(answer) }
        let body = try BodyObject.read(request.body)
        var asked = try SendRequest(form, body, knownTo: request, api.workspace)
        guard let time = try ScheduleTime(body, now: api.log.options.now()) else {
            throw SendRequest.refusal(
                "Bad Request", at: "schedule",
                SendRequest.remedy(forMissing: "schedule", in: body, request) ?? "Say when: {\"time\": TIME}.")
        }
        asked.errors += time.errors
        let schedule = Schedule(
            id: UUID().uuidString.lowercased(), form: form, message: Name(asked.plan.id),
            channel: asked.plan.messages[0].channel, dispatch: asked.plan.dispatch, time: time.time,
            timing: time.timing)
        let answer = try await api.store.decide(under: key, capacity: asked.recipients.count) {
            [api, asked] view, builder in
            var decision = SendDecision(asked, api, view)
            decision.waiting = (schedule, body)
            try decision.decideOrRefuse(&builder)
            try builder.addOfSystem(
                asked.recipients.isEmpty
                    ? schedule.step(broadcasting: body) : schedule.step(events: builder.mostEventsOfUsers))
            return decision.answer(scheduledAs: schedule)
        }
        return await sendingWhatIsDue(answer)
    }

    /// `answer`, after what is due already was sent. If that fails, the request is stored all the same, and the next
    /// look at what is due tries again.
    private func sendingWhatIsDue(_ answer: APIAnswer) async -> APIAnswer {
        _ = try? await api.sendDue()
        return answer
    }

    // MARK: - Changing

    /// `…/schedule/update`: another time, or other messages.
    func update(_ request: APIRequest, _ form: SendForm) async throws -> APIAnswer {
        let answer = try await change(request, form) { [api] body, schedule, builder in
            let time = try ScheduleTime(body, now: api.log.options.now())
            let messages = form == .messages ? body.present("messages") : nil
            guard time != nil || messages != nil else {
                throw SendRequest.refusal(
                    "Bad Request", at: "schedule",
                    SendRequest.remedy(forMissing: "schedule", in: body, request)
                        ?? "Send what changes: `schedule`\(form == .messages ? " or `messages`" : "").")
            }
            var schedule = schedule
            if let time { (schedule.time, schedule.timing) = (time.time, time.timing) }
            guard let messages else { return try builder.addOfSystem(schedule.stepOfTime) }
            let due = DueSends(api: api)
            if schedule.events == nil {
                let changed = try due.request(ofBroadcast: schedule).setting("messages", messages)
                _ = try SendRequest(form, changed, api.workspace)
                return try builder.addOfSystem(schedule.step(broadcasting: changed))
            }
            for part in try due.parts(of: schedule) {
                let changed = part.request.setting("messages", messages)
                _ = try SendRequest(form, changed, api.workspace)
                try builder.add(
                    .message(schedule.step(ofUser: changed)), EventContext(source: .rest),
                    to: .assignedID(part.user.brazeID))
            }
            try builder.addOfSystem(schedule.step(events: builder.mostEventsOfUsers))
        }
        return await sendingWhatIsDue(answer)
    }

    /// `…/schedule/delete`
    func delete(_ request: APIRequest, _ form: SendForm) async throws -> APIAnswer {
        try await change(request, form) { _, schedule, builder in
            try builder.addOfSystem(schedule.end("deleted"))
        }
    }

    /// Stores what `change` adds for the schedule that the request names, if it waits still.
    private func change(
        _ request: APIRequest, _ form: SendForm,
        _ change: @escaping @Sendable (AttributeValue, Schedule, inout AppendBuilder) throws -> Void
    ) async throws -> APIAnswer {
        let key = try RequestKey(request)
        if let answer = try api.store.answer(under: key) { return answer }
        let body = try BodyObject.read(request.body)
        if form != .messages { _ = try SendRequest.campaign(form, body, api.workspace) }
        return try await api.store.decide(under: key) { [api] view, builder in
            let id = body.present("schedule_id")?.asText
            guard let schedule = try id.flatMap({ try api.schedules.waiting($0, view) }), schedule.form == form,
                form == .messages || body[form.idKey]?.asText.map({ Name($0) }) == schedule.message
            else {
                throw SendRequest.refusal(
                    "Invalid Schedule ID", at: "schedule_id",
                    SendRequest.remedy(forMissing: "schedule_id", in: body, request)
                        ?? "Send the `schedule_id` of a send that waits still.")
            }
            try change(body, schedule, &builder)
            return APIAnswer.ok(status: 201) { $0.member("message", "success") }
        }
    }

    // MARK: - Listing

    /// `GET /messages/scheduled_broadcasts`: what goes to all who match, up to `end_time`, the earliest first.
    func broadcasts(_ request: APIRequest) throws -> APIAnswer {
        try request.refuseIfMatch()
        var query = Query(request)
        guard let end = OccurredAt(braze: try query.text("end_time") ?? "")?.timestamp else {
            throw APIError.invalid(
                "end_time", "must be a time in ISO 8601", remedy: "Send a time, as in 2030-01-31T08:30:00Z.")
        }
        let waiting = try api.schedules.due(at: end).filter { $0.events == nil }
        return try APIAnswer.ok { json in
            json.objects("scheduled_broadcasts", waiting) { json, schedule in
                let id = schedule.message.text
                let campaign = api.workspace.campaign(schedule.form, id)
                json.member("name", campaign?.name ?? "")
                json.member("id", id.isEmpty ? schedule.id : id)
                json.member("type", schedule.form == .canvas ? "Canvas" : "Campaign")
                json.array("tags", campaign?.tags ?? []) { $0.value($1) }
                json.member("next_send_time", TrackTime.text(schedule.time))
                json.member("schedule_type", schedule.timing.rawValue)
            }
            json.member("message", "success")
            try json.note(ListNote("scheduled broadcasts", request), isEmpty: waiting.isEmpty, in: api.store.reader)
        }
    }
}

extension SendDecision {
    /// 201 with `dispatch_id` and `schedule_id`, then what was not done.
    fileprivate func answer(scheduledAs schedule: Schedule) -> APIAnswer {
        request.answer(errors: errors, dropped: dropped, schedule: schedule.id)
    }
}

extension ScheduleEndpoints {
    static let listed: AnswerShape =
        [
            "scheduled_broadcasts": [
                [
                    "name": .text, "id": .text, "type": .text, "tags": [.text], "next_send_time": .text,
                    "schedule_type": .text,
                ]
            ]
        ] + .success + .note
}
