import ProfileLog

@testable import ProfileLogSnippets

/// The published snippets as literally as spec/device.md 6 tells them: an array of dictionaries under each key of a
/// suite, loops and removals. It looks up bugs by their numbers, and shares with `PublishedDevice` the inputs, the
/// choice of languages (`PublishedPolicy.language`) and what the SDK refuses (`PublishedContent.callSDK`), which have
/// tests of their own.
///
/// What runs at the same time is a list of blocks with times. An entry's `id` is the one thing that the guide does not
/// have.
final class LiteralGuide {
    typealias Plist = [String: AttributeValue]

    /// An element of a stored array; `plist` is the guide's dictionary, `item` what a better layout keeps.
    struct Entry {
        var id: UInt64
        var plist: Plist
        var item: SavedItem
        var savedUnderVersion: Int
    }

    struct Call: Equatable {
        var id: UInt64
        var user: UInt64
        var time: Int64
        var content: SavedContent
        var launch: Int
        var isSecondScene: Bool
        var key: String
    }

    let bugs: Set<Int>
    let conditions: PublishedConditions
    let policy: PublishedPolicy
    var userDefaults: [String: [String: [Entry]]] = [:]
    var versionOfKey: [String: Int] = [:]
    var calls: [Call] = []
    var discarded: Set<UInt64> = []
    var rejected: Set<UInt64> = []

    var appVersion = 0
    var launches = 0
    var flushes = 0
    var saves = 0
    var currentUser: UInt64 = 0
    var settings = DeviceSettings()

    private var blocks: [(time: Int64, process: String, run: (Int64) -> Void)] = []
    private var lastTime = Int64.min

    static let keys = ["pending_custom_events", "pending_custom_attributes", "pending_user_attributes"]

    init(_ policy: PublishedPolicy) {
        self.policy = policy
        bugs = Set(policy.faults.map(\.number))
        conditions = policy.conditions
    }

    func bug(_ number: Int) -> Bool { bugs.contains(number) }

    func isObjectiveC(_ process: String) -> Bool { policy.language(of: Name(process)) == .objectiveC }

    func play(_ input: PublishedInput) {
        let time = input.time.rawValue
        runBlocks { time < self.lastTime || $0.time <= time }
        lastTime = time
        switch input {
        case .saved(let item): save(item, time)
        case .launched(let kind, let lists, let user, _): launch(kind, lists.map(\.key), user.rawValue, time)
        case .userChanged(let user, _): currentUser = user.rawValue
        case .settingsChanged(let settings, _):
            wait(for: "app")
            self.settings = settings
        case .discarded(let positions, _): discard(Set(positions.map(\.rawValue)))
        }
    }

    func end() { runBlocks { _ in true } }

    // MARK: - What runs at the same time

    private func runBlocks(_ isDue: ((time: Int64, process: String, run: (Int64) -> Void)) -> Bool) {
        while let index = blocks.indices.filter({ isDue(blocks[$0]) }).min(by: { blocks[$0].time < blocks[$1].time }) {
            let block = blocks.remove(at: index)
            block.run(block.time)
        }
    }

    func later(_ duration: Duration, after time: Int64, _ process: String, _ run: @escaping (Int64) -> Void) {
        blocks.append((time + Int64(duration / .microseconds(1)), process, run))
    }

    func wait(for process: String) { runBlocks { $0.process == process } }

    // MARK: - Saving

    func suite(_ storage: DeviceStorage, _ process: String) -> String {
        guard case .appGroup(let group) = storage else {
            guard case .privateTo(let owner) = storage else { return "" }
            return "standard of \(owner.text)"
        }
        let isWrong =
            conditions.strayProcesses.isEmpty ? process != "app" : conditions.strayProcesses.contains(Name(process))
        if isWrong, bug(34) { return "standard of \(process)" }
        return isWrong && bug(36) ? "\(group.text) of \(process) alone" : group.text
    }

    private func save(_ item: SavedItem, _ time: Int64) {
        let process = item.process.text
        wait(for: process)
        saves += 1
        var entry = Entry(id: item.position.rawValue, plist: [:], item: item, savedUnderVersion: appVersion)
        var key = Self.keys[0]
        switch item.content {
        case .event(let event):
            entry.plist["event_name"] = .string(event.name.text)
            for property in event.properties ?? [] {
                if property.key.text == "event_name" {
                    let isText = if case .string = property.value { true } else { false }
                    if !bug(isText ? 2 : 3) { continue }
                }
                entry.plist[property.key.text] = property.value
            }
        case .attributes(let changes):
            key = Self.keys[1]
            if bug(11) {
                let set = changes.filter { if case .set = $0.operation { true } else { false } }
                if set.isEmpty { return }
                entry.item.content = .attributes(set)
            }
        case .userAttribute(let change):
            key = Self.keys[2]
            if bug(12), change.attribute != .email { return }
            if bug(16), isObjectiveC(process) { return }
        }
        if bug(21), hasNull(entry) { return }

        let suite = suite(item.storage, process)
        var array = userDefaults[suite]?[key] ?? []
        if bug(28), !array.isEmpty, versionOfKey[suite + key] != appVersion { array = [] }
        if bug(37), saves % conditions.savesPerLockedSave == 0 { array = [] }
        array.append(entry)
        if bug(1), key == Self.keys[0], isObjectiveC(process) { key = Self.keys[1] }
        let version = appVersion
        let write = { [self, key] in
            userDefaults[suite, default: [:]][key] = array.filter { !discarded.contains($0.id) }
            versionOfKey[suite + key] = version
        }
        if bug(22) { later(conditions.saveLasts, after: time, process) { _ in write() } } else { write() }
    }

    private func hasNull(_ entry: Entry) -> Bool {
        func isNull(_ value: AttributeValue) -> Bool {
            switch value {
            case .null: true
            case .array(let values): values.contains(where: isNull)
            case .object(let members): members.contains { isNull($0.value) }
            default: false
            }
        }
        switch entry.item.content {
        case .event(let event): return (event.properties ?? []).contains { isNull($0.value) }
        case .attributes(let changes):
            return changes.contains { if case .set(let value) = $0.operation { isNull(value) } else { false } }
        case .userAttribute: return false
        }
    }

    // MARK: - Resetting

    private func discard(_ ids: Set<UInt64>) {
        discarded.formUnion(ids)
        for suite in Array(userDefaults.keys) {
            let holds = userDefaults[suite]?.values.contains { $0.contains { ids.contains($0.id) } } ?? false
            for key in Self.keys where holds {
                if bug(33) {
                    userDefaults[suite]?[key] = nil
                } else {
                    userDefaults[suite]?[key]?.removeAll { ids.contains($0.id) }
                }
            }
        }
    }
}
