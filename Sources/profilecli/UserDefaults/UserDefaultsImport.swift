internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// One import of an app group's preferences: each waiting item is saved on a device, as `profilecli save` would.
///
/// An item's idempotency key is made of the file's content, the device and the item's place, so that a rerun saves what
/// is missing and nothing twice.
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
    private var shownFile: String { DisplayWidth.oneLine(file.name) }

    /// Reads the file, before anything is opened.
    init(path: String, _ options: UserDefaultsImportOptions) throws {
        self.options = options
        appGroup = try AppGroup.name(options.place.appGroup, path: path)
        file = try PreferencesFile(path: path)
        lists = PendingLists(file.members, options.language)
        refusals = lists.refusals
    }

    /// Saves what can be saved, and prints the result; throws if an item was refused.
    mutating func run(_ place: Place, isJSON: Bool) async throws {
        for remark in lists.remarks { Output.message(DisplayWidth.oneLine(remark)) }
        tellOtherKeys()
        if options.strict { try await rehearse(isJSON: isJSON) }
        if !lists.items.isEmpty {
            var context: [AttributeValue.Member] = [
                .init("app_group", .string(appGroup)), .init("device", .string(device)),
            ]
            if let process = options.process { context.append(.init("process", .string(process))) }
            if let user = options.user { context.append(.init("user", .string(user))) }
            let keyPrefix = "user-defaults:\(file.fingerprint):\(device)"
            try await save(to: try place.connect(create: true), context, keyPrefix: keyPrefix)
        }
        tellRefusals()
        try Output.print(
            [isJSON ? json() : summary()], after: savedCount > 0 ? "\(Self.items(savedCount)) stored" : nil)
        if refusals.isEmpty { return }
        throw Failure(
            "\(Self.items(UInt64(refusals.count))) of \(shownFile) could not be saved.",
            remedy: "A corrected file counts as a new one: all of it is saved. "
                + "To correct it first, use --strict, which saves all or nothing.")
    }

    /// Tries everything in a temporary store, and throws if an item is refused there.
    private func rehearse(isJSON: Bool) async throws {
        let folder = try Self.scratchFolder()
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
        throw Failure(
            "\(Self.items(UInt64(trial.refusals.count))) of \(shownFile) cannot be saved; with --strict, nothing was.",
            remedy: "Correct the file, or omit --strict to save the others.")
    }

    private static func scratchFolder() throws -> ScratchFolder {
        do throws(ScratchFolder.Failure) {
            return try ScratchFolder(prefix: "profilecli-")
        } catch {
            throw Failure(
                "No temporary folder can be made in \(error.parent): \(String(cString: strerror(error.code))).",
                remedy: "Free some space, or name another folder in the environment variable TMPDIR.")
        }
    }

    /// Saves all items. `context` is what they have in common: device, storage, process, user.
    private mutating func save(
        to connection: any Connection, _ context: [AttributeValue.Member], keyPrefix: String
    ) async throws {
        var bar = ProgressBar()
        defer { bar.clear() }
        for (done, item) in lists.items.enumerated() {
            bar.update(LogProgress(stage: "import", done: UInt64(done), total: UInt64(lists.items.count)))
            let body = JSONWriter.object { json in
                json.member("key", "\(keyPrefix):\(item.place)")
                json.member("imported", true)
                for member in context + item.content { json.member(member.key.text, member.value) }
            }
            let (answer, refusal) = try await connection.exchange(
                APIRequest(.post, Self.path(item.kind), body: Array(body.utf8)))
            if answer["code"].text == "key_reused" {
                throw Failure(
                    "\(shownFile) was imported before, with another --user, --process or --app-group.",
                    remedy: "Leave them as they were, or name another --device.", status: .conflict)
            }
            if let refusal {
                guard Self.isItemsFault(answer) else { throw stopped(refusal, at: item) }
                let sentence = refusal.message.hasSuffix(".") ? refusal.message.dropLast() : refusal.message[...]
                let reason = "is refused: " + sentence.prefix(1).lowercased() + sentence.dropFirst()
                refusals.append(.init(kind: item.kind, index: item.index, reason: reason))
                continue
            }
            waiting = answer.count("waiting")
            if answer["repeated"].flag == true { repeated += 1 } else { saved[item.kind, default: 0] += 1 }
        }
        refusals.sort { ($0.kind, $0.index ?? -1) < ($1.kind, $1.index ?? -1) }
    }

    private static func path(_ kind: PendingKind) -> String {
        switch kind {
        case .customEvents: "/v1/save/event"
        case .customAttributes: "/v1/save/attributes"
        case .userAttributes: "/v1/save/user-attribute"
        }
    }

    /// Whether the item itself is refused, and not an option that all items have in common.
    private static func isItemsFault(_ problem: JSONObject) -> Bool {
        switch problem["code"].text {
        case "too_large", "invalid_json": true
        case "invalid": !commonPlaces.contains(problem["place"].text ?? "")
        default: false
        }
    }

    private static let commonPlaces: Set<String> = [
        "app_group", "device", "key", "process", "user", "The app group's name", "The app group",
        "The device's ID", "The idempotency key", "The process's name", "The user's ID",
    ]

    private func stopped(_ failure: Failure, at item: PendingLists.Item) -> Failure {
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
        Output.message(DisplayWidth.oneLine("Other keys are ignored: \(shown)\(more > 0 ? " and \(more) more" : "")."))
    }

    private func tellRefusals() {
        for refusal in refusals.prefix(Self.mostShown) {
            Output.message(DisplayWidth.oneLine("\(refusal.place) \(refusal.reason)."))
        }
        let more = refusals.count - Self.mostShown
        if more > 0 { Output.message("\(more) more were refused; --format json lists all.") }
    }

    private var savedCount: UInt64 { saved.values.reduce(0, +) }

    private func summary() -> String {
        let wait = waiting.map { "; \(Phrase.waiting($0)) on \(DisplayWidth.oneLine(device))" } ?? ""
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
