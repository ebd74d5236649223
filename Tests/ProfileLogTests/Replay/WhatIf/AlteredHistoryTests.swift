import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds

@Suite("What if the history were another one")
struct AlteredHistoryTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func story(seed: UInt64, steps: Int = 120) throws -> (log: EventLog, story: VoidStory) {
        var options = LogOptions.small(clock, indexLag: Int(seed % 3) * 9 + 3)
        options.snapshotInterval = Int(seed % 4) * 2
        let log = try folder.open(options: options)
        var story = VoidStory(log, clock, seed: seed, mayErase: seed % 3 == 0)
        for step in 0..<steps {
            if seed % 2 == 1, step % 50 == 30 {
                try log.setRules(
                    FoldRules(policies: step == 30 ? ["plan": .firstWins, "tags": .setUnion] : ["plan": .counter]))
            }
            try story.step()
        }
        return (log, story)
    }

    /// All users who differ, each with all fields.
    private func impact(
        _ history: AlteredHistory, _ log: EventLog, threads: Int = 1, usersPerPass: UInt64 = 1 << 18,
        samples: Int = .max
    ) throws -> ProfileImpact {
        var options = WhatIfOptions()
        (options.threads, options.usersPerPass, options.samples) = (threads, usersPerPass, samples)
        return try log.whatIf(Alteration(history, of: log.reader), options)
    }

    private func profiles(_ log: EventLog) throws -> [UserNumber: ProfileState] {
        try log.users(limit: 1000).reduce(into: [:]) { profiles, user in
            guard !user.isErased, try log.reader.users.canonicalUser(of: user.number) == user.number else { return }
            profiles[user.number] = try log.profile(of: user.number)
        }
    }

    /// Returns the differences, user by user.
    private func changes(
        _ log: EventLog, from before: [UserNumber: ProfileState], to after: [UserNumber: ProfileState]
    ) -> [UserNumber: [FieldChange]] {
        before.compactMapValues { $0 }.reduce(into: [:]) { changes, row in
            guard let later = after[row.key] else { return }
            let found = FieldChange.all(from: row.value, to: later, log.names.current)
            if !found.isEmpty { changes[row.key] = found }
        }
    }

    private func changes(_ impact: ProfileImpact) -> [UserNumber: [FieldChange]] {
        Dictionary(uniqueKeysWithValues: impact.samples.map { ($0.user, $0.changes) })
    }

    // MARK: - Against oracles

    @Test(
        "Without an event, profiles are what they are after its void", arguments: Thoroughness.seeds(short: 3, full: 60)
    )
    func void(seed: UInt64) throws {
        let (log, story) = try story(seed: seed)
        for (position, isVoid) in story.facts.sorted(by: { $0.key < $1.key }) where !isVoid {
            let impact = try impact(AlteredHistory(without: [.event(position)]), log)
            let before = try profiles(log)
            _ = try log.void(position, actor: "a test", reason: "wrong")
            let expected = changes(log, from: before, to: try profiles(log))
            try log.unvoid(position, actor: "a test", reason: "right")
            #expect(changes(impact) == expected, "seed \(seed), position \(position.rawValue)")
            #expect(impact.changed == UInt64(expected.count))
        }
    }

    @Test(
        "Without a source, a name, a device or a user, profiles are what a fold of the other events gives",
        arguments: Thoroughness.seeds(short: 4, full: 80))
    func bruteForce(seed: UInt64) throws {
        let (log, story) = try story(seed: seed)
        var random = SeededGenerator(seed: seed)
        let before = try profiles(log)
        let users = try log.users(limit: 100).map(\.number)
        let events = story.facts.keys.sorted()
        let choices: [AlteredHistory.Omission] =
            [.source(.rest), .source(.extension), .source(.system), .device("d1"), .device("d2")]
            + ["played", "p", "plan", "home", "email", "tags"].map { .name($0) } + users.map { .user($0) }
            + events.prefix(40).map { .event($0) }
        for round in 0..<12 {
            let without = Set((0...random.next(below: 3)).map { _ in choices[random.next(below: choices.count)] })
            let oracle = AlteredOracle(log: log, without: without)
            let after = try before.keys.reduce(into: [:]) { $0[$1] = try oracle.profile(of: $1) }
            let expected = changes(log, from: before, to: after)
            let whole = try impact(AlteredHistory(without: without), log)
            #expect(changes(whole) == expected, "seed \(seed), round \(round): \(without)")
            #expect(whole.isComplete && whole.lost == UInt64(expected.values.joined().count { $0.after == nil }))
            for (threads, usersPerPass) in [(2, 1 << 18), (1, 1), (3, 2)] as [(Int, UInt64)] {
                let other = try impact(
                    AlteredHistory(without: without), log, threads: threads, usersPerPass: usersPerPass)
                #expect(changes(other) == expected, "seed \(seed), round \(round), \(threads) threads")
                #expect(other.fields == whole.fields && other.users == whole.users)
            }
            let (few, same) = try (
                impact(AlteredHistory(without: without), log, samples: 2),
                impact(AlteredHistory(without: without), log, threads: 2, usersPerPass: 3, samples: 2)
            )
            #expect(few.samples.map(\.user) == same.samples.map(\.user))
        }
        #expect(try impact(AlteredHistory(), log).changed == 0)
    }

    @Test("By other rules, profiles are what a fold by them gives", arguments: Thoroughness.seeds(short: 3, full: 60))
    func rules(seed: UInt64) throws {
        let (log, _) = try story(seed: seed)
        var random = SeededGenerator(seed: seed)
        let before = try profiles(log)
        for round in 0..<8 {
            var rules = FoldRules()
            for name in ["plan", "score", "tags", "home"] as [Name] where random.next(below: 2) == 0 {
                rules.policies[name] = AttributePolicy.allCases.randomElement(using: &random)
            }
            if random.next(below: 3) == 0 { rules.blockedEvents = ["played"] }
            if random.next(below: 3) == 0 { rules.blockedAttributes = ["score"] }
            if random.next(below: 3) == 0 { rules.forcedTypes = ["plan": .string] }
            let without: Set<AlteredHistory.Omission> = random.next(below: 2) == 0 ? [] : [.source(.rest)]
            let bound = BoundRules(rules, names: log.names.current)
            let oracle = AlteredOracle(log: log, without: without, rules: bound)
            let after = try before.keys.reduce(into: [:]) { $0[$1] = try oracle.profile(of: $1) }
            let expected = changes(log, from: before, to: after)
            for (threads, usersPerPass) in [(1, 1 << 18), (2, 3)] as [(Int, UInt64)] {
                let found = try impact(
                    AlteredHistory(without: without, rules: rules), log, threads: threads, usersPerPass: usersPerPass)
                #expect(changes(found) == expected, "seed \(seed), round \(round): \(rules)")
            }
        }
        if seed % 2 == 0 { #expect(try impact(AlteredHistory(rules: FoldRules()), log).changed == 0) }
    }

    @Test("With a corrected event, profiles are those of a store with that event", arguments: UInt64(0)..<12)
    func correction(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let steps = (0..<40).map { _ in Step.random(&random) }
        let index = steps.indices.filter { steps[$0].event != nil }.randomElement(using: &random) ?? 0
        let saved = steps[index].event?.kind.isSaved == true
        var replacement = Step.random(&random)
        while replacement.event.map({ $0.kind.isSaved == saved }) != true { replacement = .random(&random) }
        let event = try #require(replacement.event)
        var corrected = steps
        corrected[index].event = event
        let log = try folder.open(options: .small(clock))
        let positions = try play(steps, log)
        let other = TemporaryFolder()
        let second = try other.open(options: .small(TestClock()))
        let placed = try play(corrected, second)
        let position = try #require(positions[index])
        #expect(placed[index] == position)
        let impact = try impact(AlteredHistory(corrections: [position: event]), log)
        let expected = changes(log, from: try profiles(log), to: try profiles(second))
        #expect(changes(impact) == expected, "seed \(seed), position \(position.rawValue)")
    }

    /// Plays `steps`, and gives the positions of their events. All names come first, so that they have the same
    /// numbers.
    private func play(_ steps: [Step], _ log: EventLog) throws -> [Position?] {
        let names: [Name] = ["a", "b", "played", "paused"]
        _ = try log.append(
            [.customAttributesChanged(names.map { AttributeChange($0, .unset) })], to: .externalID("names"))
        return try steps.map { step in
            guard let event = step.event else {
                _ = try log.launch(device: "d")
                return nil
            }
            let context =
                event.kind.isSaved
                ? EventContext.saved(on: "d", at: step.at)
                : EventContext(source: .rest, occurredAt: OccurredAt(Timestamp(rawValue: step.at)))
            return try log.append([event], to: .externalID("u\(step.user)"), context: context).last
        }
    }

    private struct Step {
        var user: Int
        /// Is nil for a launch.
        var event: ProfileEvent?
        var at: Int64

        static func random(_ random: inout SeededGenerator) -> Step {
            let number = Int64(random.next(below: 5))
            let attribute = [AttributeChange(random.next(below: 2) == 0 ? "a" : "b", .set(.int(number)))]
            let custom = CustomEvent(name: random.next(below: 2) == 0 ? "played" : "paused")
            let event: ProfileEvent? =
                switch random.next(below: 6) {
                case 0: nil
                case 1: .customAttributesSaved(attribute)
                case 2: .customEventSaved(custom)
                case 3: .customEventLogged(custom)
                case 4: .purchaseLogged(Purchase(product: "played", currency: "EUR", price: Double(number)))
                default: .customAttributesChanged(attribute)
                }
            return Step(
                user: random.next(below: 3), event: event,
                at: 1_700_000_000_000_000 + Int64(random.next(below: 1000)) * 1_000_000)
        }
    }

    // MARK: - Names, limits, refusals

    @Test("A corrected event may have names that the log has not, and they are not stored")
    func newNames() throws {
        let log = try folder.open(options: .small(clock))
        let position = try log.append(
            [.customAttributesChanged([.init("levl", .set(3))])], to: .externalID("ana")
        ).last
        let history = AlteredHistory(corrections: [
            position: .customAttributesChanged([.init("level", .set(3)), .init("plan", .set("gold"))])
        ])
        let impact = try impact(history, log)
        #expect(impact.samples.map { $0.changes.map(\.field) } == [["level", "levl", "plan"]])
        #expect(impact.fields.values.map(\.lost).reduce(0, +) == 1 && log.names.number("level") == nil)
        #expect(try log.whatIf(history, threads: 2).changed == 1)
    }

    @Test("Only what was saved or logged can be omitted or corrected")
    func refused() throws {
        let log = try folder.open(options: .small(clock))
        let ana = UserID.externalID("ana")
        _ = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: ana)
        let bo = try log.append([.customEventLogged(CustomEvent(name: "played"))], to: .externalID("bo")).last
        _ = try log.erase([.externalID("bo")], actor: "ops", reason: "asked to")
        let last = try log.lastPosition()
        for (position, reason) in [
            (.start, "does not exist"), (last.next, "does not exist"), (Position(rawValue: 1), "kind userCreated"),
            (bo, "was erased"),
        ] as [(Position, String)] {
            for history in [
                AlteredHistory(without: [.event(position)]),
                AlteredHistory(corrections: [position: .customEventLogged(CustomEvent(name: "a"))]),
            ] {
                let error = #expect(throws: AppendError.self) { try log.whatIf(history) }
                #expect(error?.description.contains(reason) == true, "\(position): \(String(describing: error))")
            }
        }
        for event in [
            ProfileEvent.customEventSaved(CustomEvent(name: "a")), .sessionStarted,
            .customEventLogged(CustomEvent(name: Name(String(repeating: "n", count: 300)))),
        ] {
            #expect(throws: AppendError.self) {
                try log.whatIf(AlteredHistory(corrections: [Position(rawValue: 2): event]))
            }
        }
    }

    @Test("A what-if that runs out of time says how far it came")
    func budget() throws {
        let (log, _) = try story(seed: 2)
        var options = WhatIfOptions()
        options.end = .now
        let impact = try log.whatIf(Alteration(AlteredHistory(without: [.source(.rest)]), of: log.reader), options)
        #expect(!impact.isComplete && impact.users == 0 && impact.reached == 0 && impact.total > 0)
        let stopped = try log.whatIf(
            Alteration(AlteredHistory(without: [.source(.rest)]), of: log.reader), WhatIfOptions()
        ) {
            _ in false
        }
        #expect(!stopped.isComplete)
    }

    @Test(
        "A what-if after a user has the users who follow, each as when asked alone",
        arguments: Thoroughness.seeds(short: 3, full: 30))
    func after(seed: UInt64) throws {
        let (log, told) = try story(seed: seed, steps: 60)
        let end = try log.lastPosition()
        let history = AlteredHistory(without: [.source(.rest), .name("plan")])
        func impact(upTo end: Position, after: UInt64, of user: UInt64? = nil, perPass: UInt64) throws -> ProfileImpact
        {
            var options = WhatIfOptions()
            (options.after, options.usersPerPass) = (UserNumber(rawValue: after), perPass)
            options.user = user.map { UserNumber(rawValue: $0) }
            return try log.whatIf(Alteration(history, of: log.reader, upTo: end), options)
        }
        let total = try log.userCount()
        let alone = try (1...total).map { try impact(upTo: end, after: 0, of: $0, perPass: 1) }
        // What comes later is not in a history that ends before it. (Who is erased is in none.)
        var later = told
        if seed % 3 > 0 { for _ in 0..<20 { try later.step() } }
        for after in 0...total + 1 {
            for perPass: UInt64 in [1, 3, 1 << 18] {
                let rest = try impact(upTo: end, after: after, perPass: perPass)
                let expected = alone.dropFirst(Int(after))
                let place = "seed \(seed), after \(after), \(perPass) a pass"
                #expect(rest.isComplete && rest.reached == total && rest.total == total, "\(place)")
                #expect(rest.position == end, "\(place)")
                #expect(rest.users == expected.reduce(0) { $0 + $1.users }, "\(place)")
                #expect(rest.changed == expected.reduce(0) { $0 + $1.changed }, "\(place)")
                #expect(rest.lost == expected.reduce(0) { $0 + $1.lost }, "\(place)")
            }
        }
        #expect(try impact(upTo: end, after: total, of: 1, perPass: 1).users == 0)
    }
}

