internal import ArgumentParser
internal import ProfileLog

/// `profilecli save`
struct SaveCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        "save", "Save on a device what waits for the next launch, as an extension does.",
        examples: """
            profilecli save event jane "Completed Match Game" -p Score=10
            profilecli save attribute jane level=7 favourite="green tea"
            profilecli save user-attribute jane email jane@example.org
            profilecli pending
            profilecli launch
            """,
        subcommands: [
            Save<EventArguments>.self, Save<AttributeArguments>.self, Save<UserAttributeArguments>.self,
        ])
}

/// What can be saved.
protocol SaveArguments: WhatArguments {
    /// The command that saves it.
    static var saving: CommandConfiguration { get }
}

extension EventArguments: SaveArguments {
    static let saving = CommandConfiguration(
        "event", "Save a custom event on a device.",
        examples: """
            profilecli save event jane "Match Game" -p Score=10 -p name=Jane
            profilecli save event device:phone-1 opened --process PushContent
            profilecli save event jane opened --private --process PushContent
            """)
}

extension AttributeArguments: SaveArguments {
    static let saving = CommandConfiguration(
        "attribute", "Save custom attributes on a device.",
        examples: """
            profilecli save attribute jane level=7 favourite="green tea"
            profilecli save attribute jane --string code=0042 --device tablet-1
            profilecli save attribute jane 'visits={"inc":1}'
            """)
}

extension UserAttributeArguments: SaveArguments {
    static let saving = CommandConfiguration(
        "user-attribute", "Save a standard user attribute on a device.",
        examples: """
            profilecli save user-attribute jane email jane@example.org
            profilecli save user-attribute jane phone +15550100 --device tablet-1
            """)
}

/// `profilecli save event` and the like.
struct Save<What: SaveArguments>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { What.saving }

    @OptionGroup var what: What

    @Option(help: .init("The app group's storage, which the app sees (default: group.app).", valueName: "name"))
    var appGroup: String?

    @Flag(
        name: .customLong("private"),
        help: "The process's own storage: what an extension keeps there, no launch flushes.")
    var isPrivate = false

    @Option(help: .init("Who saves: app, or an extension's name.", valueName: "name"))
    var process: String?

    @Option(help: .init("The ID that the device gave to the item.", valueName: "id"))
    var item: String?

    @Option(help: .init("The device (default: phone).", valueName: "id"))
    var device: String?

    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if isPrivate, appGroup != nil {
            throw ValidationError("--app-group and --private exclude each other. Omit one of them.")
        }
        try device.map { try Blank.refuse($0, "--device") }
    }

    func run() async throws {
        let given = self.device ?? WriteOptions.device(of: what.user)
        let device = given ?? DefaultDevice.name
        let answer = try await place.send("/v1/save/\(What.path)", create: true, remarks: what.remarks) { json in
            try write.write(what, device: given, to: &json)
            json.member("app_group", appGroup)
            if isPrivate { json.member("private", true) }
            json.member("process", process)
            json.member("item", item)
        } describe: { answer in
            let done = answer["repeated"].flag == true ? "Already saved, under the same key," : "Saved"
            let arrived =
                answer["arrived"].flag == true
                ? " \(DisplayWidth.oneLine(answer.object("on_device")["id"].cell)) is on it now." : ""
            let note = answer["note"].text.map { " \(DisplayWidth.oneLine($0))." } ?? ""
            // No launch flushes what an extension keeps for itself, so that is not suggested.
            let isHidden = isPrivate && (process ?? "app") != "app" || answer["note"] != .null
            let next = Suggestion.next(isHidden ? "pending" : Suggestion.launching(device))
            let wait = "\(Phrase.waiting(answer.count("waiting"))) on \(DisplayWidth.oneLine(device))."
            return "\(done) at \(Phrase.spot(answer)); \(wait)\(arrived)\(note) \(next)"
        }
        let (user, present) = (answer.object("user"), answer.object("on_device"))
        if place.isJSON || user["number"] == present["number"] { return }
        let (name, there) = (user["id"].cell, present["id"].text ?? "no user")
        let change = "change-user \(Shell.user(name)) \(Shell.option("--device", device))"
        Output.message(
            DisplayWidth.oneLine("\(name) is not on \(device) (\(there) is): log in with `profilecli ")
                + "\(TypedPlace.completing(change))`")
    }
}
