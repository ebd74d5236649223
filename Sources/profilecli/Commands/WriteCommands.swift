internal import ArgumentParser
internal import ProfileLog

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
        subcommands: [Save<EventArguments>.self, Save<AttributeArguments>.self, Save<UserAttributeArguments>.self])
}

struct LogCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        "log", "Log what is effective at once, as a running app or a server does.",
        examples: """
            profilecli log event jane "played song" -p minutes=3
            profilecli log attribute jane level=7
            profilecli log user-attribute jane email jane@example.org
            profilecli log purchase jane sku-1 --price 9.50 --currency EUR
            """,
        subcommands: [
            Log<EventArguments>.self, Log<AttributeArguments>.self, Log<UserAttributeArguments>.self,
            Log<PurchaseArguments>.self,
        ])
}

struct Save<What: SaveArguments>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { What.saving }

    @OptionGroup var user: UserArgument
    @OptionGroup var what: What

    @Option(help: .init("The app group's storage, which the app sees (default: group.app).", valueName: "name"))
    var appGroup: String?

    @Flag(
        name: .customLong("private"),
        help: "The process's own storage; no launch flushes what an extension keeps there.")
    var isPrivate = false

    @Option(help: .init("Who saves: app, or an extension's name.", valueName: "name")) var process: String?
    @Option(help: .init("The ID that the device gave to the item.", valueName: "id")) var item: String?
    @Option(help: .init("The device (default: phone).", valueName: "id")) var device: String?
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if isPrivate, appGroup != nil {
            throw ValidationError("--app-group and --private exclude each other. Omit one of them.")
        }
        try Blank.refuse(device, "--device")
    }

    func run() async throws {
        let given = self.device ?? user.device
        let device = given ?? DefaultDevice.name
        let answer: JSONObject = try await place.send("/v1/save/\(What.path)", create: true, notes: what.notes) {
            json in
            try write.write(user, what, device: given, to: &json)
            json.member("app_group", appGroup)
            if isPrivate { json.member("private", true) }
            json.member("process", process)
            json.member("item", item)
        } describe: { answer in
            let done = answer.flag("repeated") ? "Already saved, under the same key," : "Saved"
            let arrived = answer.flag("arrived") ? " \(answer.id("on_device") ?? "") is on it now." : ""
            let note = answer["note"].text.map { " \($0.oneLine)." } ?? ""
            // No launch flushes what an extension keeps for itself.
            let isHidden = isPrivate && (process ?? "app") != "app" || answer["note"] != .null
            let next = Suggestion.next(isHidden ? "pending" : Suggestion.launching(device))
            let wait = "\(Phrase.waiting(answer.count("waiting"))) on \(device.oneLine)."
            return "\(done) at \(Phrase.spot(answer)); \(wait)\(arrived)\(note) \(next)"
        }
        let (owner, present) = (answer.object("user"), answer.object("on_device"))
        if place.isJSON || owner["number"] == present["number"] { return }
        let (name, there) = (owner["id"].cell, present["id"].text ?? "no user")
        let change = "change-user \(Shell.user(name)) \(Shell.option("--device", device))"
        Output.message(
            "\(name) is not on \(device) (\(there) is): log in with `profilecli ".oneLine
                + "\(TypedPlace.completing(change))`")
    }
}

struct Log<What: WhatArguments>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { What.logging }

    @OptionGroup var user: UserArgument
    @OptionGroup var what: What

    @Option(help: .init("The device; without it the event has none, and no device's settings apply.", valueName: "id"))
    var device: String?

    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws { try Blank.refuse(device, "--device") }

    func run() async throws {
        let device = device ?? user.device
        try await place.send("/v1/log/\(What.path)", create: true, notes: what.notes) { json in
            json.member("source", EventSource.cli.name)
            try write.write(user, what, device: device, to: &json)
        } describe: { answer in
            let done = answer.flag("repeated") ? "Already logged, under the same key," : "Logged"
            if answer.flag("lost") {
                let next = Suggestion.next("push initialize \(Shell.device(device ?? DefaultDevice.name))")
                return "Recorded at \(Phrase.spot(answer)); lost: \(answer["reason"].cell). \(next)"
            }
            let isQueued = answer.flag("queued")
            let effect = isQueued ? "queued by the SDK, and effective when it is sent" : Self.effect(answer)
            let next =
                isQueued
                ? "device show \(Shell.device(device ?? DefaultDevice.name))"
                : Suggestion.profile(of: answer.object("user"))
            return "\(done) at \(Phrase.spot(answer)); \(effect). \(Suggestion.next(next))"
        }
    }

    /// `effective at once`, or which operations change nothing and why.
    private static func effect(_ answer: JSONObject) -> String {
        guard let list = Phrase.noEffect(of: answer) else { return "effective at once" }
        return answer.flag("all_without_effect")
            ? "without effect: \(list)" : "effective at once, but for this: \(list)"
    }
}

