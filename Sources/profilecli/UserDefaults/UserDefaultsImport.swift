internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// One import of an app group's preferences: each waiting item is saved on a device, as `profilecli save` would. Its
/// idempotency key is made of the file's content, the device and the item's place, so a rerun saves nothing twice.
struct UserDefaultsImport {
    private let file: PreferencesFile
    private let options: UserDefaultsImportOptions
    private let appGroup: String
    private let lists: PendingLists
    private var refusals: [PendingLists.Refusal]
    private var saved: [PendingKind: UInt64] = [:]
    private var repeated: UInt64 = 0
    private var waiting: UInt64?

    private var device: String { options.place.device ?? DefaultDevice.name }
    private var shownFile: String { file.name.oneLine }

    /// Reads the file, before anything is opened.
    init(path: String, _ options: UserDefaultsImportOptions) throws {
        self.options = options
        appGroup = try AppGroup.name(options.place.appGroup, path: path)
        file = try PreferencesFile(path: path)
        lists = PendingLists(file.members, options.language)
        refusals = lists.refusals
    }

    /// Saves what can be saved, and prints the result; throws if an item was refused.
    mutating func run(_ place: PlaceOptions) async throws {
        for note in lists.notes { Output.message(note) }
        tellOtherKeys()
        if options.strict { try await rehearse(isJSON: place.isJSON) }
        if !lists.items.isEmpty {
            let context = parameters(
                ("app_group", appGroup), ("device", device), ("process", options.process), ("user", options.user))
            let keyPrefix = "user-defaults:\(file.fingerprint):\(device)"
            try await save(to: place.connect(create: true), context, keyPrefix: keyPrefix)
        }
        tellRefusals()
        try Output.print(
            [place.isJSON ? json() : summary()], after: savedCount > 0 ? "\(Self.items(savedCount)) stored" : nil)
        if refusals.isEmpty { return }
        throw CommandError(
            "\(Self.items(UInt64(refusals.count))) of \(shownFile) could not be saved.",
            remedy: "A corrected file counts as a new one: all of it is saved. "
                + "To correct it first, use --strict, which saves all or nothing.")
    }

    /// Tries everything in a temporary store, and throws if an item is refused there.
    private func rehearse(isJSON: Bool) async throws {
        let folder = try ScratchFolder(prefix: "profilecli-")
        defer { folder.remove() }
        var logOptions = LogOptions()
        logOptions.pendingItemsPerDevice = lists.items.count
        let log = try EventLog(path: folder.path + "/store", create: true, options: logOptions)
        var trial = self
        try await trial.save(to: LocalAPI(log), [], keyPrefix: "rehearsal")
        if trial.refusals.isEmpty { return }
        (trial.saved, trial.repeated) = ([:], 0)
        trial.tellRefusals()
        if isJSON { try Output.print(trial.json()) }
        throw CommandError(
            "\(Self.items(UInt64(trial.refusals.count))) of \(shownFile) cannot be saved; with --strict, nothing was.",
            remedy: "Correct the file, or omit --strict to save the others.")
    }

    /// Saves all items. `context` is what they have in common: device, storage, process, user.
    private mutating func save(
        to connection: any Connection, _ context: [(name: String, value: String)], keyPrefix: String
    ) async throws {
        var bar = ProgressBar()
        defer { bar.clear() }
        for (done, item) in lists.items.enumerated() {
            bar.update(LogProgress(stage: "import", done: UInt64(done), total: UInt64(lists.items.count)))
            let body = JSONWriter.object { json in
                json.member("key", "\(keyPrefix):\(item.place)")
                json.member("imported", true)
                for (name, value) in context { json.member(name, value) }
                for member in item.content { json.member(member.key.text, member.value) }
            }
            let path =
                switch item.kind {
                case .customEvents: "/v1/save/event"
                case .customAttributes: "/v1/save/attributes"
                case .userAttributes: "/v1/save/user-attribute"
                }
            let (answer, refusal) = try await connection.exchange(APIRequest(.post, path, body: Array(body.utf8)))
            if answer["code"].text == "key_reused" {
                throw CommandError(
                    "\(shownFile) was imported before, with another --user, --process or --app-group.",
                    remedy: "Leave them as they were, or name another --device.", status: .conflict)
            }
            if let refusal {
                guard Self.isItemsError(answer) else { throw stopped(refusal, at: item) }
                let sentence = refusal.message.hasSuffix(".") ? refusal.message.dropLast() : refusal.message[...]
                let reason = "is refused: " + sentence.prefix(1).lowercased() + sentence.dropFirst()
                refusals.append(.init(kind: item.kind, index: item.index, reason: reason))
                continue
            }
            waiting = answer.count("waiting")
            if answer.flag("repeated") { repeated += 1 } else { saved[item.kind, default: 0] += 1 }
        }
        refusals.sort { ($0.kind, $0.index ?? -1) < ($1.kind, $1.index ?? -1) }
    }

