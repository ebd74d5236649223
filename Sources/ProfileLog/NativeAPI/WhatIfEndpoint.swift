internal import ProfileLogRequests

/// `GET /v1/whatif`.
struct WhatIfEndpoint {
    let log: EventLog

    private static let mostAffectedItems = 10_000

    /// The result that the published snippets would have had for the items of the log.
    func whatIf(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let policy = try query.publishedPolicy()
        let namesFaults = request.query.contains { $0.name == "fault" }
        let quirks = try query.tagQuirks(ifNoneNamed: policy.faults.isEmpty || namesFaults ? [] : TagQuirk.ofIOS)
        let user = try query.user()
        var scope = WhatIfScope()
        scope.device = try query.device()
        let since = try query.text("since")
        let until = try query.text("until")
        let most = Int(try query.number("items", 0...UInt64(Self.mostAffectedItems), standard: 100))
        try query.end()
        try log.withReader { log in
            scope.user = try user.map { try log.users.knownUser(meantBy: $0).number }
            if let device = scope.device, try log.devices.find(device) == nil { throw APIError.unknownDevice }
            scope.since = try since.map { try Self.position($0, "since", isStart: true, log) }
            scope.until = try until.map { try Self.position($0, "until", isStart: false, log) }
            try Self.refuseBackwards(since, until, scope)
            // What comes from now on is not played.
            let last = try log.lastPosition()
            scope.until = min(scope.until ?? last, last)
        }
        // Stops when the caller has gone or the service ends.
        let report = try log.whatIf(policy, in: scope, quirks: quirks, mostItems: most) { _ in !Task.isCancelled }
        guard report.isComplete else { throw AppendError.closed }
        let warnings = try WhatIfWarnings(request, policy, report)
        return try log.withReader { log in
            try APIAnswer.ok { json in
                try Self.write(report, policy, log, to: &json)
                if !quirks.isEmpty { Self.write(quirks, of: report, to: &json) }
                warnings.write(to: &json)
            }
        }
    }

    /// Two times between which nothing was recorded are no mistake.
    private static func refuseBackwards(_ since: String?, _ until: String?, _ scope: WhatIfScope) throws {
        guard let from = scope.since, let to = scope.until else { return }
        let times = [since, until].compactMap { $0.flatMap { UInt64($0) == nil ? OccurredAt(iso8601: $0) : nil } }
        let isBackwards = times.count == 2 ? times[0].timestamp > times[1].timestamp : from > to
        if isBackwards { throw APIError.invalid("since", "must not be after the end of the history") }
    }

    /// A position, or a time of recording: the first event from then on as a start, the last one up to then as an end.
    private static func position(
        _ text: String, _ place: String, isStart: Bool, _ log: LogReader
    ) throws -> Position {
        if let number = UInt64(text) {
            let last = try log.lastPosition().rawValue
            if number <= last { return Position(rawValue: number) }
            throw APIError.invalidHere(
                place, "is beyond the log's last position, \(last)", remedy: "Ask for an earlier one.")
        }
        let time: Timestamp
        do throws(TimeError) {
            time = try OccurredAt(reading: text).timestamp
        } catch {
            guard let remedy = error.remedy else {
                throw APIError.invalid(
                    place, "must be a position or a time as in RFC 3339, like 2026-01-31T23:59:59Z")
            }
            throw APIError.invalid(place, error.reason, remedy: remedy)
        }
        if !isStart { return try log.past.lastPosition(recordedBy: time) }
        return try log.past.lastPosition(recordedBy: Timestamp(rawValue: time.rawValue - 1)).next
    }

    private static func write(
        _ report: WhatIfReport, _ policy: PublishedPolicy, _ log: LogReader, to json: inout JSONWriter
    ) throws {
        json.member("policy", policy.faults.isEmpty ? "standard" : "faithful")
        json.array("switched_on", policy.faults.sorted()) { $0.value($1.number) }
        json.member("position", report.position)
        func user(_ number: UserNumber) throws -> UserInfo? { try log.past.user(number, asOf: report.position) }
        for (key, count) in [
            ("devices", report.devices), ("users", report.users), ("items", report.items),
            ("delivered_right", report.deliveredRight), ("affected", report.affected),
            ("affected_users", report.affectedUsers), ("waiting", report.waiting), ("stranded", report.stranded),
            ("rejected", report.rejected), ("discarded", report.discarded),
        ] {
            json.member(key, count)
        }
        json.counts("effects", report.byEffect)
        json.objects("faults", report.byFault.sorted { $0.key < $1.key }) { json, row in
            json.member("fault", row.key.number)
            json.member("title", row.key.title)
            json.member("items", row.value.items)
            json.member("users", row.value.users)
            json.counts("effects", row.value.effects)
        }
        try json.array("affected_items", report.affectedItems) { json, item in
            try write(item.outcome, on: item.device, user, to: &json)
        }
    }

