internal import ProfileLogMessaging
internal import ProfileLogRequests

/// A send to all users who match: read and stored part by part, in the order of the users' creation.
struct Broadcast: Sendable {
    private let request: SendRequest
    private let api: BrazeAPI

    init(_ request: SendRequest, _ api: BrazeAPI) { (self.request, self.api) = (request, api) }

    /// Events and bytes of a part, of which each is one append: few enough that other writers get their turn.
    private static let eventsPerPart = 20_000
    private static let bytesPerPart = Limits.bytesPerAppend / 4

    /// Sends, and answers when all is durable.
    ///
    /// If it ends half-way, the first users have it and the others have not; an error then says how many have. So a
    /// broadcast under an idempotency key must fit into one part.
    func send(under key: RequestKey?) async throws -> APIAnswer {
        let answer = request.answer(errors: request.errors)
        var done = Part()
        repeat {
            do {
                let (part, receipt) = try await api.store.decide(evenIfFull: done.users > 0) { [done] view in
                    var builder = api.log.prepare(capacity: 1_024)
                    let part = try read(after: done, view, into: &builder)
                    if key != nil, !part.isLast {
                        throw APIError.invalid(
                            "Idempotency-Key", "cannot go with a broadcast to so many users",
                            remedy: "Send it without the key, or to fewer users.")
                    }
                    return Decision(part, storing: try builder.finish(under: key, remembering: answer.body))
                }
                if let key, let receipt, receipt.isRepetition { return try key.answer(to: receipt) }
                done = part
            } catch  where done.users > 0 {
                throw halfDone(done.users, error)
            }
        } while !done.isLast
        return answer
    }

    /// Returns the answer if `error` ends the broadcast when it is stored for `users`.
    func halfDone(_ users: Int, _ error: any Error) -> APIError {
        var apiError = APIError(error)
        apiError.denyNothingStored()
        apiError.error += " The broadcast is stored for at least \(users) users, in the order of their creation."
        apiError.dispatch = request.plan.dispatch
        apiError.remedy =
            "Do not repeat it: `GET /v1/sends` lists the users with this `dispatch_id`; send to the others by name."
        return apiError
    }

    /// Sends `schedule`, which is due, part by part; each part records how far it came, in the same append. Returns
    /// false if the schedule is another one now.
    ///
    /// So nothing is sent twice, also if several processes send it, or one dies half-way.
    func send(_ schedule: Schedule) async throws -> Bool {
        var schedule = schedule
        var done = Part(last: schedule.sentTo)
        while !done.isLast {
            let part = try await api.store.decide(evenIfFull: true) { [schedule, done] view -> Decision<Part?> in
                guard try api.schedules.waiting(schedule.id, view) == schedule else { return Decision(nil) }
                var builder = api.log.prepare(capacity: 1_024)
                let part = try read(after: done, view, into: &builder, cause: schedule.source)
                try builder.addOfSystem(part.isLast ? schedule.end(Schedule.sent) : schedule.step(sentTo: part.last))
                return Decision(part, storing: try builder.finish())
            }.value
            guard let part else { return false }
            (done, schedule.sentTo) = (part, part.last)
        }
        return true
    }

    /// A broadcast up to the end of a part.
    private struct Part: Sendable {
        /// The last user who got it.
        var last = UserNumber.system
        /// Tells whether no users follow.
        var isLast = false
        /// The number of users who got it.
        var users = 0
        /// The addresses that it reached.
        var reached = ReachedAddresses()
    }

    private struct IsFull: Error {}

    /// Adds the part that follows to `builder`.
    private func read(
        after done: Part, _ view: DecisionView, into builder: inout AppendBuilder, cause: Position? = nil
    ) throws -> Part {
        try view.requireSlowPath()
        var part = done
        let log = api.log
        let audience = try audience()
        let (now, failing) = (log.options.now(), api.store.failingChannels.all)
        let traits = TraitReader(api.store.reader, at: now)
        let budget = RenderBudget()
        do {
            _ = try log.reader.users.forEachProfile(after: done.last, withUsage: request.plan.hasPush) {
                user, _, state, usage in
                if let segment = request.segment {
                    let subject = ProfileSubject(user, state, traits: traits, in: api.store.reader)
                    guard try segment.rule.accepts(subject, at: now) else { return }
                }
                let recipient = try api.recipient(
                    user, named: user.id, state, usage: usage.map { usage in { usage } },
                    device: { try log.reader.devices.find($0.text) })
                guard try audience?.takes(recipient.profile, at: now) ?? true else { return }
                if builder.count >= Self.eventsPerPart || builder.byteCount >= Self.bytesPerPart { throw IsFull() }
                budget.addUser()
                for event in request.plan.events(
                    for: recipient, .null, now: now, failing: failing, budget: budget, &part.reached, cause: cause)
                {
                    _ = try builder.add(event, to: .assignedID(user.brazeID))
                }
                view.add(user)
                (part.last, part.users) = (user.number, part.users + 1)
            }
            part.isLast = true
        } catch is IsFull {}
        return part
    }

    private func audience() throws -> Audience? {
        guard let audience = request.audience else { return nil }
        do {
            return try Audience(audience) { name in
                try api.workspace.forcedTypes[name]
                    ?? api.catalogue.withState { api.store.reader.firstType(of: name, by: $0) }
            }
        } catch let error as SendError {
            throw APIError(error)
        }
    }
}
