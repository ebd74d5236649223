import ProfileLog

/// Appends from many tasks. A `LogWriter` commits all appends that wait together, for one sync.
func appendTogether(_ log: EventLog) async throws {
    let writer = LogWriter(log)
    try await withThrowingTaskGroup { group in
        for user in ["ana", "bo", "cyd"] {
            group.addTask {
                let seen = CustomEvent(name: "seen")
                try await writer.append(
                    [.customEventLogged(seen)], to: .externalID(user), expecting: .noUser, context: .server,
                    idempotencyKey: "first visit of \(user)")
            }
        }
        try await group.waitForAll()
    }
    await writer.close()
    print("\(try log.userCount()) users.")
}
