import ProfileLog

/// Asks what would be without some events, makes one void, and erases a person.
func askWhatIf(_ log: EventLog, late: Position, views: Position) throws {
    let impact = try log.whatIf(AlteredHistory(without: [.event(late)]))
    print("without the late level \(impact.changed) of \(impact.users) profiles would differ")

    try log.void(late, actor: "ops", reason: "the tablet's clock was wrong")
    let (now, before) = (try log.profile(of: "eve"), try log.profile(of: "eve", asOf: .position(views)))
    print("void, her level is \(text(now["level"])); before the void it was \(text(before["level"]))")

    try log.unvoid(late, actor: "ops", reason: "it was right")
    print("it counts again: \(text(try log.profile(of: "eve")["level"]))")

    // For ever: her values leave the log, and places and times stay.
    try log.append([.customEventLogged(CustomEvent(name: "left"))], to: "zoe", context: .server)
    let erased = try log.erase(["zoe"], actor: "ops", reason: "she asked us to")
    print("erased \(erased.users.count) person; zoe is \(try log.find("zoe") == nil ? "not known" : "known")")
}