/// Folds the events that are not omitted, one list after the other: the slow truth.
private struct AlteredOracle {
    let log: EventLog
    let without: Set<AlteredHistory.Omission>
    /// Is nil for those of the log.
    var rules: BoundRules?

    func profile(of user: UserNumber) throws -> ProfileState {
        let voided = try log.reader.events.voided(of: user)
        return try fold(user, Version(rawValue: .max), voided, of: user)
    }

    private func fold(
        _ user: UserNumber, _ version: Version, _ voided: VoidedEvents, of canonical: UserNumber
    ) throws -> ProfileState {
        var state = ProfileProjection.initial
        for event in try log.history(of: user, to: version) where !voided.contains(event.position.rawValue) {
            if case .usersMerged(let merge) = event.event {
                ProfileProjection.merge(
                    try fold(merge.source, merge.version, voided, of: canonical), into: &state,
                    under: try rules(at: event.position))
            }
            for item in try log.effective(by: event) where !voided.contains(item.position.rawValue) {
                try apply(item, at: event.position, of: canonical, to: &state)
            }
            try apply(event, at: event.position, of: canonical, to: &state)
        }
        return state
    }

    private func rules(at position: Position) throws -> BoundRules {
        try rules ?? log.withView { try log.states.rules($0)?.rules(at: position.rawValue) } ?? .none
    }

