internal import ArgumentParser
internal import ProfileLog

struct WhatIfCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whatif",
        abstract: "Compare profiles with those of another history, or items with the published snippets.",
        discussion: """
            With --without, --correct, --rules or --program: which profiles would differ if some events had not been, \
            or been others, or been folded by other rules or another program. Prints how many users, which fields, and \
            some of the users with both values; with --where, who would enter and leave those who pass. --user asks \
            about one. Only what was saved or logged can be omitted or corrected. Writes nothing.

            Without those: what the published snippets would have lost, doubled, misdated or given to the wrong user. \
            Plays the saves, launches, user changes and discards of the log with the code that the guide publishes, on \
            separate devices, and checks that each item is delivered once, exactly, to its user and with its own time. \
            Writes nothing. What a history does not record is an option, with a default; the number before its help is \
            that of the fault that uses it.

            --since and --until are positions, or times at which the log recorded an event. With --since, what came \
            before is played too, since it decides what is on the devices; it is not counted.

            Below come the quirks of the published providers of the tag manager (docs/tag-manager.md): how many of the \
            events and attributes that the app logged each would have changed, had tags logged them, and why. --quirk \
            names single ones, also those that change nothing here.

            --format json: an object for each fault, one for each affected item, and the totals last.

            EXAMPLES
              profilecli whatif --without source:import --sample 3
              profilecli whatif --without name:level --where 'custom.level >= 5'
              profilecli whatif --correct '17={"name":"played"}' --fail-on lost
              profilecli whatif --rules rules.yaml --where 'custom.level >= 5'
              profilecli whatif --program ./older/profilecli --program-argument fold
              profilecli whatif
              profilecli whatif --fault newest --fault 23 --flush-ms 500
              profilecli whatif --language PushContent=objc --user jane
              profilecli whatif --quirk boxed-numbers --quirk text-logged-as-event
              profilecli whatif --fault 7 --since 2026-01-01T00:00:00Z --format json
              profilecli whatif --fail-on-difference

            EXIT STATUS
              2 with --fail-on if it is met,
              2 with --fail-on-difference if an item fared differently,
              1 if the command failed, 64 wrong usage
            """)

    @OptionGroup var altered: AlteredHistoryOptions
    @OptionGroup var published: PublishedOptions
    @Option(help: "What was saved for this USER only, in any form that `profilecli --help` lists.") var user: String?
    @Option(help: .init("What was saved on this device only.", valueName: "id")) var device: String?

    @Option(parsing: .unconditional, help: .init("Count what was saved from here on.", valueName: "position|time"))
    var since: String?

    @Option(
        parsing: .unconditional,
        help: .init("The history ends here, this position or time included.", valueName: "position|time"))
    var until: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Only this quirk of the tag manager, or those of swift or objective-c. Repeatable.", valueName: "quirk"),
        completion: .list(["swift", "objective-c"] + TagQuirk.allCases.map(\.rawValue)))
    var quirk: [String] = []

    @Option(help: .init("List so many of the affected items.", valueName: "n")) var items: UInt64 = 10
    @Flag(help: "Exit with 2 if an item fared differently, for CI.") var failOnDifference = false
    @OptionGroup var traits: TraitsOption
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        guard altered.isAsked else { return }
        let isAboutGuide =
            published.query.count > 1 || !quirk.isEmpty || device != nil || since != nil || until != nil
            || failOnDifference
        if isAboutGuide {
            throw ValidationError(
                "Options of the published guide, such as --fault and --since, do not go with another history. "
                    + "Omit them, or --without, --correct, --rules and --program.")
        }
    }

    func run() async throws {
        if altered.isAsked {
            return try await ProfileWhatIf(options: altered, user: user, traits: traits, place: place).run()
        }
        let range = parameters(
            ("items", items), ("user", user), ("device", device), ("since", since), ("until", until))
        let quirks = quirk.map { (name: "quirk", value: $0) }
        let answer = try await place.connect().get("/v1/whatif", published.query + quirks + range)
        let table = WhatIfTable(answer: answer, showsAllQuirks: !quirk.isEmpty)
        try Output.print(place.isJSON ? answer.lines(listing: ["faults", "affected_items"]) : table.lines)
        for warning in answer.objects("warnings") {
            let typed = warning["place"].text.flatMap(CommandError.typedName) ?? warning["place"].cell
            Self.warn("\(typed) \(warning["reason"].cell).")
        }
        guard failOnDifference else { return }
        let stranded = answer.count("stranded")
        if stranded > 0 {
            Self.warn(
                "\(Number.counted(stranded, "item")) \(stranded == 1 ? "is" : "are") where the app never looks, "
                    + "so that no launch flushes \(stranded == 1 ? "it" : "them"). \(Suggestion.next("pending"))")
        }
        if answer["affected"] != .int(0) { throw ExitCode(ExitStatus.damaged.rawValue) }
    }

    private static func warn(_ sentence: String) {
        Output.message(Style.yellow("Warning: ", if: Terminal.hasErrorColours) + sentence)
    }
}