// MARK: - What is saved or logged

protocol WhatArguments: ParsableArguments {
    static var path: String { get }
    static var logging: CommandConfiguration { get }
    /// Notes on how the values were read.
    var notes: [String] { get }

    func write(to json: inout JSONWriter) throws
}

protocol SaveArguments: WhatArguments {
    static var saving: CommandConfiguration { get }
}

/// NAME and properties: a custom event.
struct EventArguments: SaveArguments {
    static let path = "event"
    static let saving = CommandConfiguration(
        "event", "Save a custom event on a device.",
        examples: """
            profilecli save event jane "Match Game" -p Score=10 -p name=Jane
            profilecli save event device:phone-1 opened --process PushContent
            profilecli save event jane opened --private --process PushContent
            """)
    static let logging = CommandConfiguration(
        "event", "Log a custom event.",
        examples: """
            profilecli log event jane "played song" -p minutes=3 -p title="Blue"
            profilecli log event alias:crm:4711 visited --key visit-1
            profilecli log event jane visited --at 2026-01-31T09:00:00+01:00
            """)

    @Argument(help: "The event's name.") var name: String
    @OptionGroup var properties: PropertyOptions

    var notes: [String] { properties.notes }
    mutating func validate() throws { try Blank.refuse(name, "NAME") }

    func write(to json: inout JSONWriter) throws {
        json.member("name", name)
        try properties.write(to: &json)
    }
}

/// KEY=VALUE …: custom attributes.
struct AttributeArguments: SaveArguments {
    static let path = "attributes"
    static let saving = CommandConfiguration(
        "attribute", "Save custom attributes on a device.",
        examples: """
            profilecli save attribute jane level=7 favourite="green tea"
            profilecli save attribute jane --string code=0042 --device tablet-1
            profilecli save attribute jane 'visits={"inc":1}'
            """)
    static let logging = CommandConfiguration(
        "attribute", "Change custom attributes.",
        examples: """
            profilecli log attribute jane level=7 favourite="green tea"
            profilecli log attribute jane 'visits={"inc":1}' 'tags={"add":["new"]}'
            profilecli log attribute jane old=null
            """)

    @Argument(
        help: .init(
            "Attributes; VALUE is JSON if it is valid JSON, else text. null unsets, '{\"inc\":1}' increments. "
                + "@FILE, or - for standard input: a JSON object of attributes.", valueName: "key=value"))
    var attributes: [String] = []

    @Option(
        name: .customLong("string"), parsing: .unconditionalSingleValue,
        help: .init("An attribute whose VALUE is text, even if it is valid JSON.", valueName: "key=value"))
    var strings: [String] = []

    private var pairs: TypedPairs { TypedPairs(.attribute, attributes, texts: strings) }
    var notes: [String] { pairs.notes }

    mutating func validate() throws {
        guard !attributes.isEmpty || !strings.isEmpty else {
            throw ValidationError("There is no attribute. Write at least one KEY=VALUE, as in level=7.")
        }
        if !pairs.hasFiles { _ = try pairs.members() }
    }

    func write(to json: inout JSONWriter) throws { json.member("attributes", .object(try pairs.members())) }
}

/// ATTRIBUTE VALUE: a standard user attribute.
struct UserAttributeArguments: SaveArguments {
    static let path = "user-attribute"
    static let saving = CommandConfiguration(
        "user-attribute", "Save a standard user attribute on a device.",
        examples: """
            profilecli save user-attribute jane email jane@example.org
            profilecli save user-attribute jane phone +15550100 --device tablet-1
            """)
    static let logging = CommandConfiguration(
        "user-attribute", "Change a standard user attribute.",
        examples: """
            profilecli log user-attribute jane email jane@example.org
            profilecli log user-attribute jane home_city null
            """)