    /// Tells whether the item itself is refused, and not an option that all items have in common.
    private static func isItemsError(_ problem: JSONObject) -> Bool {
        let code = problem["code"].text
        let isCommon = [
            "app_group", "device", "key", "process", "user", "The app group's name", "The app group",
            "The device's ID", "The idempotency key", "The process's name", "The user's ID",
        ].contains(problem["place"].text)
        return code == "too_large" || code == "invalid_json" || code == "invalid" && !isCommon
    }

    private func stopped(_ failure: CommandError, at item: PendingLists.Item) -> CommandError {
        var failure = failure
        let done = savedCount + repeated
        if done == 0 { return failure }
        failure.message +=
            " \(Self.items(done)) of \(shownFile), up to \(item.place), \(done == 1 ? "is" : "are") saved."
        failure.remedy += " Then run the same command again: what is saved is skipped."
        return failure
    }

    // MARK: - What is printed

    private static let mostShown = 20

    private func tellOtherKeys() {
        if lists.otherKeys.isEmpty { return }
        let shown = lists.otherKeys.prefix(Self.mostShown).map(\.text).joined(separator: ", ")
        let more = lists.otherKeys.count - Self.mostShown
        Output.message("Other keys are ignored: \(shown)\(more > 0 ? " and \(more) more" : "").")
    }

    private func tellRefusals() {
        for refusal in refusals.prefix(Self.mostShown) { Output.message("\(refusal.place) \(refusal.reason).") }
        let more = refusals.count - Self.mostShown
        if more > 0 { Output.message("\(more) more were refused; --format json lists all.") }
    }

    private var savedCount: UInt64 { saved.values.reduce(0, +) }

    private func summary() -> String {
        let wait = waiting.map { "; \(Phrase.waiting($0)) on \(device.oneLine)" } ?? ""
        let refused = refusals.isEmpty ? "" : ", refused \(refusals.count)"
        if savedCount > 0 {
            let nouns = ["custom event", "custom attribute item", "user attribute"]
            let kinds = zip(PendingKind.allCases, nouns).compactMap { kind, noun in
                saved[kind].map { Number.counted($0, noun) }
            }.joined(separator: ", ")
            let before =
                repeated == 0 ? "" : ", \(Number.grouped(repeated)) \(repeated == 1 ? "was" : "were") saved before"
            return "Saved \(Self.items(savedCount)) of \(shownFile) (\(kinds))\(before)\(refused)\(wait). "
                + Suggestion.next(Suggestion.launching(device))
        }
        let next = Suggestion.next("pending")
        if repeated > 0 { return "\(shownFile) was imported before: nothing was saved\(refused)\(wait). \(next)" }
        return refusals.isEmpty
            ? "Nothing waits in \(shownFile). \(next)" : "Nothing of \(shownFile) was saved\(refused). \(next)"
    }

    private static func items(_ count: UInt64) -> String { Number.counted(count, "item") }

    private func json() -> String {
        JSONWriter.object { json in
            json.member("file", file.path)
            json.member("device", device)
            json.member("app_group", appGroup)
            json.member("saved", savedCount)
            json.member("repeated", repeated)
            let refused = refusals.map { refusal in
                var members: [AttributeValue.Member] = [.init("key", .string(refusal.kind.key))]
                if let index = refusal.index { members.append(.init("index", .int(Int64(index)))) }
                return AttributeValue.object(members + [.init("reason", .string(refusal.reason))])
            }
            json.member("refused", .array(refused))
            json.member("ignored_keys", lists.otherKeys.map(\.text))
        }
    }
}

/// The three lists of a preferences file, item by item.
struct PendingLists {
    /// An item as content of a save.
    struct Item {
        var kind: PendingKind
        var index: Int
        /// The content of the request's body apart from device, storage and user.
        var content: [AttributeValue.Member]

        /// Its place in the file: `pending_custom_events[2]`.
        var place: String { "\(kind.key)[\(index)]" }
    }

