internal import ArgumentParser
internal import ProfileLog

/// USER, and what is saved or logged for them.
protocol WhatArguments: ParsableArguments {
    var user: String { get }

    /// What to know about the values beside what became of them.
    var remarks: [String] { get }

    /// Writes all but the user as members of a request's body.
    func write(to json: inout JSONWriter) throws
}

/// USER NAME and properties: a custom event.
struct EventArguments: WhatArguments {
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
    @Argument(help: .user)
    var user: String

    @Argument(
        help: ArgumentHelp(
            "Attributes; VALUE is JSON if it is valid JSON, else text. null unsets, '{\"inc\":1}' increments.",
            valueName: "key=value"))
    var attributes: [String] = []

    @Option(
        name: .customLong("string"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("An attribute whose VALUE is text, whatever it looks like.", valueName: "key=value"))
    var strings: [String] = []

    var remarks: [String] { ValueArguments.remarks(attributes) }

    mutating func validate() throws {
        try Blank.refuse(user, "USER")
        guard !attributes.isEmpty || !strings.isEmpty else {
            throw ValidationError("There is no attribute. Write at least one KEY=VALUE, as in level=7.")
        }
        _ = try members()
    }

    func write(to json: inout JSONWriter) throws {
        json.key("attributes")
        json.value(.object(try members()))
    }

    private func members() throws(ValidationError) -> [AttributeValue.Member] {
        try ValueArguments.members(attributes, texts: strings, .attribute)
    }
}

/// USER ATTRIBUTE VALUE: a standard user attribute.
struct UserAttributeArguments: WhatArguments {
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
        json.key("value")
        json.value(Self.typed(value, isText: isText))
    }

    /// No standard attribute is a number, so that digits are text here: a phone number, for one.
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
    @Argument(help: .user)
    var user: String

    @Argument(help: "The product's ID.")
    var product: String

    @Option(name: .long, parsing: .unconditional, help: "The price of one; negative for a refund.")
    var price: Double

    @Option(name: .long, help: "Three capital letters, as in EUR.")
    var currency: String

    @Option(name: .long, parsing: .unconditional, help: "How many, from 1 to 100.")
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
        json.key("price")
        json.value(price)
        json.member("currency", currency)
        json.key("quantity")
        json.value(quantity)
        try properties.write(to: &json)
    }
}