    @Argument(
        help: "email, first_name, last_name, phone, country, language, home_city, gender, dob, …",
        completion: .list(StandardAttribute.allCases.map(\.name)))
    var attribute: String

    @Argument(help: "The value; null unsets the attribute.") var value: String

    @Flag(name: .customLong("string"), help: "VALUE is text, even if it is null, true or an object.")
    var isText = false

    var notes: [String] { [] }

    func write(to json: inout JSONWriter) throws {
        json.member("attribute", attribute)
        json.member("value", isText ? .string(value) : Self.typed(value))
    }

    /// Digits are text, as in a phone number: no standard attribute is a number.
    static func typed(_ value: String) -> AttributeValue {
        switch try? JSON.parse(value) {
        case nil, .int, .double: .string(value)
        case let json?: json
        }
    }
}

/// PRODUCT, price and properties: a purchase.
struct PurchaseArguments: WhatArguments {
    static let path = "purchase"
    static let logging = CommandConfiguration(
        "purchase", "Log a purchase.",
        examples: """
            profilecli log purchase jane sku-1 --price 9.50 --currency EUR
            profilecli log purchase jane sku-1 --price 3 --currency EUR --quantity 2
            profilecli log purchase jane sku-1 --price -9.50 --currency EUR
            """)

    @Argument(help: "The product's ID.") var product: String
    @Option(parsing: .unconditional, help: "The price of one; negative for a refund.") var price: Double
    @Option(help: "Three capital letters, as in EUR.") var currency: String
    @Option(parsing: .unconditional, help: "How many, from 1 to 100.") var quantity = 1
    @OptionGroup var properties: PropertyOptions

    var notes: [String] { properties.notes }

    mutating func validate() throws {
        try Blank.refuse(product, "PRODUCT")
        guard price.isFinite else { throw ValidationError("--price must be a finite number, as in 9.50.") }
    }

    func write(to json: inout JSONWriter) throws {
        json.member("product", product)
        json.member("price", price)
        json.member("currency", currency)
        json.member("quantity", quantity)
        try properties.write(to: &json)
    }
}

// MARK: - Options

/// USER, of commands that store something.
struct UserArgument: ParsableArguments {
    @Argument(help: .user) var user: String

    mutating func validate() throws { try Blank.refuse(user, "USER") }

    /// The device of `device:ID`; nil for an ID that no device can have: an error of the USER.
    var device: String? {
        guard case .device(let device) = UserID(user), (1...Limits.bytesPerDevice).contains(device.utf8.count) else {
            return nil
        }
        return device
    }
}

extension ArgumentHelp {
    /// The forms of a USER, which `profilecli --help` explains.
    static let user: ArgumentHelp =
        "USER: an external ID, id:EXTERNAL_ID, alias:LABEL:NAME, email:ADDRESS, phone:NUMBER, braze:ID or device:ID."
}

/// The options that `save` and `log` have in common.
struct WriteOptions: ParsableArguments {
    @Option(
        name: [.long, .customLong("time")], parsing: .unconditional,
        help: .init(
            "When it happened, as in 2026-01-31T23:59:59Z or 'yesterday 14:00' (default: now).", valueName: "time"))
    var at: String?

    @Option(help: .init("An idempotency key: the same write, run again, changes nothing.", valueName: "text"))
    var key: String?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Refuse unless the user is at this version; none: unless the user is unknown.", valueName: "version|none"))
    var expect: String?

    func write(_ user: UserArgument, _ what: some WhatArguments, device: String?, to json: inout JSONWriter) throws {
        json.member("user", user.user)
        json.member("device", device)
        json.member("time", at.map(LocalMoment.time))
        json.member("key", key)
        if let expect { json.member("expect", Int64(expect).map { .int($0) } ?? .string(expect)) }
        try what.write(to: &json)
    }
}

/// `-p KEY=VALUE` and `--string KEY=VALUE`.
struct PropertyOptions: ParsableArguments {
    @Option(
        name: [.customShort("p"), .customLong("property")], parsing: .unconditionalSingleValue,
        help: .init(
            "A property; VALUE is JSON if it is valid JSON, else text. Repeatable. @FILE, or - for standard input: a "
                + "JSON object of properties.", valueName: "key=value"))
    var properties: [String] = []

