internal import ArgumentParser
internal import ProfileLog

/// `profilecli save`
struct SaveCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Save on a device what waits for the next launch, as an extension does.",
        discussion: """
            EXAMPLES
              profilecli save event jane "Completed Match Game" -p Score=10
              profilecli save attribute jane level=7 favourite="green tea"
              profilecli save user-attribute jane email jane@example.org
              profilecli pending
              profilecli launch
            """,
        subcommands: [SaveEvent.self, SaveAttribute.self, SaveUserAttribute.self])
}

/// `profilecli save event`
struct SaveEvent: SaveSubcommand {
    static let path = "/v1/save/event"
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "Save a custom event on a device.",
        discussion: """
            EXAMPLES
              profilecli save event jane "Match Game" -p Score=10 -p name=Jane
              profilecli save event device:phone-1 opened --process PushContent
              profilecli save event jane opened --private --process PushContent
            """)

    @OptionGroup var what: EventArguments
    @OptionGroup var storage: StorageOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions
}

/// `profilecli save attribute`
struct SaveAttribute: SaveSubcommand {
    static let path = "/v1/save/attributes"
    static let configuration = CommandConfiguration(
        commandName: "attribute", abstract: "Save custom attributes on a device.",
        discussion: """
            EXAMPLES
              profilecli save attribute jane level=7 favourite="green tea"
              profilecli save attribute jane --string code=0042 --device tablet-1
              profilecli save attribute jane 'visits={"inc":1}'
            """)

    @OptionGroup var what: AttributeArguments
    @OptionGroup var storage: StorageOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions
}

/// `profilecli save user-attribute`
struct SaveUserAttribute: SaveSubcommand {
    static let path = "/v1/save/user-attribute"
    static let configuration = CommandConfiguration(
        commandName: "user-attribute", abstract: "Save a standard user attribute on a device.",
        discussion: """
            EXAMPLES
              profilecli save user-attribute jane email jane@example.org
              profilecli save user-attribute jane phone +15550100 --device tablet-1
            """)

    @OptionGroup var what: UserAttributeArguments
    @OptionGroup var storage: StorageOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions
}

/// Sends what is saved, and says what came of it. The groups of options are as in `LogSubcommand`.
protocol SaveSubcommand: AsyncParsableCommand {
    associatedtype What: WhatArguments
    /// The endpoint that takes it.
    static var path: String { get }
    var what: What { get }
    var storage: StorageOptions { get }
    var write: WriteOptions { get }
    var place: PlaceOptions { get }
}

extension SaveSubcommand {
    func run() async throws {
        let given = storage.device ?? WriteOptions.device(of: what.user)
        let device = given ?? DefaultDevice.name
        let answer = try await place.connect(create: true).post(Self.path) { json in
            write.write(user: what.user, device: given, to: &json)
            storage.write(to: &json)
            try what.write(to: &json)
        }
        for remark in what.remarks { Output.message(DisplayWidth.oneLine(remark)) }
        if place.isJSON { return try Output.answer(answer.line, to: answer) }
        let done = answer["repeated"].flag == true ? "Already saved, under the same key," : "Saved"
        let waiting = UInt64(max(0, answer["waiting"].integer ?? 0))
        // No launch flushes what an extension keeps for itself, so that is not suggested.
        let isHidden = storage.isHiddenFromApp || answer["note"] != .null
        let next = Suggestion.next(isHidden ? "pending" : Suggestion.launching(device))
        let (user, present) = (answer.object("user"), answer.object("on_device"))
        let arrived =
            answer["arrived"].flag == true ? " \(DisplayWidth.oneLine(present["id"].cell)) is on it now." : ""
        let note = answer["note"].text.map { " \(DisplayWidth.oneLine($0))." } ?? ""
        let wait = "\(Phrase.waiting(waiting)) on \(DisplayWidth.oneLine(device))."
        try Output.answer("\(done) at \(Phrase.spot(answer)); \(wait)\(arrived)\(note) \(next)", to: answer)
        if user["number"] == present["number"] { return }
        let (name, there) = (user["id"].cell, present["id"].text ?? "nobody")
        let change = "change-user \(Shell.user(name)) \(Shell.option("--device", device))"
        Output.message(
            DisplayWidth.oneLine("\(name) is not on \(device) (\(there) is): log in with `profilecli ")
                + "\(TypedPlace.completing(change))`")
    }
}

/// The device of requests that name none.
enum DefaultDevice {
    static let name = "phone"
}
