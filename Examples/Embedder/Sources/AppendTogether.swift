import ProfileLog

/// Appends from many tasks. A `LogWriter` commits all appends that wait together, for one sync.
func appendTogether(_ log: EventLog) async throws {
    let writer = LogWriter(log)
    try await withThrowingTaskGroup { group in
        for user in ["ana", "bo", "cyd"] {
            group.addTask {
                var builder = log.prepare()
                let seen = CustomEvent(name: "seen")
                try builder.add(.customEventLogged(seen), EventContext(source: .rest), to: .externalID(user))
                builder.expect(.externalID(user), at: .noUser)
                _ = try await writer.commit(builder.finish(idempotencyKey: "first visit of \(user)"))
            }
        }
        try await group.waitForAll()
    }
    await writer.close()
    print("\(try log.userCount()) users.")
}
