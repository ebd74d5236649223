import ProfileLog

/// Runs the app, with jane on the phone, then bo.
func runApp(_ log: EventLog, folder: String) async throws {
    try log.changeUser(on: "phone", to: "jane")
    try await awaitGame(in: log) { try startExtension(folder) }
    try printGames(log)

    // What an older version of the app left in the app group is imported as it is. The SDK will not take this one.
    var older = EventContext.extension("PushContent", on: "phone", storage: .appGroup("group.app"))
    older.source = .import
    let email = try log.append([savedEmail("none")], to: .device("phone"), context: older).last

    for item in try log.waiting(on: "phone") { print("waits: \(item.event.kind)") }
    printOutcomes(of: try log.launch(device: "phone"))
    try printGames(log)

    // A rejected item is saved again, corrected, and waits for the next launch.
    if case .rejected(_, let reason)? = try log.outcome(of: email) {
        print("repairs what was rejected: \(reason)")
        try log.retry(email, as: savedEmail("jane@example.com"))
        printOutcomes(of: try log.launch(device: "phone"))
    }
    print("jane's address: \(try log.profile(of: "jane")[.email] ?? .null)")

    // What was saved for jane stays hers, also if bo is there at the launch.
    try await awaitGame(in: log) { try startExtension(folder) }
    try log.changeUser(on: "phone", to: "bo")
    printOutcomes(of: try log.launch(device: "phone"))
    try printGames(log)

    // Without a network the SDK takes the items, and sends them later.
    try await awaitGame(in: log) { try startExtension(folder) }
    try log.set(.online(false), on: "phone")
    printOutcomes(of: try log.launch(device: "phone"))
    try log.set(.online(true), on: "phone")
    print("online: \(try log.waiting(on: "phone").count) items wait")
    try printGames(log)
}

/// Calls `start`, and returns when another process has saved a game on the phone.
func awaitGame(in log: EventLog, _ start: () throws -> Void) async throws {
    let position = try log.lastPosition()
    try start()
    let games = EventFilter(kinds: [.customEventSaved], device: "phone")
    for try await event in log.events(after: position, where: games) {
        print("another process saved: \(event.event.kind)")
        break
    }
}

func savedEmail(_ address: String) -> ProfileEvent {
    .userAttributeSaved(UserAttributeChange(.email, .string(address)))
}

/// Prints what became of each item, in the order in which they were saved.
func printOutcomes(of launch: LaunchReport) {
    for (_, outcome) in launch.outcomes.sorted(by: { $0.key < $1.key }) {
        switch outcome {
        case .pending: print("launched: waits")
        case .queued: print("launched: taken by the SDK, not sent")
        case .flushed: print("launched: flushed")
        case .rejected(_, let reason): print("launched: rejected, \(reason)")
        case .discarded(_, _, let reason): print("launched: discarded, \(reason)")
        }
    }
}

func printGames(_ log: EventLog) throws {
    let games = try ["jane", "bo"].map { user in
        let profile = try log.profile(of: .externalID(user))
        return "\(user) \(profile.customEvents.first { $0.name == "Completed Match Game" }?.count ?? 0)"
    }
    print("games: \(games.joined(separator: ", "))")
}
