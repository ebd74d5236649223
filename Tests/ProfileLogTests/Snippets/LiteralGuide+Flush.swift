import ProfileLog

@testable import ProfileLogSnippets

/// The flush, as in the guide: retrieve, loop, remove, for one list after the other.
extension LiteralGuide {
    func launch(_ kind: LaunchKind, _ wanted: [String], _ user: UInt64, _ time: Int64) {
        wait(for: "app")
        currentUser = user
        launches += 1
        if launches % conditions.launchesPerUpdate == 0 { appVersion += 1 }
        if !settings.isSDKEnabled, !bug(27) { return }
        if settings.isSDKEnabled { dropUnreachable(wanted) }
        if bug(29), kind == .return { return }
        let keys = Self.keys.filter { wanted.contains($0) }
        let count = suitesOfApp.flatMap { suite in keys.flatMap { retrieve(suite, $0) ?? [] } }.count
        var flush = Flush(kind: kind, time: time, launch: launches)
        if count > 0 {
            flushes += 1
            if bug(24), (flushes - 1) % conditions.flushesPerCrash == 0 {
                flush.crashes = true
            } else if bug(25), flushes % conditions.flushesPerCrash == 0 {
                flush.stored = count * (bug(31) ? conditions.scenes : 1) - conditions.itemsUnstored
            }
        }
        flushNext(bug(9) ? keys.map { [$0] } : [keys], flush, time)
    }

    struct Flush {
        var kind: LaunchKind
        var time: Int64
        var launch: Int
        var crashes = false
        var stored = Int.max
        var calls = 0
    }

    private var suitesOfApp: [String] {
        let shared = userDefaults.keys.filter { suite($0) }.sorted()
        return shared.filter { !$0.hasPrefix("standard") } + shared.filter { $0.hasPrefix("standard") }
    }

    /// Tells whether the app looks into the suite of this name.
    private func suite(_ name: String) -> Bool {
        if name.hasSuffix(" alone") { return name.hasSuffix(" of app alone") }
        if name.hasPrefix("standard") { return name == "standard of app" }
        if settings.missingAppGroups.contains(where: { $0.process == "app" && $0.group.text == name }) { return false }
        return suite(.appGroup(Name(name)), "app") == name
    }

    /// Items that no process will ever read need no memory; they count as still there.
    private func dropUnreachable(_ wanted: [String]) {
        for name in Array(userDefaults.keys) where !suite(name) {
            for key in Self.keys {
                userDefaults[name]?[key]?.removeAll {
                    settings.appSees($0.item.storage) && wanted.contains($0.item.content.kind.key)
                }
            }
        }
    }

    private func retrieve(_ suite: String, _ key: String) -> [Entry]? {
        guard let array = userDefaults[suite]?[key], !array.isEmpty else { return nil }
        if bug(28), versionOfKey[suite + key] != appVersion { return nil }
        return array
    }

    private func flushNext(_ stages: [[String]], _ before: Flush, _ time: Int64) {
        var flush = before
        var stages = stages
        while !stages.isEmpty {
            let keys = stages.removeFirst()
            var retrieved: [(suite: String, key: String, array: [Entry])] = []
            for key in keys {
                for suite in suitesOfApp {
                    if let array = retrieve(suite, key) { retrieved.append((suite, key, array)) }
                }
            }
            if retrieved.isEmpty { continue }
            var loop = retrieved.flatMap { list in list.array.map { (entry: $0, key: list.key) } }
            if !bug(9) { loop.sort { $0.entry.id < $1.entry.id } }
            for scene in 0..<(bug(31) ? conditions.scenes : 1) {
                for (entry, key) in loop {
                    if flush.crashes, conditions.itemsBeforeCrash == flush.calls { return }
                    send(entry, key, scene, flush)
                    flush.calls += 1
                }
            }
            let crash = conditions.itemsBeforeCrash ?? flush.calls
            if flush.crashes, crash == flush.calls { return }
            if bug(22) || bug(23) {
                let (rest, flush) = (stages, flush)
                later(conditions.flushLasts, after: time, "app") { time in
                    self.remove(retrieved)
                    self.flushNext(rest, flush, time)
                }
                return
            }
            remove(retrieved)
        }
    }

