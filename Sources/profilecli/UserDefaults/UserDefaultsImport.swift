internal import Foundation
internal import ProfileLog
internal import ProfileLogAPI

/// One import of an app group's preferences: what waits there is saved on a device, and waits here.
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
        appGroup = try AppGroup.meant(options.place.appGroup, path: path)
        file = try PreferencesFile(path: path)
        lists = PendingLists(file.members, options.language)
        refusals = lists.refusals
    }

    /// Saves what can be, and tells what came of it; throws if anything was refused.
    mutating func run(_ place: StoreOrService, isJSON: Bool) async throws {
        for remark in lists.remarks { Output.message(DisplayWidth.oneLine(remark)) }
        tellOtherKeys()
        if options.strict { try await rehearse(isJSON: isJSON) }
        if !lists.items.isEmpty { try await save(to: try place.connect(create: true)) }
        sortRefusals()
        tellRefusals()
        try Output.print(
            [isJSON ? json() : summary()], after: savedCount > 0 ? "\(Self.items(savedCount)) stored" : nil)
        if refusals.isEmpty { return }
        throw Failure(
            "\(Self.items(UInt64(refusals.count))) of \(shownFile) could not be saved.",
            remedy:
                "A corrected file counts as another one, of which everything is saved; "
                + "to correct it first, use --strict, which saves all or nothing.")
    }

    private mutating func save(to connection: any Connection) async throws {
        var context: [AttributeValue.Member] = [
            .init("app_group", .string(appGroup)), .init("device", .string(device)),
        ]
        if let process = options.process { context.append(.init("process", .string(process))) }
        if let user = options.user { context.append(.init("user", .string(user))) }
        let saver = ItemSaver(
            connection: connection, context: context, keyPrefix: "user-defaults:\(file.fingerprint):\(device)")
        var bar = ProgressBar()
        defer { bar.clear() }
        for (done, item) in lists.items.enumerated() {
            bar.update(LogProgress(stage: "import", done: UInt64(done), total: UInt64(lists.items.count)))
            do {
                switch try await saver.save(item) {
                case .saved(let waiting):
                    saved[item.kind, default: 0] += 1
                    self.waiting = waiting
                case .repeated(let waiting):
                    repeated += 1
                    self.waiting = waiting
                case .refused(let reason):
                    refusals.append(.init(kind: item.kind, index: item.index, reason: reason))
                }
            } catch is ItemSaver.SavedOtherwise {
                throw Failure(
                    "\(shownFile) was imported before, with another --user, --process or --app-group.",
                    remedy: "Leave them as they were, or name another --device.", status: .conflict)
            } catch let failure as Failure {
                throw stopped(failure, at: item)
            }
        }
    }

    private func stopped(_ failure: Failure, at item: PendingLists.Item) -> Failure {
        var failure = failure
        let done = savedCount + repeated
        if done == 0 { return failure }
        failure.message +=
            " \(Self.items(done)) of \(shownFile), up to \(item.place), \(done == 1 ? "is" : "are") saved."
        failure.remedy += " Then run the same command again: what is saved is skipped."
        return failure
    }

    // MARK: - All or nothing

    /// Tries everything in a store of its own, and throws if anything is refused there.
    private func rehearse(isJSON: Bool) async throws {
        let folder = try Self.scratchFolder()
        defer { folder.remove() }
        var logOptions = LogOptions()
        logOptions.pendingItemsPerDevice = lists.items.count
        let log = try EventLog(path: folder.path + "/store", create: true, options: logOptions)
        let saver = ItemSaver(connection: LocalAPI(log), context: [], keyPrefix: "rehearsal")
        var trial = self
        for item in lists.items {
            if case .refused(let reason) = try await saver.save(item) {
                trial.refusals.append(.init(kind: item.kind, index: item.index, reason: reason))
            }
        }
        if trial.refusals.isEmpty { return }
        trial.sortRefusals()
        trial.tellRefusals()
        if isJSON { try Output.print(trial.json()) }
        throw Failure(
            "\(Self.items(UInt64(trial.refusals.count))) of \(shownFile) cannot be saved; with --strict, nothing was.",
            remedy: "Correct the file, or leave out --strict to save the others.")
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

    // MARK: - What is told

    private static let mostShown = 20

    private func tellOtherKeys() {
        if lists.otherKeys.isEmpty { return }
        let shown = lists.otherKeys.prefix(Self.mostShown).map(\.text).joined(separator: ", ")
        let more = lists.otherKeys.count - Self.mostShown
        Output.message(DisplayWidth.oneLine("Other keys are ignored: \(shown)\(more > 0 ? " and \(more) more" : "")."))
    }

    private mutating func sortRefusals() {
        refusals.sort { ($0.kind, $0.index ?? -1) < ($1.kind, $1.index ?? -1) }
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
        let device = DisplayWidth.oneLine(self.device)
        let wait = waiting.map { "; \(Phrase.waiting($0)) on \(device)" } ?? ""
        let refused = refusals.isEmpty ? "" : ", refused \(refusals.count)"
        if savedCount > 0 {
            let before =
                repeated == 0 ? "" : ", \(Number.grouped(repeated)) \(repeated == 1 ? "was" : "were") saved before"
            return "Saved \(Self.items(savedCount)) of \(shownFile) (\(kinds))\(before)\(refused)\(wait). "
                + Suggestion.next(Suggestion.launching(self.device))
        }
        let next = Suggestion.next("pending")
        if repeated > 0 { return "\(shownFile) was imported before: nothing was saved\(refused)\(wait). \(next)" }
        return refusals.isEmpty
            ? "Nothing waits in \(shownFile). \(next)"
            : "Nothing of \(shownFile) was saved\(refused). \(next)"
    }

    private var kinds: String {
        let nouns: [PendingKind: String] = [
            .customEvents: "custom event", .customAttributes: "custom attribute item",
            .userAttributes: "user attribute",
        ]
        return PendingKind.allCases.compactMap { kind in
            saved[kind].map { Number.counted($0, nouns[kind] ?? kind.key) }
        }.joined(separator: ", ")
    }

    private static func items(_ count: UInt64) -> String { Number.counted(count, "item") }

    private func json() -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("file", file.path)
        json.member("device", device)
        json.member("app_group", appGroup)
        json.key("saved")
        json.value(savedCount)
        json.key("repeated")
        json.value(repeated)
        json.key("refused")
        json.beginArray()
        for refusal in refusals {
            json.beginObject()
            json.member("key", refusal.kind.key)
            if let index = refusal.index {
                json.key("index")
                json.value(index)
            }
            json.member("reason", refusal.reason)
            json.endObject()
        }
        json.endArray()
        json.key("ignored_keys")
        json.value(.array(lists.otherKeys.map { .string($0.text) }))
        json.endObject()
        return json.text
    }
}