    /// Writes the changes that the quirks of the tag manager's providers would have made, with the verdict on each.
    private static func write(_ quirks: Set<TagQuirk>, of report: WhatIfReport, to json: inout JSONWriter) {
        json.object("tag_manager") { json in
            json.member("calls", report.calls)
            json.objects("quirks", TagQuirk.allCases.filter(quirks.contains)) { json, quirk in
                json.member("changed", report.callsByQuirk[quirk] ?? 0)
                json.array("languages", quirk.languages) { $0.value($1.rawValue) }
                quirk.write(to: &json)
            }
        }
    }

    private static func write(
        _ outcome: PublishedOutcome, on device: String, _ user: (UserNumber) throws -> UserInfo?,
        to json: inout JSONWriter
    ) throws {
        let item = outcome.item
        try json.object { json in
            json.member("position", item.position)
            json.member("user", try user(item.user))
            json.member("received_by", try outcome.receivedBy.flatMap { try user($0) })
            json.member("device", device)
            json.member("kind", item.content.kind.key)
            json.member("saved_at", OccurredAt(item.savedAt))
            json.key("delivered_at")
            if let time = outcome.deliveredAt { json.value(OccurredAt(time)) } else { json.null() }
            json.array("names", item.content.names) { $0.value($1.text) }
            json.member("fate", outcome.fate.rawValue)
            json.objects("deviations", outcome.deviations) { json, deviation in
                json.member("fault", deviation.fault.number)
                json.member("effect", deviation.effect.rawValue)
                json.member("sentence", deviation.sentence)
            }
        }
    }
}

extension JSONWriter {
    /// An object with the effects that occurred, the worst first.
    fileprivate mutating func counts(_ key: String, _ effects: [FaultEffect: Int]) {
        object(key) { json in
            for (effect, count) in effects.sorted(by: { $0.key < $1.key }) { json.member(effect.rawValue, count) }
        }
    }
}

/// The parameters of a what-if: which faults, and what no history says.
extension Query {
    /// `policy`, `fault` (several, or one with commas) and the conditions.
    mutating func publishedPolicy() throws -> PublishedPolicy {
        let name = try text("policy") ?? "faithful"
        let named = Self.faultWords(all("fault"))
        let conditions = try publishedConditions()
        switch name {
        case "faithful" where named.isEmpty: return .faithful(conditions)
        case "faithful": return PublishedPolicy(try Self.faults(named, conditions), conditions)
        case "standard" where named.isEmpty: return PublishedPolicy([], conditions)
        case "standard":
            throw APIError.invalid(
                "fault", "needs the policy faithful", remedy: "Leave out the policy: faithful is the default.")
        default: throw APIError.invalid("policy", "must be faithful or standard")
        }
    }