    @Option(
        name: .customLong("string"), parsing: .unconditionalSingleValue,
        help: .init("A property whose VALUE is text, even if it is valid JSON.", valueName: "key=value"))
    var strings: [String] = []

    private var pairs: TypedPairs { TypedPairs(.property, properties, texts: strings) }
    var notes: [String] { pairs.notes }
    var isEmpty: Bool { properties.isEmpty && strings.isEmpty }
    mutating func validate() throws { if !pairs.hasFiles { _ = try pairs.members() } }

    /// Writes the member `properties`, if there are any.
    func write(to json: inout JSONWriter) throws {
        let members = try pairs.members()
        if !members.isEmpty { json.member("properties", .object(members)) }
    }
}

/// `KEY=VALUE` pairs: a value that is valid JSON is taken as JSON, any other as text.
struct TypedPairs {
    enum Kind { case property, attribute, answer, variable }

    private let kind: Kind
    private let pairs: [String]
    private let texts: [String]

    init(_ kind: Kind, _ pairs: [String], texts: [String]) {
        (self.kind, self.pairs, self.texts) = (kind, pairs, texts)
    }

    /// Tells whether one of the pairs is a file with members, or standard input.
    var hasFiles: Bool { pairs.contains(where: Self.isFile) }

    private static func isFile(_ pair: String) -> Bool { TypedDocument.isFile(pair) && !pair.contains("=") }

    func members() throws -> [AttributeValue.Member] {
        var members: [AttributeValue.Member] = []
        for pair in pairs {
            if Self.isFile(pair) {
                members += try TypedDocument.object(pair, "The \(kind)")
                continue
            }
            let (key, text) = try split(pair)
            members.append(.init(key, try Self.value(text, of: key)))
        }
        for pair in texts {
            let (key, text) = try split(pair)
            members.append(.init(key, .string(text)))
        }
        members.sort { $0.key < $1.key }
        for (left, right) in zip(members, members.dropFirst()) where left.key == right.key {
            throw ValidationError("The \(kind) \(left.key) is given twice. Give it once.")
        }
        return members
    }

    private static func value(_ text: String, of key: Name) throws(ValidationError) -> AttributeValue {
        do throws(JSONError) {
            return try JSON.parse(text)
        } catch {
            switch error.kind {
            case .integerTooLarge, .numberTooLarge, .duplicateKey, .tooDeep:
                throw ValidationError(
                    "The value of \(key) cannot be stored: \(error.kind). Correct it, or keep it as text with --string."
                )
            default: return .string(text)
            }
        }
    }

    /// A note for each value that looks like JSON and is stored as text because it is not valid.
    var notes: [String] {
        pairs.compactMap { pair -> String? in
            guard !Self.isFile(pair), let (key, text) = try? split(pair), Self.looksLikeJSON(text) else { return nil }
            do throws(JSONError) {
                _ = try JSON.parse(text)
                return nil
            } catch {
                let reason = "\(error.kind) at byte \(error.offset)"
                return "\(key) is stored as text, since its value is not valid JSON (\(reason))."
            }
        }
    }

    private static func looksLikeJSON(_ text: String) -> Bool {
        let word = text.lowercased().drop { $0 == "-" || $0 == "+" }
        return ["{", "["].contains(text.first { !$0.isWhitespace }) || ["nan", "infinity", "inf"].contains(word)
    }

    private func split(_ pair: String) throws(ValidationError) -> (key: Name, text: String) {
        // By bytes: "=" and a combining mark are another character.
        let sides = pair.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2, !sides[0].isEmpty else {
            let article = [.property, .variable].contains(kind) ? "A" : "An"
            let lack = sides.count == 2 ? "key" : "equals sign"
            throw ValidationError(
                "\(article) \(kind) is written KEY=VALUE, as in Score=10; one of them has no \(lack).")
        }
        return (Name(String(sides[0]) ?? ""), String(sides[1]) ?? "")
    }
}

/// Refuses names that are not visible: in a script, an unset variable in quotation marks.
enum Blank {
    /// Refuses `text` if it is white space only. The API refuses empty text by its length.
    static func refuse(_ text: String?, _ place: String) throws(ValidationError) {
        guard let text, !text.isEmpty, text.unicodeScalars.allSatisfy(\.properties.isWhitespace) else { return }
        throw ValidationError("\(place) is blank. Write something that is visible.")
    }
}