    private func remove(_ retrieved: [(suite: String, key: String, array: [Entry])]) {
        for list in retrieved {
            if bug(23) {
                userDefaults[list.suite]?[list.key] = nil
            } else {
                let ids = Set(list.array.map(\.id))
                userDefaults[list.suite]?[list.key]?.removeAll { ids.contains($0.id) }
            }
        }
    }

    // MARK: - To the SDK

    private func send(_ entry: Entry, _ key: String, _ scene: Int, _ flush: Flush) {
        guard var content = decode(entry, key) else { return }
        if bug(26), flush.time < conditions.instanceMissingUntil?.rawValue ?? .max { return }
        if bug(30), flush.kind == .background, case .event = content, conditions.sdk < SDKVersion(18, 1, 0) { return }
        if bug(27) {
            guard let accepted = content.accepted(isEnabled: settings.isSDKEnabled, conditions) else { return }
            content = accepted
        } else if entry.item.content.isRefusedBySDK {
            rejected.insert(entry.id)
            return
        }
        if flush.calls >= flush.stored { return }
        calls.append(
            Call(
                id: entry.id, user: bug(7) ? currentUser : entry.item.user.rawValue,
                time: bug(6) ? flush.time : entry.item.savedAt.rawValue, content: content, launch: flush.launch,
                isSecondScene: scene > 0, key: key))
    }

    private func decode(_ entry: Entry, _ key: String) -> SavedContent? {
        switch entry.item.content {
        case .event(let event) where key == Self.keys[0]:
            let named = entry.plist["event_name"]
            guard case .string(let name) = named else { return nil }
            if name.hasSameBytes(as: event.name.text), !isReplaced(event) { return .event(event) }
            let properties = event.properties?.filter { $0.key.text != "event_name" }
            return .event(CustomEvent(name: Name(name), properties: properties))
        case .event:
            let sorted = entry.plist.sorted { Name($0.key) < Name($1.key) }
            return set(sorted.map { AttributeChange(Name($0.key), .set($0.value)) })
        case .attributes(let changes): return set(changes)
        case .userAttribute(let change):
            let savedInObjectiveC = isObjectiveC(entry.item.process.text)
            if bug(14), entry.savedUnderVersion != appVersion { return nil }
            if bug(15), savedInObjectiveC != isObjectiveC("app") { return nil }
            if bug(13), !savedInObjectiveC, change.attribute == .email,
                change.value == .null || change.value == .string("$null")
            {
                return nil
            }
            return entry.item.content
        }
    }

    private func isReplaced(_ event: CustomEvent) -> Bool {
        guard let member = event.properties?.first(where: { $0.key.text == "event_name" }) else { return false }
        if case .string = member.value { return bug(2) }
        return false
    }

    private func set(_ changes: [AttributeChange]) -> SavedContent? {
        var given: [AttributeChange] = []
        for change in changes {
            guard case .set(let value) = change.operation else {
                given.append(change)
                continue
            }
            if isObjectiveC("app") {
                if bug(20), case .array = value { continue }
                given.append(change)
                continue
            }
            // if let date … else bool … else string … else double … else int … else [String] … else return
            switch value {
            case .date, .bool, .string: given.append(change)
            case .int(let number) where bug(18) && conditions.numbers == .bridged:
                if number == 0 || number == 1 {
                    given.append(AttributeChange(change.name, .set(.bool(number == 1))))
                } else if Int64(exactly: Double(number)) == number {
                    given.append(AttributeChange(change.name, .set(.double(Double(number)))))
                } else {
                    given.append(change)
                }
            case .double(let number) where bug(18) && conditions.numbers == .bridged && (number == 0 || number == 1):
                given.append(AttributeChange(change.name, .set(.bool(number == 1))))
            case .int, .double: given.append(change)
            case .array(let values):
                let texts = values.filter { if case .string = $0 { true } else { false } }
                if !bug(19) || texts.count == values.count { given.append(change) }
            case .object, .null: if !bug(19) { given.append(change) }
            }
        }
        return given.isEmpty ? nil : .attributes(given)
    }
}

extension SavedContent {
    /// Returns the part of it that the SDK takes; nil if it takes nothing.
    func accepted(isEnabled: Bool, _ conditions: PublishedConditions) -> SavedContent? {
        var call = PublishedContent(self, PublishedPolicy([.refusalIgnored], conditions))
        call.callSDK(isEnabled: isEnabled)
        return call.lostBy == nil ? call.content : nil
    }
}
