import ProfileLog

/// Reads a user as of earlier versions and moments, and says which event set a field.
func askAboutThePast(_ log: EventLog) throws {
    let levels: [(Int64, String)] = [
        (7, "2026-03-01T12:00:00Z"),
        (2, "2026-01-01T12:00:00Z"),  // arrives late, from a tablet that was offline
    ]
    for (level, time) in levels {
        _ = try log.append(
            [.customAttributesChanged([AttributeChange("level", .set(.int(level)))])], to: .externalID("eve"),
            context: EventContext(source: .rest, occurredAt: OccurredAt(iso8601: time)), idempotencyKey: time)
    }
    guard let eve = try log.find(.externalID("eve")) else { return }

    let now = try log.profileView(log.profile(of: eve.number))
    let before = try log.profileView(log.profile(of: eve.number, asOf: Version(rawValue: 2)))
    print("now \(values(now)), at version 2 \(values(before))")

    if let level = now.customAttributes.first(where: { $0.name == "level" }),
        let setter = try log.event(at: level.position)
    {
        print("set by the event of version \(setter.version.rawValue)")
    }

    let happened = try log.profileView(log.profile(of: eve.number, asOf: .now, order: .occurred))
    print("in the order of occurrence \(values(happened))")

    for blame in try log.blame(of: eve.number, field: "level") {
        print("\(blame.field) is \(blame.value ?? .null), and was \(blame.previous?.value ?? .null)")
    }

    var kinds: [EventKind] = []
    try log.forEachEvent(of: eve.number, direction: .backward) { event in
        if let kind = event.kind { kinds.append(kind) }
        return true
    }
    print("newest first: \(kinds.map { "\($0)" }.joined(separator: ", "))")
}

private func values(_ profile: ProfileView) -> String {
    profile.customAttributes.map { "\($0.name) = \($0.value)" }.joined(separator: ", ")
}
