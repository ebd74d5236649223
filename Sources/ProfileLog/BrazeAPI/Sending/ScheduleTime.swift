internal import ProfileLogMessaging
internal import ProfileLogRequests

/// The member `schedule` of a request: when to send (spec/messaging-api 1).
struct ScheduleTime {
    let time: Timestamp
    let timing: Schedule.Timing
    /// Fields that are not simulated.
    let errors: [String]

    /// The most days that a send may be scheduled ahead.
    private static let mostDaysAhead: Int64 = 90

    /// Reads the member, if it is there. A time in the past is due at once.
    init?(_ body: AttributeValue, now: Timestamp) throws {
        guard let schedule = try body.object("schedule") else { return nil }
        let isLocal = try schedule.flag("in_local_time", in: "schedule.") ?? false
        let isOptimal = try schedule.flag("at_optimal_time", in: "schedule.") ?? false
        let slip = SendRequest.misspelt(
            in: schedule, among: ["time", "in_local_time", "at_optimal_time"], at: "schedule"
        ).first
        guard let time = schedule.present("time")?.asText.flatMap({ OccurredAt(braze: $0) })?.timestamp else {
            let remedy = "Send the time in ISO 8601, as in 2030-01-31T08:30:00Z."
            throw SendRequest.refusal(
                "Bad Request", at: "schedule.time", slip.map { "\($0.message): \($0.remedy)" } ?? remedy)
        }
        guard !isLocal || time >= now else {
            throw SendRequest.refusal("Bad Request", at: "schedule.time", "Send a time that is not over.")
        }
        guard time.rawValue <= now.rawValue + Self.mostDaysAhead * 86_400_000_000 else {
            throw SendRequest.refusal(
                "Bad Request", at: "schedule.time", "Send a time within \(Self.mostDaysAhead) days.")
        }
        self.time = time
        timing = isLocal ? .localTime : isOptimal ? .optimalTime : .fixed
        var errors = slip.map { ["\($0): \($0.remedy)"] } ?? []
        for (flag, isSet) in [("in_local_time", isLocal), ("at_optimal_time", isOptimal)] where isSet {
            errors.append("schedule.\(flag): not simulated, all users get it at `time`")
        }
        self.errors = errors
    }
}