    private func apply(
        _ event: RecordedEvent, at effect: Position, of canonical: UserNumber, to state: inout ProfileState
    ) throws {
        var left = event
        if case .content = event.event.kind.role {
            for omission in without {
                switch omission {
                case .event(let position): if event.position == position { return }
                case .source(let source): if event.context.source == source { return }
                case .device(let device): if event.context.device.map({ Name($0) }) == device { return }
                case .user(let user): if try log.reader.users.canonicalUser(of: user) == canonical { return }
                case .name(let name):
                    guard let event = Self.without(name, left.event) else { return }
                    left.event = event
                }
            }
        }
        var writer = WireWriter()
        var names = log.names.current
        _ = EventEncoder.write(left.event, left.context, names: &names, to: &writer)
        try log.withView { view in
            let header = try view.header(at: event.position.rawValue)
            try Array(writer.bytes).withUnsafeBytes { body in
                let header = RecordHeader(
                    kindNumber: header.kindNumber, user: header.user, version: header.version,
                    recordedAt: header.recordedAt, body: left.event == event.event ? header.body : body)
                let rules = try rules(at: effect)
                withExtendedLifetime(rules) {
                    ProfileProjection.apply(
                        EventView(
                            header: header, position: event.position, names: log.names, effect: effect, context: rules),
                        to: &state)
                }
            }
        }
    }

    private static func without(_ name: Name, _ event: ProfileEvent) -> ProfileEvent? {
        func others(_ changes: [AttributeChange]) -> [AttributeChange]? {
            let others = changes.filter { $0.name != name }
            return others.isEmpty ? nil : others
        }
        return switch event {
        case .customEventLogged(let custom), .customEventSaved(let custom): custom.name == name ? nil : event
        case .purchaseLogged(let purchase): purchase.product == name ? nil : event
        case .customAttributesChanged(let changes): others(changes).map { .customAttributesChanged($0) }
        case .customAttributesSaved(let changes): others(changes).map { .customAttributesSaved($0) }
        case .userAttributeSaved(let change): change.attribute.name == name.text ? nil : event
        case .userAttributesChanged(let changes):
            changes.contains { $0.attribute.name == name.text } ? nil : event
        case .queued(let event): without(name, event).map { .queued($0) }
        default: event
        }
    }
}
