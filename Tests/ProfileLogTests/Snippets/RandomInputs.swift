import ProfileLog

@testable import ProfileLogSnippets

extension PublishedConditions {
    /// Conditions under which every fault can show.
    static func random(using random: inout SeededGenerator) -> PublishedConditions {
        var conditions = PublishedConditions()
        if random.next(below: 3) == 0 { conditions.language = random.element(SnippetLanguage.allCases) }
        for process in ["app", "push", "watch"] as [Name] where random.next(below: 3) == 0 {
            conditions.languages[process] = random.element(SnippetLanguage.allCases)
        }
        if random.next(below: 6) == 0 { conditions.numbers = .exact }
        conditions.flushesPerCrash = 1 + random.next(below: 3)
        conditions.itemsBeforeCrash = random.element([nil, 0, 1, 3])
        conditions.itemsUnstored = random.next(below: 4)
        conditions.scenes = 2 + random.next(below: 2)
        conditions.launchesPerUpdate = 1 + random.next(below: 3)
        conditions.savesPerLockedSave = 1 + random.next(below: 5)
        conditions.instanceMissingUntil = random.element([nil, Timestamp(rawValue: 5_000_000)])
        let versions = [(18, 0, 0), (18, 1, 0), (11, 0, 0), (4, 4, 2)]
        conditions.sdk = random.element(versions.map { SDKVersion($0.0, $0.1, $0.2) })
        conditions.isSDKDisabled = random.next(below: 12) == 0
        conditions.blocklist = random.element([[], ["a", "level"]])
        conditions.strayProcesses = random.element([[], ["app"], ["push"], ["push", "watch"]])
        return conditions
    }
}

extension [PublishedInput] {
    /// Inputs of one device, in which the items given up are those that `.standard` has not delivered.
    static func randomInputs(
        count: Int, _ policy: PublishedPolicy, using random: inout SeededGenerator
    ) -> [PublishedInput] {
        var inputs: [PublishedInput] = []
        var waiting: [SavedItem] = []
        var position: UInt64 = 0
        var user = UserNumber(rawValue: 1)
        var time: Int64 = 0
        var settings = DeviceSettings()
        for _ in 0..<count {
            let jump = random.next(below: 40)
            time += jump == 0 ? -3_000_000 : [1_000, 4_000, 9_000, 60_000, 500_000][random.next(below: 5)]
            let now = Timestamp(rawValue: time)
            position += 1
            switch random.next(below: 20) {
            case 0...12:
                let item = SavedItem.random(Position(rawValue: position), user, now, using: &random)
                inputs.append(.saved(item))
                waiting.append(item)
            case 13...16:
                let lists = random.next(below: 4) == 0 ? [random.element(PendingKind.allCases)] : PendingKind.all
                inputs.append(.launched(random.element(LaunchKind.allCases), lists: lists, user: user, at: now))
                if settings.isSDKEnabled { waiting.removeAll { lists.contains($0.content.kind) } }
            case 17 where random.next(below: 3) == 0:
                settings.isSDKEnabled.toggle()
                if random.next(below: 2) == 0 {
                    settings.setAppGroup("group.b", of: "app", isMissing: random.next(below: 2) == 0)
                }
                inputs.append(.settingsChanged(settings, at: now))
            case 17...18:
                user = UserNumber(rawValue: 1 + UInt64(random.next(below: 3)))
                inputs.append(.userChanged(user, at: now))
            default:
                let given = waiting.filter { _ in random.next(below: 3) == 0 }
                waiting.removeAll { given.contains($0) }
                inputs.append(.discarded(given.map(\.position), at: now))
            }
        }
        return inputs
    }
}

extension SavedItem {
    fileprivate static func random(
        _ position: Position, _ user: UserNumber, _ time: Timestamp, using random: inout SeededGenerator
    ) -> SavedItem {
        let process: Name = random.element(["app", "push", "watch"])
        let storages: [DeviceStorage] = [
            .appGroup("group.a"), .appGroup("group.a"), .appGroup("group.b"), .privateTo(process: process),
        ]
        let savedFor = random.next(below: 4) == 0 ? UserNumber(rawValue: 2) : user
        return SavedItem(
            position: position, user: savedFor, process: process, storage: random.element(storages), savedAt: time,
            content: .random(using: &random))
    }
}

extension SavedContent {
    fileprivate static func random(using random: inout SeededGenerator) -> SavedContent {
        switch random.next(below: 5) {
        case 0...1:
            let name: Name = random.element(["a", "b", "c"])
            if random.next(below: 5) == 0 { return .event(CustomEvent(name: name)) }
            var members = [AttributeValue.Member("score", .random(using: &random))]
            if random.next(below: 4) == 0 {
                members.insert(.init("event_name", random.element([.string("other"), 7, .string("a")])), at: 0)
            }
            if random.next(below: 9) == 0 { members = [.init("$no", 1)] }
            return .event(CustomEvent(name: name, properties: random.next(below: 6) == 0 ? [] : members))
        case 2...3:
            var changes = [AttributeChange("level", random.operation())]
            if random.next(below: 2) == 0 { changes.append(AttributeChange("plan", random.operation())) }
            return .attributes(changes)
        default:
            let email: AttributeValue = random.element(["a@example.com", "$null", .null])
            return random.next(below: 4) == 0 ? .user(.firstName, "Ana") : .user(.email, email)
        }
    }
}

extension AttributeValue {
    fileprivate static func random(using random: inout SeededGenerator) -> AttributeValue {
        let long = String(repeating: "é", count: random.element([100, 200, 300]))
        return random.element([
            0, 1, 7, 1.0, 0.0, 2.5, 9_007_199_254_740_993, true, "text", .string(long), .null, [], ["x", "y"],
            ["x", 1],
            [1, .null], .object([.init("k", 1)]), .date(OccurredAt(Timestamp(rawValue: 5))),
        ])
    }
}

extension SeededGenerator {
    fileprivate mutating func element<Element>(_ elements: [Element]) -> Element {
        elements[next(below: elements.count)]
    }

    fileprivate mutating func operation() -> AttributeOperation {
        switch next(below: 6) {
        case 0: .increment(2)
        case 1: .unset
        default: .set(.random(using: &self))
        }
    }
}
