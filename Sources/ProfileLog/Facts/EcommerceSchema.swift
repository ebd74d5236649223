/// The schema of one of the platform's recommended events for shops: what its properties must be, and the words in
/// which the platform refuses others (spec/rest-api 1.6, 1.9).
///
/// An event that breaks its schema is dropped by the platform, wherever it comes from. Names that only begin with
/// `ecommerce.` are events like every other.
package struct EcommerceSchema: Sendable {
    private let properties: [Property]
    private let kinds: [Name: Kind]

    /// A property that the schema knows, in the order in which those that are missing are named.
    private struct Property: Sendable {
        let name: Name
        let kind: Kind
        let need: Need
    }

    private enum Need: Sendable {
        case required
        case optional
        /// Required unless another property has one of these values.
        case requiredUnless(Name, [String])
    }

    /// The kind of a property.
    private indirect enum Kind: Sendable {
        case text
        /// An amount of money, which cannot be negative.
        case amount
        /// A number of things, which cannot be negative.
        case count
        /// A code of ISO 4217, in either case.
        case currency
        case choice([String])
        case choices([String])
        case object
        case array
        case items(EcommerceSchema)

        /// As in the words of a refusal.
        var typeName: String {
            switch self {
            case .text, .currency, .choice: "string"
            case .amount: "number"
            case .count: "integer"
            case .object: "object"
            case .array, .choices, .items: "array"
            }
        }

        func hasType(of value: AttributeValue) -> Bool {
            typeName == value.typeName || typeName == "number" && value.typeName == "integer"
        }
    }

    /// The reason why an event is dropped.
    package struct Refusal: Hashable, Sendable {
        /// The text, in the platform's words. Names properties, and no values.
        package var text: String
        /// The same without names that the sender chose.
        package var kept: String

        init(_ text: String, kept: String? = nil) {
            self.text = text
            self.kept = kept ?? text
        }
    }

    private init(_ properties: [(Name, Kind, Need)]) {
        self.properties = properties.map { Property(name: $0.0, kind: $0.1, need: $0.2) }
        kinds = Dictionary(uniqueKeysWithValues: properties.map { ($0.0, $0.1) })
    }

    /// Returns the reason why the event is dropped; nil if it has no schema, or keeps to it.
    package static func refusal(of event: CustomEvent) -> Refusal? {
        refusal(ofEvent: event.name, properties: event.properties ?? [])
    }

    /// As ``refusal(of:)``, for properties as they were sent.
    package static func refusal(ofEvent name: Name, properties: [AttributeValue.Member]) -> Refusal? {
        guard name.text.utf8.starts(with: "ecommerce.".utf8) else { return nil }
        return events[name]?.refusal(in: .object(properties), at: "#/")
    }

    // MARK: - Checking

    private func refusal(in value: AttributeValue, at path: String) -> Refusal? {
        guard case .object(let members) = value else { return Self.mismatch(path, value, "object") }
        for property in properties where value[property.name] == nil && isRequired(property, in: value) {
            return Refusal("The property '\(path)' did not contain a required property of '\(property.name)'")
        }
        var others: [String] = []
        for member in members {
            guard let kind = kinds[member.key] else {
                others.append("\"\(member.key.text.printable(80))\"")
                continue
            }
            let place = path == "#/" ? "#/\(member.key)" : "\(path)/\(member.key)"
            if let refusal = Self.refusal(of: member, kind, at: place) { return refusal }
        }
        if others.isEmpty { return nil }
        func text(_ names: String) -> String {
            "The property '\(path)' contains additional properties \(names)outside of the schema when none are allowed"
        }
        return Refusal(text("[\(others.prefix(8).joined(separator: ", "))] "), kept: text(""))
    }

    private func isRequired(_ property: Property, in value: AttributeValue) -> Bool {
        switch property.need {
        case .required: return true
        case .optional: return false
        case .requiredUnless(let name, let values):
            guard case .string(let text)? = value[name] else { return true }
            return !values.contains(text)
        }
    }

    private static func refusal(of member: AttributeValue.Member, _ kind: Kind, at place: String) -> Refusal? {
        let value = member.value
        guard kind.hasType(of: value) else { return mismatch(place, value, kind.typeName) }
        switch (kind, value) {
        case (.amount, .int(..<0)), (.count, .int(..<0)), (.amount, .double(..<0)):
            return Refusal("The property '\(place)' did not have a minimum value of 0, inclusively")
        case (.currency, _) where !CurrencyCodes.all.contains(text(value).uppercased()):
            return Refusal("'\(member.key)' must be an ISO 4217 currency")
        case (.choice(let choices), _) where !choices.contains(text(value)):
            let values = choices.joined(separator: ", ")
            return Refusal("The property '\(place)' did not match one of the following values: \(values)")
        case (.choices(let choices), .array(let elements)):
            for (index, element) in elements.enumerated() {
                let each = AttributeValue.Member(member.key, element)
                if let refusal = refusal(of: each, .choice(choices), at: "\(place)/\(index)") { return refusal }
            }
        case (.items(let schema), .array(let elements)):
            for (index, element) in elements.enumerated() {
                if let refusal = schema.refusal(in: element, at: "\(place)/\(index)") { return refusal }
            }
        default: break
        }
        return nil
    }

    /// A date is text to the platform, and no word of a list.
    private static func text(_ value: AttributeValue) -> String {
        if case .string(let text) = value { text } else { "" }
    }

    private static func mismatch(_ place: String, _ value: AttributeValue, _ type: String) -> Refusal {
        Refusal("The property '\(place)' of type \(value.typeName) did not match the following type: \(type)")
    }
}