    /// The words of `fault`: several, or one with commas.
    static func faultWords(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",").map(String.init) }
    }

    /// `quirk`: several, or one with commas, or those of a language.
    mutating func tagQuirks(ifNoneNamed standard: [TagQuirk]) throws -> Set<TagQuirk> {
        let named = Self.faultWords(all("quirk"))
        if named.isEmpty { return Set(standard) }
        return try named.reduce(into: []) { quirks, name in
            if let language = TagLanguage(word: name) {
                quirks.formUnion(TagQuirk.of(language))
            } else {
                quirks.insert(try TagQuirk(named: name, in: "quirk"))
            }
        }
    }

    private static func faults(_ named: [String], _ conditions: PublishedConditions) throws -> Set<Fault> {
        let newest = named.contains("newest") ? PublishedPolicy.faithful(conditions).faults : []
        return try faultsByNumber(named).union(newest)
    }

    /// The faults that are asked for as such, or as all of them.
    static func faultsByNumber(_ named: [String]) throws -> Set<Fault> {
        var faults: Set<Fault> = []
        for name in named where name != "newest" {
            if name == "all" { faults.formUnion(Fault.allCases) } else { faults.insert(try fault(name)) }
        }
        return faults
    }

    private static func fault(_ name: String) throws -> Fault {
        guard let number = Int(name), Fault.numbers.contains(number) else {
            let (first, last) = (Fault.numbers.lowerBound, Fault.numbers.upperBound)
            throw APIError.invalid("fault", "must be a number from \(first) to \(last), newest or all")
        }
        if let fault = Fault(rawValue: number) { return fault }
        let numbers = Fault.allCases.map { "\($0.number)" }.joined(separator: ", ")
        throw APIError.invalid(
            "fault", "cannot be \(number): \(Fault.whyNotSimulated(number) ?? "it changes no item")",
            remedy: "These can be switched on: \(numbers).")
    }

    private mutating func publishedConditions() throws -> PublishedConditions {
        var conditions = PublishedConditions()
        try languages(into: &conditions)
        let numbers = PlistNumbers.allCases.map(\.rawValue).joined(separator: " or ")
        conditions.numbers = try choice("numbers", "must be \(numbers)", PlistNumbers.init) ?? conditions.numbers
        conditions.saveLasts = try milliseconds("save_ms") ?? conditions.saveLasts
        conditions.flushLasts = try milliseconds("flush_ms") ?? conditions.flushLasts
        conditions.flushesPerCrash = try count("crash_every", standard: conditions.flushesPerCrash)
        conditions.itemsBeforeCrash = try optionalCount("crash_after")
        conditions.itemsUnstored = try count("unstored", standard: conditions.itemsUnstored)
        conditions.scenes = try count("scenes", standard: conditions.scenes, most: 10)
        conditions.launchesPerUpdate = try count("update_every", standard: conditions.launchesPerUpdate)
        conditions.savesPerLockedSave = try count("locked_every", standard: conditions.savesPerLockedSave)
        conditions.instanceMissingUntil = try time("instance_missing_until")
        let sdk = try choice("sdk", "must be a version, as in \(conditions.sdk)") { SDKVersion($0) }
        conditions.sdk = sdk ?? conditions.sdk
        conditions.isSDKDisabled = try flag("sdk_disabled")
        conditions.blocklist = Set(all("blocklist").map { Name($0) })
        conditions.strayProcesses = Set(all("stray").map { Name($0) })
        return conditions
    }

    /// `language=objc` for every process, `language=app=swift` for one.
    private mutating func languages(into conditions: inout PublishedConditions) throws {
        for text in all("language") {
            let place = text.lastIndex(of: "=")
            let word = place.map { text[text.index(after: $0)...] } ?? text[...]
            guard let language = SnippetLanguage(rawValue: String(word)) else {
                throw APIError.invalid("language", "must be swift or objc, or PROCESS=swift, or PROCESS=objc")
            }
            if let place {
                conditions.languages[Name(String(text[..<place]))] = language
            } else {
                conditions.language = language
            }
        }
    }

    // MARK: - Kinds of parameters

    private mutating func count(_ name: String, standard: Int, most: UInt64 = 1_000_000) throws -> Int {
        Int(try number(name, 1...most, standard: UInt64(standard)))
    }

    private mutating func optionalCount(_ name: String, most: UInt64 = 1_000_000) throws -> Int? {
        let count = try number(name, 0...most, standard: .max)
        return count == .max ? nil : Int(count)
    }

    /// A span of a day at most.
    private mutating func milliseconds(_ name: String) throws -> Duration? {
        try optionalCount(name, most: 86_400_000).map { .milliseconds($0) }
    }
}

/// Parameters of a what-if that change nothing, and facts that its history lacks, so that its answer is not taken for
/// an answer to another question.
struct WhatIfWarnings {
    /// A parameter and a clause about it, as in an `APIError`.
    private(set) var all: [(place: String, reason: String)] = []

