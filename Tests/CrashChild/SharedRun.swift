import ProfileLog

/// Several processes on one store: writers that report acknowledged appends, and readers that get these reports.
enum SharedRun {
    private static func open(_ store: String) throws -> EventLog {
        var options = LogOptions()
        options.indexLag = 150
        options.usersPerIndexSlice = 3
        options.snapshotInterval = 4
        options.itemsPerFlush = 3
        return try EventLog(path: store, create: true, options: options)
    }

    /// Makes `appends` appends, with a launch after every tenth.
    static func write(store: String, seed: UInt64, writer: UInt64, appends: UInt64) throws {
        let log = try open(store)
        Report.line("open \(try log.lastPosition().rawValue)")
        for append in 1...appends {
            let recipe = Recipe(seed: seed, round: writer, append: append)
            Report.answered(recipe, log.commit([try recipe.prepare(for: log)])[0])
            if append % 10 == 0 {
                let device = Recipe.devices[Int(append / 10 % 3)]
                Report.launched(device, try log.launch(device: device))
            }
        }
        Report.line("end")
    }

    /// Makes one append for each line of standard input.
    static func takeTurns(store: String, seed: UInt64, writer: UInt64) throws {
        let log = try open(store)
        Report.line("open \(try log.lastPosition().rawValue)")
        var append: UInt64 = 0
        while readLine() != nil {
            append += 1
            let recipe = Recipe(seed: seed, round: writer, append: append)
            Report.answered(recipe, log.commit([try recipe.prepare(for: log)])[0])
        }
        Report.line("end")
    }

    /// Reads `POSITION USER VERSION` from standard input and looks each up at once: an acknowledged append must be
    /// there, and all before it without a gap.
    static func read(store: String) throws {
        let log = try open(store)
        Report.line("open \(try log.lastPosition().rawValue)")
        var scanned: UInt64 = 0
        var versions: [UserNumber: UInt64] = [:]
        var asked = 0
        while let line = readLine() {
            let parts = line.split(separator: " ").compactMap { UInt64($0) }
            guard parts.count == 3 else { continue }
            let (position, user, version) = (parts[0], UserNumber(rawValue: parts[1]), parts[2])
            asked += 1
            if let found = try log.reader.users.find(user) {
                if found.version.rawValue < version {
                    Report.line("bad user \(user.rawValue) is stale: \(found.version.rawValue) < \(version)")
                }
            } else {
                Report.line("bad user \(user.rawValue) is unknown")
            }
            let profile = try log.reader.profile(of: user)
            if profile.version.rawValue < version { Report.line("bad profile of user \(user.rawValue) is stale") }
            let event = try log.reader.events.history(
                of: user, from: Version(rawValue: version), to: Version(rawValue: version)
            )
            .first
            if event?.position.rawValue != position {
                Report.line("bad version \(version) of user \(user.rawValue) is not at \(position)")
            }
            while scanned < position {
                let page = try log.reader.events.page(from: Position(rawValue: scanned + 1), limit: 1000)
                for event in page.events {
                    if event.position.rawValue != scanned + 1 {
                        Report.line("bad gap before position \(event.position.rawValue)")
                    }
                    if event.version.rawValue != versions[event.user, default: 0] + 1 {
                        Report.line("bad gap before version \(event.version.rawValue) of user \(event.user.rawValue)")
                    }
                    scanned = event.position.rawValue
                    versions[event.user] = event.version.rawValue
                }
                if page.events.isEmpty {
                    Report.line("bad position \(position) was acknowledged and is not there")
                    break
                }
            }
        }
        Report.line("end \(asked) \(scanned)")
    }
}