// MARK: - The schemas

extension EcommerceSchema {
    private typealias Properties = [(Name, Kind, Need)]

    /// Schemas by the events' names.
    private static let events: [Name: EcommerceSchema] = [
        "ecommerce.product_viewed": EcommerceSchema(
            product + [
                ("price", .amount, .required), ("currency", .currency, .required), ("source", .text, .required),
                ("type", .choices(["price_drop", "back_in_stock"]), .optional),
            ]),
        "ecommerce.cart_updated": EcommerceSchema(
            [
                ("cart_id", .text, .required), ("action", .choice(["add", "remove", "replace"]), .optional),
                ("total_value", .amount, .requiredUnless("action", ["add", "remove"])),
            ] + sale + parts),
        "ecommerce.checkout_started": EcommerceSchema(
            [("checkout_id", .text, .required), ("cart_id", .text, .optional), total] + sale + parts),
        "ecommerce.order_placed": EcommerceSchema(
            [("order_id", .text, .required), ("cart_id", .text, .optional), total] + sale + parts + discounts),
        "ecommerce.order_refunded": EcommerceSchema([("order_id", .text, .required), total] + sale + discounts),
        "ecommerce.order_cancelled": EcommerceSchema(
            [("order_id", .text, .required), ("cancel_reason", .text, .required), total] + sale + parts + discounts),
    ]

    private static let product: Properties = [
        ("product_id", .text, .required), ("product_name", .text, .required), ("variant_id", .text, .required),
        ("image_url", .text, .optional), ("product_url", .text, .optional), ("metadata", .object, .optional),
    ]
    private static let total: (Name, Kind, Need) = ("total_value", .amount, .required)
    /// Members of each event about several products.
    private static let sale: Properties = [
        ("currency", .currency, .required),
        (
            "products",
            .items(EcommerceSchema(product + [("quantity", .count, .required), ("price", .amount, .required)])),
            .required
        ), ("source", .text, .required), ("metadata", .object, .optional),
    ]
    /// The parts of the total.
    private static let parts: Properties = [
        ("subtotal_value", .amount, .optional), ("tax", .amount, .optional), ("shipping", .amount, .optional),
    ]
    private static let discounts: Properties = [
        ("total_discounts", .amount, .optional), ("discounts", .array, .optional),
    ]
}

extension AttributeValue {
    /// The name of its type in JSON.
    fileprivate var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .int: "integer"
        case .double: "number"
        case .string, .date: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}
