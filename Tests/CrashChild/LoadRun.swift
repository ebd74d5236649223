import ProfileLog

/// Appends, saves, launches and retries in a seeded order, for ever: until it is killed.
struct LoadRun {
    private let log: EventLog
    private let seed: UInt64
    private let round: UInt64
    private var random: SeededGenerator
    private var append: UInt64 = 0
    private var known: [UInt64: Position] = [:]

    /// `retryingFrom` is an append of the round before: from there on, a few are sent again first.
    init(store: String, seed: UInt64, round: UInt64, retryingFrom: UInt64) throws {
        var options = LogOptions()
        options.indexLag = 200
        options.usersPerIndexSlice = 3
        options.snapshotInterval = 4
        options.itemsPerFlush = 3
        log = try EventLog(path: store, create: true, options: options)
        self.seed = seed
        self.round = round
        random = SeededGenerator(seed: seed << 16 &+ round)
        Report.line("open \(try log.lastPosition().rawValue)")
        if round == 0 { return }
        for append in retryingFrom..<(retryingFrom + 12) {
            let recipe = Recipe(seed: seed, round: round - 1, append: append)
            if recipe.key != nil { Report.answered(recipe, log.commit([try recipe.prepare(for: log)])[0]) }
        }
    }

    mutating func step() throws {
        switch random.next(below: 100) {
        case ..<45: try appendOne()
        case ..<60: try appendGroup()
        case ..<76: try launch()
        case ..<84: try changeUser()
        case ..<88: try discard()
        case ..<94: try retry()
        default: try conflict()
        }
    }

    private mutating func next() -> Recipe {
        append += 1
        return Recipe(seed: seed, round: round, append: append)
    }

    private mutating func appendOne() throws {
        let recipe = next()
        let receipt = try log.commit(recipe.prepare(for: log))
        known[append] = receipt.first
        Report.acknowledged(recipe, receipt)
    }

    private mutating func appendGroup() throws {
        var recipes: [Recipe] = []
        for _ in 0...random.next(below: 6) { recipes.append(next()) }
        let answers = log.commit(try recipes.map { try $0.prepare(for: log) })
        for (recipe, answer) in zip(recipes, answers) { Report.answered(recipe, answer) }
    }

    private mutating func launch() throws {
        let device = Recipe.devices[random.next(below: Recipe.devices.count)]
        Report.launched(device, try log.launch(device: device))
    }

    private mutating func changeUser() throws {
        let device = Recipe.devices[random.next(below: Recipe.devices.count)]
        let user = UserID.externalID("user-\(random.next(below: 9))")
        Report.did("change", try log.changeUser(device: device, to: user))
    }

    private mutating func discard() throws {
        let device = Recipe.devices[random.next(below: Recipe.devices.count)]
        let waiting = try log.reader.devices.pending(on: device)
        guard !waiting.isEmpty else { return }
        let item = waiting[random.next(below: waiting.count)].position
        let discard = try PreparedAppend.discard(
            device: device, .positions([item]), actor: "test", reason: "drawn by lot",
            context: EventContext(source: .cli))
        Report.did("discard", try log.commit(discard))
    }

    /// Sends an append of this round again.
    private mutating func retry() throws {
        guard append > 0 else { return }
        let again = 1 + UInt64(random.next(below: Int(append)))
        let recipe = Recipe(seed: seed, round: round, append: again)
        guard recipe.key != nil, let first = known[again] else { return }
        let receipt = try log.commit(recipe.prepare(for: log))
        Report.acknowledged(recipe, receipt)
        if !receipt.isRepetition || receipt.first != first {
            Report.line("bad a retry of \(recipe.tag) was stored again")
        }
    }

    /// Appends under a version that the user cannot have.
    private mutating func conflict() throws {
        let recipe = next()
        let wrong = ExpectedVersion.exactly(Version(rawValue: 1 << 40))
        Report.answered(recipe, log.commit([try recipe.prepare(for: log, expecting: wrong)])[0])
    }
}
