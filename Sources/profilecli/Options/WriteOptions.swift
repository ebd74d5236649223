internal import ArgumentParser
internal import ProfileLog

/// USER, and what is saved or logged for them.
protocol WhatArguments: ParsableArguments {
    /// The last part of the request's path.
    static var path: String { get }

    var user: String { get }

    /// Notes on how the values were read.
    var remarks: [String] { get }

    /// Writes all but the user as members of a request's body.
    func write(to json: inout JSONWriter) throws
}

/// USER NAME and properties: a custom event.
struct EventArguments: WhatArguments {
    static let path = "event"

    @Argument(help: .user)
    var user: String

    @Argument(help: "The event's name.")
    var name: String

    @OptionGroup var properties: PropertyOptions

    var remarks: [String] { properties.remarks }

    mutating func validate() throws {
        try Blank.refuse(user, "USER")
        try Blank.refuse(name, "NAME")
    }

    func write(to json: inout JSONWriter) throws {
        json.member("name", name)
        try properties.write(to: &json)
    }
}

/// USER KEY=VALUE …: custom attributes.
struct AttributeArguments: WhatArguments {
    static let path = "attributes"

    @Argument(help: .user)
    var user: String

    @Argument(
        help: .init(
            "Attributes; VALUE is JSON if it is valid JSON, else text. null unsets, '{\"inc\":1}' increments.",
            valueName: "key=value"))
    var attributes: [String] = []

    @Option(
        name: .customLong("string"), parsing: .unconditionalSingleValue,
        help: .init("An attribute whose VALUE is text, even if it is valid JSON.", valueName: "key=value"))
    var strings: [String] = []

    var remarks: [String] { ValueArguments.remarks(attributes) }

    mutating func validate() throws {
        try Blank.refuse(user, "USER")
        guard !attributes.isEmpty || !strings.isEmpty else {
            throw ValidationError("There is no attribute. Write at least one KEY=VALUE, as in level=7.")
        }
        _ = try members()
    }

    func write(to json: inout JSONWriter) throws { json.member("attributes", .object(try members())) }

    private func members() throws(ValidationError) -> [AttributeValue.Member] {
        try ValueArguments.members(attributes, texts: strings, .attribute)
    }
}

/// USER ATTRIBUTE VALUE: a standard user attribute.
struct UserAttributeArguments: WhatArguments {
    static let path = "user-attribute"

    @Argument(help: .user)
    var user: String

    @Argument(
        help: "email, first_name, last_name, phone, country, language, home_city, gender, dob, …",
        completion: .list(StandardAttribute.allCases.map(\.name)))
    var attribute: String

    @Argument(help: "The value; null unsets the attribute.")
    var value: String

    @Flag(name: .customLong("string"), help: "VALUE is text, even if it is null, true or an object.")
    var isText = false

    var remarks: [String] { [] }

    mutating func validate() throws { try Blank.refuse(user, "USER") }

    func write(to json: inout JSONWriter) throws {
        json.member("attribute", attribute)
        json.member("value", Self.typed(value, isText: isText))
    }

    /// Digits are text, as in a phone number: no standard attribute is a number.
    static func typed(_ value: String, isText: Bool) -> AttributeValue {
        if isText { return .string(value) }
        switch try? JSON.parse(value) {
        case nil, .int, .double: return .string(value)
        case let json?: return json
        }
    }
}

/// USER PRODUCT, price and properties: a purchase.
struct PurchaseArguments: WhatArguments {
    static let path = "purchase"

    @Argument(help: .user)
    var user: String

    @Argument(help: "The product's ID.")
    var product: String

    @Option(parsing: .unconditional, help: "The price of one; negative for a refund.")
    var price: Double

    @Option(help: "Three capital letters, as in EUR.")
    var currency: String

    @Option(parsing: .unconditional, help: "How many, from 1 to 100.")
    var quantity = 1

    @OptionGroup var properties: PropertyOptions

    var remarks: [String] { properties.remarks }

    mutating func validate() throws {
        try Blank.refuse(user, "USER")
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

/// The options that `save` and `log` have in common.
struct WriteOptions: ParsableArguments {
    @Option(
        name: [.long, .customLong("time")], parsing: .unconditional,
        help: .init("When it happened, as in 2026-01-31T23:59:59Z (default: now).", valueName: "time"))
    var at: String?

    @Option(help: .init("An idempotency key: the same write, run again, changes nothing.", valueName: "text"))
    var key: String?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Refuse unless the user is at this version; none: unless the user is unknown.", valueName: "version|none"))
    var expect: String?

    /// Writes what was given, and `what` for `device`, as members of a request's body.
    func write(_ what: some WhatArguments, device: String?, to json: inout JSONWriter) throws {
        json.member("user", what.user)
        json.member("device", device)
        json.member("time", at)
        json.member("key", key)
        if let expect { json.member("expect", Int64(expect).map { .int($0) } ?? .string(expect)) }
        try what.write(to: &json)
    }

    /// The device of a USER of the form `device:ID`; an ID that no device can have is an error of the USER.
    static func device(of user: String) -> String? {
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

/// Refuses names that are not visible: they are slips of a script, such as a variable that is not set between quotation
/// marks.
enum Blank {
    /// Refuses `text` if it is made of white space alone. The API refuses empty text by its length.
    static func refuse(_ text: String, _ place: String) throws(ValidationError) {
        if text.isEmpty || text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) { return }
        throw ValidationError("\(place) is blank. Write something that is visible.")
    }
}