    init(_ request: APIRequest, _ policy: PublishedPolicy, _ report: WhatIfReport) throws {
        let given = Set(request.query.map(\.name))
        var conditions = policy.conditions
        var unread: Set<String> = []
        for (name, readers) in Self.readers where given.contains(name) && policy.faults.isDisjoint(with: readers) {
            let numbers = readers.map { "\($0.number)" }.joined(separator: ", ")
            add(name, "changes nothing: no fault that reads it (\(numbers)) is switched on")
            unread.insert(name)
        }
        let processes = report.processes
        if unread.contains("stray") { conditions.strayProcesses = [] }
        if unread.contains("language") { conditions.languages = [:] }
        if unread.contains("blocklist") { conditions.blocklist = [] }
        for process in conditions.strayProcesses.subtracting(processes).sorted() {
            add("stray", "names \(Self.shown(process)), \(Self.unknown(processes))")
        }
        for process in Set(conditions.languages.keys).subtracting(processes).subtracting([DeviceStorage.app]).sorted() {
            add("language", "names \(Self.shown(process)), \(Self.unknown(processes))")
        }
        for name in conditions.blocklist.subtracting(report.blocklistMet).sorted() {
            add("blocklist", "names \(Self.shown(name)), which no saved event or attribute has")
        }
        let words = Query.faultWords(request.query.filter { $0.name == "fault" }.map(\.value))
        let faults = try Query.faultsByNumber(words)
        let isAll = words.contains("all") && !given.contains("language")
        let remedy = isAll ? "not all can show together: ask for it apart" : "name another language"
        for fault in processes.isEmpty ? [] : faults.sorted() {
            guard let why = policy.whyHidden(fault, of: processes) else { continue }
            add("fault", "\(fault.number) cannot show: \(why); \(remedy)")
        }
        if report.unplayed > 0 {
            let what = "launches, settings or discards of erased persons (\(report.unplayed))"
            add("The history", "lacks \(what): on which devices they were is not known")
        }
        if report.guessed > 0 {
            let what = "the kind and the lists of launches of erased persons (\(report.guessed))"
            add("The history", "lacks \(what): each is played as a cold one of all lists")
        }
    }

    private mutating func add(_ place: String, _ reason: String) { all.append((place, reason)) }

    private static func shown(_ name: Name) -> String { name.text.shown }

    private static func unknown(_ processes: Set<Name>) -> String {
        let known = processes.sorted().prefix(10).map(shown).joined(separator: ", ")
        return processes.isEmpty ? "and nothing was saved" : "which saved nothing; these did: \(known)"
    }

    /// Faults that read a parameter.
    private static let readers: [(name: String, faults: [Fault])] = [
        (
            "language",
            [
                .eventSavedAsAttributes, .emptyEmailUndecodable, .languagesEncodeDifferently, .archivingFails,
                .numbersChangeType, .collectionsVanish, .arraySetterUnused,
            ]
        ),
        ("numbers", [.numbersChangeType]), ("save_ms", [.savesOverwriteEachOther]),
        ("flush_ms", [.savesOverwriteEachOther, .removalTakesMoreThanRead]),
        ("crash_every", [.crashBeforeRemoval, .crashBeforePersistence]), ("crash_after", [.crashBeforeRemoval]),
        ("unstored", [.crashBeforePersistence]), ("scenes", [.flushedTwice]),
        ("update_every", [.updateBreaksDecoding, .storedTypeMismatch]), ("locked_every", [.readBeforeUnlock]),
        ("instance_missing_until", [.instanceMissing]), ("sdk", [.refusalIgnored, .noSessionInBackground]),
        ("sdk_disabled", [.refusalIgnored]), ("blocklist", [.refusalIgnored]),
        ("stray", [.storageArgumentForgotten, .appGroupMissing]),
    ]

    /// Writes the member `warnings`.
    func write(to json: inout JSONWriter) {
        json.objects("warnings", all) { json, warning in
            json.member("place", warning.place)
            json.member("reason", warning.reason)
        }
    }
}

extension WhatIfEndpoint {
    static let shape: AnswerShape = [
        "policy": .text, "switched_on": [.integer], "position": .position, "devices": .integer, "users": .integer,
        "items": .integer, "delivered_right": .integer, "affected": .integer, "affected_users": .integer,
        "waiting": .integer, "stranded": .integer, "rejected": .integer, "discarded": .integer,
        "effects": .map(.integer),
        "faults": [
            ["fault": .integer, "title": .text, "items": .integer, "users": .integer, "effects": .map(.integer)]
        ],
        "affected_items": [
            [
                "position": .integer, "user": .orNull(.user), "received_by": .orNull(.user), "device": .text,
                "kind": .text, "saved_at": .time, "delivered_at": .orNull(.time), "names": [.text], "fate": .text,
                "deviations": [["fault": .integer, "effect": .text, "sentence": .text]],
            ]
        ],
        "tag_manager?": ["calls": .integer, "quirks": [["changed": .integer, "languages": [.text]] + TagQuirk.shape]],
        "warnings": [["place": .text, "reason": .text]],
    ]
}
