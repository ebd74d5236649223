import ProfileLog

/// Reads eve as she was: by version, position and time, in the order of arrival and of occurrence.
func askWhat(_ log: EventLog) throws {
    let now = try log.profile(of: "eve")
    let before = try log.profile(of: "eve", asOf: .version(2))
    let then = try log.profile(of: "eve", asOf: .position(3))
    let monday = try log.profile(of: "eve", asOf: .time(moment("2026-03-02T12:00:00Z")))
    print("level \(text(now["level"])); at version 2 it was \(text(before["level"]))")
    print("  at position 3 \(text(then["level"])), on Monday \(text(monday["level"]))")

    // The level of Monday happened after the one of February, whenever each arrived.
    let happened = try log.profile(of: "eve", order: .occurred)
    print("in the order of occurrence \(text(happened["level"]))")

    // What is not there is empty. What cannot be asked is refused.
    let early = try log.profile(of: "eve", asOf: .time(moment("2026-01-01T00:00:00Z")))
    print("in January she had \(early.version) events and the level \(text(early["level"]))")
    do {
        print(try log.profile(of: "eve", asOf: .version(99)))
    } catch let error as MomentError {
        print(error.description, error.remedy)
    }

    // Answers of one read belong together: no commit comes between them.
    let (city, count, end) = try log.read { moment in
        (try moment.profile(of: "eve")["address"]?["city"], try moment.history(of: "eve").count, moment.position)
    }
    print("she lives in \(text(city)) after \(count) events, at position \(end)")

    var kinds: [EventKind] = []
    try log.forEachEvent(of: "eve", direction: .backward) { event in
        if let kind = event.kind { kinds.append(kind) }
        return kinds.count < 3
    }
    print("newest first: \(kinds.map { "\($0)" }.joined(separator: ", "))")

    var beginners: [UserID] = []
    try log.forEachUser { user, profile in
        if case .int(let level)? = profile["level"], level < 5 { beginners.append(user.id) }
    }
    print("beginners: \(beginners.map(\.description).joined(separator: ", "))")

    // A trait is computed when it is asked for, so it has a value for each past moment too.
    let views = UserTrait.count(.event("Viewed Home"))
    let earlier = try log.value(of: views, for: "eve", asOf: .version(5))
    print("home views: \(text(try log.value(of: views, for: "eve"))), after her fifth event \(text(earlier))")
}

/// A value for people.
func text(_ value: AttributeValue?) -> String {
    switch value {
    case .int(let number)?: "\(number)"
    case .string(let text)?: text
    case .object?: "an object"
    case nil: "none"
    case let other?: "\(other)"
    }
}
