internal import ArgumentParser
internal import ProfileLog

/// `profilecli save`
struct SaveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Save on a device what waits for the next launch, as an extension does.",
        discussion: """
            EXAMPLES
              profilecli save event jane "Completed Match Game" -p Score=10 --process PushContent
              profilecli save attribute jane level=7 favourite="green tea"
              profilecli save user-attribute jane email jane@example.org
              profilecli pending
              profilecli launch
            """,
        subcommands: [SaveEvent.self, SaveAttribute.self, SaveUserAttribute.self])
}

/// `profilecli save event`
struct SaveEvent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "Save a custom event on a device.",
        discussion: """
            EXAMPLES
              profilecli save event jane "Completed Match Game" -p Score=10 -p name=Jane
              profilecli save event device:phone-1 opened --app-group group.com.example.app --process PushContent
              profilecli save event jane opened --private --process PushContent
            """)

    @OptionGroup var what: EventArguments
    @OptionGroup var storage: StorageOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await SaveAnswer(place: place).send("/v1/save/event") { json in
            write.write(user: what.user, to: &json)
            storage.write(to: &json)
            try what.write(to: &json)
        }
    }
}

/// `profilecli save attribute`
struct SaveAttribute: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attribute", abstract: "Save custom attributes on a device.",
        discussion: """
            EXAMPLES
              profilecli save attribute jane level=7 favourite="green tea"
              profilecli save attribute jane --string code=0042 'visits={"inc":1}' --device tablet-1
            """)

    @OptionGroup var what: AttributeArguments
    @OptionGroup var storage: StorageOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await SaveAnswer(place: place).send("/v1/save/attributes") { json in
            write.write(user: what.user, to: &json)
            storage.write(to: &json)
            try what.write(to: &json)
        }
    }
}

/// `profilecli save user-attribute`
struct SaveUserAttribute: AsyncParsableCommand {
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

    func run() async throws {
        try await SaveAnswer(place: place).send("/v1/save/user-attribute") { json in
            write.write(user: what.user, to: &json)
            storage.write(to: &json)
            try what.write(to: &json)
        }
    }
}

/// Sends a save and says what came of it.
struct SaveAnswer {
    let place: PlaceOptions

    func send(_ path: String, _ write: (inout JSONWriter) throws -> Void) async throws {
        var writer = JSONWriter()
        writer.beginObject()
        try write(&writer)
        writer.endObject()
        // The answer does not say on which device it waits: it is the one of the request.
        let sent = try JSONObject(writer.bytes)
        let device = sent["device"].text ?? DefaultDevice.name
        let answer = try await place.connect(create: true).post(path, body: writer.bytes)
        if place.isJSON { return try Output.print(answer.line) }
        let done = answer["repeated"].flag == true ? "Already saved, under the same key," : "Saved"
        let waiting = UInt64(max(0, answer["waiting"].integer ?? 0))
        let isHidden = sent["private"].flag == true && (sent["process"].text ?? "app") != "app"
        let launch = device == DefaultDevice.name ? "profilecli launch" : "profilecli launch \(Shell.quoted(device))"
        // No launch flushes what an extension keeps for itself, so that is not suggested.
        let next = (isHidden ? "profilecli pending" : launch) + place.repeated
        try Output.print(
            "\(done) at \(Phrase.spot(answer)); \(Phrase.waiting(waiting)) on \(DisplayWidth.oneLine(device)). Next: \(next)"
        )
    }
}

/// The device of requests that name none.
enum DefaultDevice {
    static let name = "phone"
}