    /// An item, or a whole list, that cannot be saved.
    struct Refusal {
        var kind: PendingKind
        var index: Int?
        /// A clause that names keys and shows no values.
        var reason: String

        /// Its place in the file: `pending_custom_events[2]`.
        var place: String { kind.key + (index.map { "[\($0)]" } ?? "") }
    }

    /// Items in the order of the flush: all of one list, then the next.
    private(set) var items: [Item] = []
    private(set) var refusals: [Refusal] = []
    private(set) var notes: [String] = []
    let otherKeys: [Name]

    init(_ members: [Name: PropertyList], _ language: UserAttributeCoding.Language) {
        let keys = Set(PendingKind.allCases.map { Name($0.key) })
        otherKeys = members.keys.filter { !keys.contains($0) }.sorted()
        for kind in PendingKind.allCases {
            guard let list = members[Name(kind.key)] else { continue }
            guard case .array(let entries) = list else {
                refusals.append(Refusal(kind: kind, index: nil, reason: "is \(list.type), not an array"))
                continue
            }
            for (index, entry) in entries.enumerated() { read(entry, kind, index, language) }
        }
    }

    private mutating func read(
        _ entry: PropertyList, _ kind: PendingKind, _ index: Int, _ language: UserAttributeCoding.Language
    ) {
        do throws(PropertyList.Misfit) {
            let content =
                switch kind {
                case .customEvents: try Self.event(entry)
                case .customAttributes: try Self.attributes(entry)
                case .userAttributes: try Self.userAttribute(entry, language)
                }
            let item = Item(kind: kind, index: index, content: content)
            if kind == .customAttributes, entry[Self.eventName] != nil {
                notes.append(
                    "\(item.place) has an attribute event_name: a published Objective-C snippet saves events there, "
                        + "and its app sets their parts as attributes. This import does the same.")
            }
            items.append(item)
        } catch {
            refusals.append(Refusal(kind: kind, index: index, reason: error.clause))
        }
    }

    // MARK: - Entries

    static let eventName: Name = "event_name"
    /// A word of the API where the name of an attribute is expected.
    private static let mergeObjects: Name = "_merge_objects"
    private static let set: Name = "$set"

    private static func event(_ entry: PropertyList) throws(PropertyList.Misfit) -> [AttributeValue.Member] {
        var properties = try dictionary(entry)
        guard let name = properties.removeValue(forKey: eventName) else { throw .init(clause: "has no event_name") }
        guard case .string(let name) = name else {
            throw .init(clause: "has an event_name that is \(name.type), not text")
        }
        let members = try members(properties, "a property")
        let content = AttributeValue.Member("name", .string(name))
        return members.isEmpty ? [content] : [content, .init("properties", .object(members))]
    }

    private static func attributes(_ entry: PropertyList) throws(PropertyList.Misfit) -> [AttributeValue.Member] {
        let attributes = try dictionary(entry)
        if attributes.isEmpty { throw .init(clause: "is an empty dictionary") }
        if attributes[mergeObjects] != nil {
            throw .init(clause: "has an attribute _merge_objects, which cannot be a name here")
        }
        let members = try members(attributes, "an attribute").map { member in
            // Without `$set`, a dictionary could be read as an operation.
            guard case .object = member.value else { return member }
            return .init(member.key, .object([.init(set, member.value)]))
        }
        return [.init("attributes", .object(members))]
    }

    private static func userAttribute(
        _ entry: PropertyList, _ language: UserAttributeCoding.Language
    ) throws(PropertyList.Misfit) -> [AttributeValue.Member] {
        guard case .data(let bytes) = entry else { throw .init(clause: "is \(entry.type), where data is expected") }
        let (attribute, value) = try UserAttributeCoding.decode(bytes, language)
        return [.init("attribute", .string(attribute.name)), .init("value", try value?.json() ?? .null)]
    }

    private static func dictionary(_ entry: PropertyList) throws(PropertyList.Misfit) -> [Name: PropertyList] {
        guard case .dictionary(let members) = entry else {
            throw .init(clause: "is \(entry.type), where a dictionary is expected")
        }
        return members
    }

    /// Returns members in ascending order of keys.
    private static func members(
        _ values: [Name: PropertyList], _ noun: String
    ) throws(PropertyList.Misfit) -> [AttributeValue.Member] {
        try values.sorted { $0.key < $1.key }.map { (key, value) throws(PropertyList.Misfit) in
            .init(key, try PropertyList.Misfit.naming(noun, key) { () throws(PropertyList.Misfit) in try value.json() })
        }
    }
}
