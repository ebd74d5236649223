import ProfileLog

/// A short sequence of every kind of commit, always the same, for faults at a counted system call. What fails is said,
/// and the script goes on: what a broken store answers next is part of the test.
struct ScriptRun {
    private let log: EventLog
    private let seed: UInt64

    init(store: String, seed: UInt64) throws {
        var options = LogOptions()
        options.indexLag = 36
        options.usersPerIndexSlice = 3
        options.snapshotInterval = 4
        options.itemsPerFlush = 2
        options.now = { Timestamp(rawValue: 1_767_312_000_000_000) }
        log = try EventLog(path: store, create: true, options: options)
        self.seed = seed
        Report.line("open \(try log.lastPosition().rawValue)")
    }

    func run() throws {
        try commit([1])
        try commit([2])
        try commit([3, 4])
        launch(Recipe.devices[0])
        change(to: .externalID("user-1"))
        try commit([5, 6, 7])  // crosses `indexLag`
        try commit([8])
        launch(Recipe.devices[1])
        launch(Recipe.devices[2])
        try commit([9, 10])
        discard()
        try commit([11])
        try commit([12])
        read()
        Report.line("end")
    }

    /// Reads go on after every fault: `last POSITION`, after all events were read.
    private func read() {
        do {
            let last = try log.lastPosition()
            let events = try log.reader.events.page(from: Position(rawValue: 1), limit: 1000).events
            if events.last?.position ?? .start != last { Report.line("bad the log is read to \(events.count)") }
            for user in try log.reader.users.page(limit: 100) { _ = try log.reader.profile(of: user.number) }
            Report.line("last \(last.rawValue)")
        } catch {
            Report.line("bad reads stopped: \(error)")
        }
    }

    private func commit(_ appends: [UInt64]) throws {
        let recipes = appends.map { Recipe(seed: seed, round: 0, append: $0).keyed() }
        for recipe in recipes { Report.line("try \(recipe.tag)") }
        let answers = log.commit(try recipes.map { try $0.prepare(for: log) })
        for (recipe, answer) in zip(recipes, answers) { Report.answered(recipe, answer) }
    }

    private func launch(_ device: String) {
        do throws(AppendError) {
            Report.launched(device, try log.launch(device: device))
        } catch {
            Report.failed("launch", error)
        }
    }

    private func change(to user: UserID) {
        do throws(AppendError) {
            Report.did("change", try log.changeUser(device: Recipe.devices[0], to: user))
        } catch {
            Report.failed("change", error)
        }
    }

    private func discard() {
        do throws(AppendError) {
            let discard = try PreparedAppend.discard(
                device: Recipe.devices[1], .all, actor: "test", reason: "the script says so",
                context: EventContext(source: .cli))
            Report.did("discard", try log.commit(discard))
        } catch {
            Report.failed("discard", error)
        }
    }
}