/// The faults of the published snippets that are played, and the conditions that a history does not record.
struct PublishedOptions: ParsableArguments {
    @Option(help: "faithful, the published snippets; or standard, without a fault.") var policy = "faithful"

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            """
            Only this fault, by its number in docs/device-simulation.md; newest, those of the newest snippets \
            (default); or all. Repeatable.
            """,
            valueName: "number"))
    var fault: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            """
            swift or objc, for all processes or, as in app=objc, for one. Repeatable. Default: the one that has the \
            faults, else swift.
            """,
            valueName: "[process=]language"))
    var language: [String] = []

    @Option(help: "18: what casts make of stored numbers: bridged (default) or exact.") var numbers: String?
    @Option(help: .init("22: how long a save takes (default: 10).", valueName: "ms")) var saveMs: UInt64?

    @Option(help: .init("22, 23: how long the flush of a list takes (default: 100).", valueName: "ms"))
    var flushMs: UInt64?

    @Option(help: .init("24, 25: one of how many flushes crashes (default: 2).", valueName: "n"))
    var crashEvery: UInt64?

    @Option(
        help: .init("24: after how many items it crashes (default: right before the first removal).", valueName: "n"))
    var crashAfter: UInt64?

    @Option(help: .init("25: how many of its last items are not stored (default: 1).", valueName: "n"))
    var unstored: UInt64?

    @Option(help: .init("31: scenes that flush at each launch (default: 2).", valueName: "n")) var scenes: UInt64?

    @Option(help: .init("14, 28: the app is updated before each nth launch (default: 2).", valueName: "n"))
    var updateEvery: UInt64?

    @Option(help: .init("37: each nth save comes before the first unlock (default: 10).", valueName: "n"))
    var lockedEvery: UInt64?

    @Option(
        parsing: .unconditional,
        help: .init("26: until when there is no instance (default: for ever).", valueName: "time"))
    var instanceMissingUntil: String?

    @Option(help: .init("27, 30: the SDK's version (default: 18.0.0).", valueName: "version")) var sdk: String?
    @Flag(help: "27: the SDK is disabled.") var sdkDisabled = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("27: an event or attribute that the SDK refuses. Repeatable.", valueName: "name"))
    var blocklist: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "34, 36: a process that uses another storage (default: every extension). Repeatable.", valueName: "process")
    )
    var stray: [String] = []

    var query: Parameters {
        let lists = [("fault", fault), ("language", language), ("blocklist", blocklist), ("stray", stray)]
        let conditions = parameters(
            ("save_ms", saveMs), ("flush_ms", flushMs), ("crash_every", crashEvery), ("crash_after", crashAfter),
            ("unstored", unstored), ("scenes", scenes), ("update_every", updateEvery), ("locked_every", lockedEvery),
            ("policy", policy), ("numbers", numbers), ("instance_missing_until", instanceMissingUntil), ("sdk", sdk),
            ("sdk_disabled", sdkDisabled ? "true" : nil))
        return lists.flatMap { name, values in values.map { (name: name, value: $0) } } + conditions
    }
}

