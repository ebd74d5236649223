internal import ProfileLogRequests

/// What the properties of an `ecommerce.*` event must be, and the words in which Braze refuses others (spec/rest-api
/// 1.6, 1.9).
struct EcommerceSchema: Sendable {
    /// In the order in which they are missed.
    private let required: [(name: Name, kind: Kind)]
    private let kinds: [Name: Kind]

    /// What a property is.
    private indirect enum Kind: Sendable {
        case string, integer, number, object, array, any
        case objects(EcommerceSchema)

        /// As in the words of a refusal.
        var name: String {
            switch self {
            case .objects: "array"
            default: "\(self)"
            }
        }

        func takes(_ value: AttributeValue) -> Bool {
            switch (self, value) {
            case (.any, _), (.string, .string), (.integer, .int), (.number, .int), (.number, .double),
                (.object, .object), (.array, .array), (.objects, .array):
                true
            default: false
            }
        }
    }

    private init(_ required: [(Name, Kind)], optional: [Name: Kind]) {
        self.required = required.map { (name: $0.0, kind: $0.1) }
        kinds = Dictionary(required, uniquingKeysWith: { first, _ in first }).merging(optional) { first, _ in first }
    }

    /// What is wrong with `properties`, which are at `path`; nil if nothing is. Names properties, and no values.
    func fault(in properties: AttributeValue, at path: String = "#/") -> TrackFault? {
        guard case .object(let members) = properties else {
            return Self.mismatch(path, properties, .object)
        }
        for (name, _) in required where properties[name] == nil {
            return .object("The property '\(path)' did not contain a required property of '\(name)'")
        }
        var others: [String] = []
        for member in members {
            guard let kind = kinds[member.key] else {
                others.append("\"\(APIProblem.shown(member.key.text))\"")
                continue
            }
            let place = path == "#/" ? "#/\(member.key)" : "\(path)/\(member.key)"
            guard kind.takes(member.value) else { return Self.mismatch(place, member.value, kind) }
            guard case .objects(let schema) = kind else { continue }
            for (index, element) in (member.value.asArray ?? []).enumerated() {
                if let fault = schema.fault(in: element, at: "\(place)/\(index)") { return fault }
            }
        }
        if others.isEmpty { return nil }
        func text(_ names: String) -> String {
            "The property '\(path)' contains additional properties \(names)outside of the schema when none are allowed"
        }
        return .object(text("[\(others.prefix(8).joined(separator: ", "))] "), kept: text(""))
    }

    private static func mismatch(_ place: String, _ value: AttributeValue, _ kind: Kind) -> TrackFault {
        .object("The property '\(place)' of type \(value.typeName) did not match the following type: \(kind.name)")
    }

    /// The schemas by the events' names. Other names that begin with `ecommerce.` are events like every other.
    static let events: [Name: EcommerceSchema] = [
        "ecommerce.product_viewed": EcommerceSchema(
            product + [("price", .number), ("currency", .string), ("source", .string)],
            optional: aboutProduct.merging(["type": .any]) { first, _ in first }),
        "ecommerce.cart_updated": order([("cart_id", .string)]),
        "ecommerce.checkout_started": order([("checkout_id", .string)]),
        "ecommerce.order_placed": order([("order_id", .string)]),
        "ecommerce.order_refunded": order([("order_id", .string)]),
        "ecommerce.order_cancelled": order([("order_id", .string), ("cancel_reason", .string)]),
    ]

    private static let product: [(Name, Kind)] = [
        ("product_id", .string), ("product_name", .string), ("variant_id", .string),
    ]
    private static let aboutProduct: [Name: Kind] = [
        "image_url": .string, "product_url": .string, "sku": .string, "metadata": .object,
    ]

    /// What has a value and products.
    private static func order(_ ids: [(Name, Kind)]) -> EcommerceSchema {
        let line = EcommerceSchema(product + [("quantity", .integer), ("price", .number)], optional: aboutProduct)
        return EcommerceSchema(
            ids + [("total_value", .number), ("currency", .string), ("products", .objects(line)), ("source", .string)],
            optional: [
                "cart_id": .string, "subtotal_value": .number, "tax": .number, "shipping": .number,
                "total_discounts": .number, "discounts": .array, "action": .string, "metadata": .object,
            ])
    }
}

extension AttributeValue {
    /// What JSON calls it.
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
