import ProfileLog

/// Tells the log about eve, day by day.
func tell(_ log: EventLog, _ clock: StoryClock) throws -> (late: Position, views: Position) {
    clock.set("2026-03-01T09:00:00Z")
    try log.append(
        [.customAttributesChanged([AttributeChange("level", .set(3)), AttributeChange("plan", .set("free"))])],
        to: "eve", context: .server, idempotencyKey: "line 1")

    clock.set("2026-03-02T09:00:00Z")
    try log.append(
        [.customAttributesChanged([AttributeChange("level", .set(7))])], to: "eve", context: .server,
        idempotencyKey: "line 2")

    // Arrives late, from a tablet that was offline: it happened in February.
    clock.set("2026-03-03T09:00:00Z")
    var february = EventContext.server
    february.occurredAt = OccurredAt(iso8601: "2026-02-20T09:00:00Z")
    let late = try log.append(
        [.customAttributesChanged([AttributeChange("level", .set(2))])], to: "eve", context: february,
        idempotencyKey: "line 3"
    ).last

    clock.set("2026-03-04T09:00:00Z")
    let home = CustomEvent(name: "Viewed Home")
    let views = try log.append(
        [.customEventLogged(home), .customEventLogged(home)], to: "eve", context: .server, idempotencyKey: "line 4"
    ).last

    clock.set("2026-03-05T09:00:00Z")
    let address: [AttributeValue.Member] = [.init("city", "Bern"), .init("zip", "3000")]
    try log.append(
        [.customAttributesChanged([AttributeChange("address", .set(.object(address)))])], to: "eve",
        context: .server, idempotencyKey: "line 5")

    clock.set("2026-03-06T09:00:00Z")
    try log.append(
        [.customAttributesChanged([AttributeChange("address", .objectMerge([.init("city", "Basel")]))])], to: "eve",
        context: .server, idempotencyKey: "line 6")
    return (late, views)
}
