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
    /// The number of times that a part is read when users in it are erased at the same time.
    private static let attempts = 5

    /// Sends, and answers when all is durable.
    ///
    /// If it ends half-way, the first users have it and the others have not; an error then says how many have. So a
    /// broadcast under an idempotency key must fit into one part.
    func send(under key: RequestKey?) async throws -> APIAnswer {
        let answer = request.answer(errors: request.errors)
        var start: UserNumber? = UserNumber(rawValue: 0)
        var attempt = 1
        var users = 0
        var reached = ReachedAddresses()
        while let user = start {
            do {
                let part = try await api.store.performSlowly { [reached] _ in
                    var builder = api.log.prepare(capacity: 1_024)
                    var part = try read(after: user, reached, into: &builder)
                    part.append = try builder.finish(under: key, remembering: answer.body)
                    return part
                }
                if key != nil, part.next != nil {
                    throw APIProblem.invalid(
                        "Idempotency-Key", "cannot go with a broadcast to so many users",
                        remedy: "Send it without the key, or to fewer users.")
                }
                if let append = part.append {
                    try await api.store.commit(append, evenIfFull: users > 0).checkIsFirst()
                }
                (start, attempt, reached) = (part.next, 1, part.reached)
                users += part.users
            } catch AppendError.unknownUser where attempt < Self.attempts {
                attempt += 1
            } catch  where users > 0 {
                throw halfDone(users, error)
            }
        }
        return answer
    }

    /// Returns the answer if `error` ends the broadcast when it is stored for `users`.
    func halfDone(_ users: Int, _ error: any Error) -> APIProblem {
        var problem = APIProblem(error)
        problem.error += " The broadcast is stored for at least \(users) users, in the order of their creation."
        problem.dispatch = request.plan.dispatch
        problem.remedy =
            "Do not repeat it: `GET /v1/sends` lists the users with this `dispatch_id`; send to the others by name."
        return problem
    }

    /// Sends `schedule`, which is due, part by part; each part records how far it came, in the same append. Returns
    /// false if the schedule is another one now.
    ///
    /// So nothing is sent twice, also if several processes send it, or one dies half-way.
    func send(_ schedule: Schedule) async throws -> Bool {
        var schedule = schedule
        var reached = ReachedAddresses()
        for _ in 0..<Self.attempts {
            do {
                while true {
                    let (sent, isDone) = try await sendPart(of: schedule, &reached)
                    guard let sent else { return false }
                    if isDone { return true }
                    schedule.sentTo = sent
                }
            } catch AppendError.unknownUser {
                // A user was erased after they were read.
            }
        }
        throw APIProblem.busy
    }

    /// The last user of the part, nil if the schedule is another one now; and whether it was the last part.
    private func sendPart(
        of schedule: Schedule, _ reached: inout ReachedAddresses
    ) async throws -> (sent: UserNumber?, isDone: Bool) {
        let part = try await api.store.performSlowly { [reached] _ in
            var builder = api.log.prepare(capacity: 1_024)
            var part = try read(after: schedule.sentTo, reached, into: &builder, cause: schedule.source)
            try builder.addOfSystem(part.next.map { schedule.step(sentTo: $0) } ?? schedule.end(Schedule.sent))
            part.append = try builder.finish()
            return part
        }
        let isStored = try await api.store.perform(evenIfFull: true) { [api] log in
            try log.commit(decidingUnderLock: {
                try api.schedules.current().waiting[schedule.id] == schedule ? part.append : nil
            }) != nil
        }
        guard isStored else { return (nil, false) }
        reached = part.reached
        return (part.next ?? schedule.sentTo, part.next == nil)
    }

    private struct Part: Sendable {
        var append: PreparedAppend?
        /// The last user in it; nil if it ends with the last user of all.
        var next: UserNumber?
        /// The number of users in it.
        var users: Int
        /// Parts that were reached up to their end.
        var reached: ReachedAddresses
    }

    private struct IsFull: Error {}

    private func read(
        after user: UserNumber, _ reached: ReachedAddresses, into builder: inout AppendBuilder, cause: Position? = nil
    ) throws -> Part {
        var reached = reached
        let log = api.log
        let audience = try audience()
        let (now, failing) = (log.options.now(), api.store.failingChannels.all)
        let traits = TraitReader(api.store.reader, at: now)
        var last: UserNumber?
        var users = 0
        let budget = RenderBudget()
        do {
            _ = try log.reader.users.forEachProfile(after: user, withUsage: request.plan.hasPush) {
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
                    for: recipient, .null, now: now, failing: failing, budget: budget, &reached, cause: cause)
                {
                    _ = try builder.add(event, to: .brazeID(user.brazeID))
                }
                last = user.number
                users += 1
            }
            last = nil
        } catch is IsFull {}
        return Part(next: last, users: users, reached: reached)
    }

    private func audience() throws -> Audience? {
        guard let audience = request.audience else { return nil }
        do {
            return try Audience(audience) { name in
                try api.workspace.forcedTypes[name]
                    ?? api.catalogue.withState { api.store.reader.firstType(of: name, by: $0) }
            }
        } catch let fault as SendFault {
            throw APIProblem(fault)
        }
    }
}
