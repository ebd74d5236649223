/// A request that waits for its time (spec/messaging-api 1), folded from its steps `scheduled` and `unscheduled`.
///
/// The steps of the system say when what is sent; they hold nothing about a person. A user's part of a request is a
/// step in that user's stream, so that it is erased with the user. All steps of one append follow each other.
///
/// | member of a step | |
/// |---|---|
/// | `schedule_id` | whose step it is |
/// | `form` | of the system: ``SendForm`` |
/// | `time`, `timing` | of the system: when, and for whose clock it was asked |
/// | `request` | what to send, as the request had it: of the system for a broadcast, else of each user |
/// | `events` | of the system: among so many events before it are the steps of the users |
/// | `sent_to` | of the system: the users up to this number have the broadcast |
package struct Schedule: Hashable, Sendable {
    package let id: String
    package let form: SendForm
    /// The ID of the campaign or canvas; empty without one.
    package let message: Name
    /// The channel of its first message.
    package let channel: MessageStep.Channel
    package let dispatch: String
    package var time: Timestamp
    package var timing = Timing.fixed
    /// The step of the system with which the request was stored.
    package var source = Position.start
    /// The number of events before `source` among which are the steps of its users; nil for a broadcast.
    package var events: Int?
    /// The users up to this one have the broadcast.
    package var sentTo = UserNumber.system

    /// The clock by which a time was asked. All are sent at the time in UTC.
    package enum Timing: String, Sendable {
        case fixed = "UTC"
        case localTime = "local_time_zones"
        case optimalTime = "intelligent_delivery"
    }

    /// The reason of an end that was reached.
    package static let sent = "sent"

    package init(
        id: String, form: SendForm, message: Name, channel: MessageStep.Channel, dispatch: String, time: Timestamp,
        timing: Timing = .fixed
    ) {
        (self.id, self.form, self.message, self.channel) = (id, form, message, channel)
        (self.dispatch, self.time, self.timing) = (dispatch, time, timing)
    }
}

// MARK: - Its steps

extension Schedule {
    /// Members of the steps.
    fileprivate enum Key {
        static let schedule: Name = "schedule_id"
        static let form: Name = "form"
        static let time: Name = "time"
        static let timing: Name = "timing"
        static let request: Name = "request"
        static let events: Name = "events"
        static let sentTo: Name = "sent_to"
    }

    private func step(_ content: [Name: AttributeValue], reason: String? = nil) -> MessageStep {
        var members = content.map { AttributeValue.Member($0, $1) }
        members.append(.init(Key.schedule, .string(id)))
        return MessageStep(
            reason == nil ? .scheduled : .unscheduled, of: message, by: channel, reason: reason, dispatch: dispatch,
            content: members.sorted { $0.key < $1.key })
    }

    private var moment: [Name: AttributeValue] {
        [
            Key.form: .string(form.rawValue), Key.time: .date(OccurredAt(time)),
            Key.timing: .string(timing.rawValue),
        ]
    }

    /// The step of the system for a broadcast of `request`.
    package func step(broadcasting request: AttributeValue) -> MessageStep {
        step(moment.merging([Key.request: Self.common(request)]) { $1 })
    }

    /// The step of the system for users whose steps are among the `events` before it.
    package func step(events: Int) -> MessageStep { step(moment.merging([Key.events: .int(Int64(events))]) { $1 }) }

    /// The step of the system that changes the time only.
    package var stepOfTime: MessageStep { step(moment) }

    /// The step of the system after a part of a broadcast.
    package func step(sentTo user: UserNumber) -> MessageStep {
        step(moment.merging([Key.sentTo: .int(Int64(user.rawValue))]) { $1 })
    }

    /// The step of the system that ends it.
    package func end(_ reason: String) -> MessageStep { step([:], reason: reason) }

    /// The step of one user: their part of `request`, which is its `member`.
    package func step(of request: AttributeValue, for member: AttributeValue.Member) -> MessageStep {
        guard case .object(let members) = Self.common(request) else { return step([:]) }
        // Applied already.
        let applied: Set<Name> = ["attributes", "send_to_existing_only"]
        let given =
            if case .object(let own) = member.value, member.key == "recipients" {
                AttributeValue.object(own.filter { !applied.contains($0.key) })
            } else {
                member.value
            }
        return step(
            ofUser: .object((members + [.init(member.key, .array([given]))]).sorted { $0.key < $1.key }))
    }

    /// The step of one user with their request.
    package func step(ofUser request: AttributeValue) -> MessageStep { step([Key.request: request]) }

    /// The request without its users and its time.
    private static func common(_ request: AttributeValue) -> AttributeValue {
        guard case .object(let members) = request else { return request }
        let others: Set<Name> = ["external_user_ids", "user_aliases", "recipients", "schedule"]
        return .object(members.filter { !others.contains($0.key) })
    }

    /// The request in a step of this schedule; nil if it has none.
    package func request(in event: ProfileEvent) -> AttributeValue? {
        guard case .message(let step) = event, case let content = AttributeValue.object(step.content),
            content[Key.schedule] == .string(id)
        else { return nil }
        return content[Key.request]
    }
}

// MARK: - The fold

extension [String: Schedule] {
    /// Folds a step of the system.
    package mutating func apply(_ step: MessageStep, at position: Position) {
        let content = AttributeValue.object(step.content)
        guard let id = content[Schedule.Key.schedule]?.asText else { return }
        guard step.stage == .scheduled, case .date(let time)? = content[Schedule.Key.time],
            let form = content[Schedule.Key.form]?.asText.flatMap(SendForm.init)
        else {
            self[id] = nil
            return
        }
        var schedule =
            self[id]
            ?? Schedule(
                id: id, form: form, message: step.message, channel: step.channel, dispatch: step.dispatch ?? "",
                time: time.timestamp)
        schedule.time = time.timestamp
        schedule.timing = content[Schedule.Key.timing]?.asText.flatMap(Schedule.Timing.init) ?? .fixed
        if let events = content[Schedule.Key.events]?.asInteger {
            (schedule.source, schedule.events) = (position, Int(events))
        } else if content[Schedule.Key.request] != nil {
            schedule.source = position
        }
        if let user = content[Schedule.Key.sentTo]?.asInteger {
            schedule.sentTo = UserNumber(rawValue: UInt64(user))
        }
        self[id] = schedule
    }
}
