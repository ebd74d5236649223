internal import ArgumentParser
internal import ProfileLog

/// USER NAME and properties: a custom event.
struct EventArguments: ParsableArguments {
    @Argument(help: "USER: an external ID, alias:LABEL:NAME, email:ADDRESS, phone:NUMBER, braze:ID or device:ID.")
    var user: String

    @Argument(help: "The event's name.")
    var name: String

    @OptionGroup var properties: PropertyOptions

    func write(to json: inout JSONWriter) throws {
        json.key("name")
        json.value(name)
        if let properties = try properties.members() {
            json.key("properties")
            json.value(.object(properties))
        }
    }
}

/// USER KEY=VALUE …: custom attributes.
struct AttributeArguments: ParsableArguments {
    @Argument(help: "USER: an external ID, alias:LABEL:NAME, email:ADDRESS, phone:NUMBER, braze:ID or device:ID.")
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

    mutating func validate() throws {
        guard !attributes.isEmpty || !strings.isEmpty else {
            throw ValidationError("There is no attribute. Write at least one KEY=VALUE, as in level=7.")
        }
        _ = try ValueArguments.members(attributes, texts: strings, what: "attribute")
    }

    func write(to json: inout JSONWriter) throws {
        json.key("attributes")
        json.value(.object(try ValueArguments.members(attributes, texts: strings, what: "attribute")))
    }
}

/// USER ATTRIBUTE VALUE: a standard user attribute.
struct UserAttributeArguments: ParsableArguments {
    @Argument(help: "USER: an external ID, alias:LABEL:NAME, email:ADDRESS, phone:NUMBER, braze:ID or device:ID.")
    var user: String

    @Argument(
        help: "email, first_name, last_name, phone, country, language, home_city, gender, dob, …",
        completion: .list(StandardAttribute.allCases.map(\.name)))
    var attribute: String

    @Argument(help: "The value; null unsets the attribute.")
    var value: String

    @Flag(name: .customLong("string"), help: "VALUE is text, even if it is null, true or an object.")
    var isText = false

    func write(to json: inout JSONWriter) throws {
        json.key("attribute")
        json.value(attribute)
        json.key("value")
        json.value(try typedValue())
    }

    /// No standard attribute is a number, so that digits are text here: a phone number, for one.
    private func typedValue() throws -> AttributeValue {
        if isText { return .string(value) }
        switch try? JSON.parse(value) {
        case nil, .int, .double: return .string(value)
        case let json?: return json
        }
    }
}