struct WhatIfTable {
    let answer: JSONObject
    /// Tells whether quirks that changed nothing are shown too.
    var showsAllQuirks = false

    var lines: [String] {
        if count("items") == 0 { return ["Nothing was saved. \(Suggestion.next("save event jane opened"))"] + quirks }
        var lines: [String] = []
        if count("affected") > 0 { lines += faults + [""] + items + [""] }
        return lines + totals + quirks
    }

    /// Changes that tags would have made to the calls that the app logged, quirk by quirk.
    private var quirks: [String] {
        let tags = answer.object("tag_manager")
        let shown = tags.objects("quirks").filter { showsAllQuirks || $0.count("changed") > 0 }
        if shown.isEmpty { return [] }
        let calls = Number.counted(tags.count("calls"), "call")
        return ["", "Had tags made the app's \(calls), the published providers would have changed some of them:"]
            + shown.map { quirk in
                TagTable.line(
                    quirk["quirk"].cell, quirk["languages"].elements.map(\.cell),
                    " changes \(Number.grouped(quirk.count("changed")))", verdict: quirk["verdict"].cell)
            }
    }

    private func count(_ key: Name) -> UInt64 { answer.count(key) }

    private var faults: [String] {
        Table("#FAULT", "WHAT IT IS", "#ITEMS", "#USERS", "WHAT IT DID", of: answer.objects("faults")) { row in
            [
                row["fault"].cell, row["title"].cell, row["items"].cell, row["users"].cell,
                Self.effects(row["effects"]),
            ]
        }.lines()
    }

    private var items: [String] {
        let listed = answer.objects("affected_items")
        let table = Table("#SAVED@", "USER", "DEVICE", "WHAT", "WENT TO", "BECAME", of: listed) { item in
            let deviations = item.objects("deviations").map { deviation in
                "\(Self.words(deviation["effect"])) (\(deviation["fault"].cell))"
            }
            let (user, receiver) = (item.object("user")["id"].cell, item.object("received_by")["id"].cell)
            return [
                item["position"].cell, user, item["device"].cell,
                item["names"].elements.map(\.cell).joined(separator: ", "), receiver == user ? "" : receiver,
                deviations.joined(separator: ", "),
            ]
        }
        let more = count("affected") - min(count("affected"), UInt64(listed.count))
        if listed.isEmpty { return ["\(Number.counted(more, "item")) not as saved; --items lists some of them."] }
        return table.lines()
            + (more == 0 ? [] : ["and \(Number.counted(more, "more item")); --items lists more of them."])
    }

    private var totals: [String] {
        let all = "\(Number.counted(count("items"), "item")) of \(Number.counted(count("users"), "user"))"
        var parts = ["\(Number.grouped(count("delivered_right"))) delivered right"]
        if count("affected") > 0 {
            let users = Number.counted(count("affected_users"), "user")
            parts.append(Style.red("\(Number.grouped(count("affected"))) not as saved (of \(users))"))
        }
        parts.append(Phrase.waiting(count("waiting")))
        if count("stranded") > 0 {
            parts.append("\(Number.grouped(count("stranded"))) stranded (the app never looks there)")
        }
        if count("rejected") > 0 { parts.append("\(Number.grouped(count("rejected"))) rejected") }
        parts.append("\(Number.grouped(count("discarded"))) given up")
        let verdict = count("affected") == 0 ? Style.green("Nothing differs: ") : ""
        var lines = [
            "\(verdict)\(all) on \(Number.counted(count("devices"), "device")): \(parts.joined(separator: ", "))."
        ]
        if count("affected") > 0 { lines.append("In all: \(Self.effects(answer["effects"])).") }
        return lines
    }

    /// `lost 3, misdated 12`, the worst first.
    private static func effects(_ effects: AttributeValue) -> String {
        FaultEffect.allCases.compactMap { effect in
            effects[Name(effect.rawValue)].map { "\(effect.name) \($0.cell)" }
        }.joined(separator: ", ")
    }

    private static func words(_ effect: AttributeValue) -> String {
        effect.text.flatMap(FaultEffect.init(rawValue:))?.name ?? effect.cell
    }
}
