internal import ProfileLogRequests

/// Something that can be saved or logged: an endpoint below `/v1`, and a kind of items of a batch.
struct WriteKind: Sendable {
    /// As in the path and in the member `kind` of an item.
    let name: String
    let summary: String
    /// Reads its events from the fields of a request.
    let events: @Sendable (Fields) throws -> [ProfileEvent]

    static let all = [
        WriteKind(save: "event", "save a custom event on a device", event) {
            [.customEventSaved(try $0.customEvent())]
        },
        WriteKind(save: "attributes", "save custom attributes on a device", attributes) {
            try $0.attributeChanges().map { .customAttributesSaved($0) }
        },
        WriteKind(save: "user-attribute", "save a user attribute on a device", userAttribute) {
            [.userAttributeSaved(try $0.userAttributeChange(isImported: $0.flag("imported")))]
        },
        WriteKind(log: "event", "log a custom event, effective at once", event) {
            [.customEventLogged(try $0.customEvent())]
        },
        WriteKind(log: "attributes", "change custom attributes at once", attributes) {
            try $0.attributeChanges().map { .customAttributesChanged($0) }
        },
        WriteKind(log: "user-attribute", "change a user attribute at once", userAttribute) {
            [.userAttributesChanged([try $0.userAttributeChange()])]
        },
        WriteKind(
            log: "purchase", "log a purchase, effective at once",
            [
                .required("product"), .required("currency"), .required("price", .number), .init("quantity", .integer),
                .init("properties", .object),
            ]
        ) { [.purchaseLogged(try $0.purchase())] },
    ]

    static let event: [EndpointInput] = [.required("name"), .init("properties", .object)]
    static let attributes: [EndpointInput] = [.required("attributes", .object), .init("_merge_objects", .boolean)]
    static let userAttribute: [EndpointInput] = [.required("attribute"), .required("value", .any)]

    /// Tells whether it waits on a device for a launch; else it is effective at once.
    let isSaved: Bool

    /// All fields of a request.
    let inputs: [EndpointInput]
    /// The members of an item of a batch.
    let itemFields: Set<Name>

    private init(
        save item: String, _ summary: String, _ content: [EndpointInput],
        _ events: @escaping @Sendable (Fields) throws -> [ProfileEvent]
    ) {
        let own: [EndpointInput] = [
            .init("app_group"), .init("private", .boolean), .init("item"), .init("imported", .boolean),
        ]
        self.init("save/\(item)", isSaved: true, summary, own + content, events)
    }

    private init(
        log item: String, _ summary: String, _ content: [EndpointInput],
        _ events: @escaping @Sendable (Fields) throws -> [ProfileEvent]
    ) {
        self.init("log/\(item)", isSaved: false, summary, [.init("source")] + content, events)
    }

    private init(
        _ name: String, isSaved: Bool, _ summary: String, _ content: [EndpointInput],
        _ events: @escaping @Sendable (Fields) throws -> [ProfileEvent]
    ) {
        (self.name, self.isSaved, self.summary, self.events) = (name, isSaved, summary, events)
        let common: [EndpointInput] = [
            .init("user"), .init("time"), .init("device"), .init("process"), .init("key"), .init("expect", .any),
        ]
        inputs = common + content
        itemFields = Set(inputs.map { Name($0.name) }).subtracting(["key"]).union(["kind"])
    }
}

// MARK: - What is saved or logged

extension Fields {
    func customEvent() throws -> CustomEvent {
        CustomEvent(name: Name(try requiredText("name")), properties: try properties())
    }

    func properties() throws -> [AttributeValue.Member]? {
        try object("properties").map { try ContentReader.properties($0) }
    }

    /// The changes that `attributes` asks for, as lists that become events one after the other.
    func attributeChanges() throws -> [[AttributeChange]] {
        try ContentReader.changes(required("attributes", object), merging: try flag("_merge_objects"))
    }

    /// - Parameter isImported: whether a real device had saved it: then it is stored unchanged.
    func userAttributeChange(isImported: Bool = false) throws -> UserAttributeChange {
        let name = try requiredText("attribute")
        guard let value = value("value") else {
            if StandardAttribute(name: name) == nil { throw APIError.unknownAttribute(name) }
            throw APIError.invalid("value", "is missing", remedy: "Send null to unset the attribute.")
        }
        return try ContentReader.userAttribute(name, value, asItIs: isImported)
    }

    func purchase() throws -> Purchase {
        let product = Name(try requiredText("product"))
        let currency = try requiredText("currency")
        let price = try required("price", number)
        guard let quantity = UInt32(exactly: try integer("quantity") ?? 1) else {
            throw APIError.invalid("quantity", "must be from 1 to 100")
        }
        return try ContentReader.checked(
            Purchase(
                product: product, currency: currency, price: price, quantity: quantity, properties: try properties()))
    }
}

extension UserAttributeChange {
    /// Reads the content of a request of the native API, by the rules that `/users/track` has for each attribute
    /// (spec/rest-api 1.4): what is dropped or cleared there is refused here.
    ///
    /// The value stays as it was written, but for the name of a country, which becomes its code. Where a date belongs,
    /// a `$time` is one.
    init(_ attribute: StandardAttribute, requested value: AttributeValue) throws(APIError) {
        switch (attribute, value) {
        case (_, .null), (.dateOfBirth, .date), (.dateOfFirstSession, .date), (.dateOfLastSession, .date),
            (.markedEmailAsSpamAt, .date):
            self.init(attribute, value)
        case (.email, _):
            guard let text = value.asText, ContactForm.isEmail(text) else {
                throw .invalid(attribute, "must be an e-mail address")
            }
            self.init(attribute, value)
        case (.phone, _):
            guard let text = value.asText, ContactForm.isPhone(text) else {
                throw .invalid(attribute, "must be a phone number: digits, with + in front if you like")
            }
            self.init(attribute, value)
        default:
            let kept: AttributeValue
            do {
                kept = try ReservedField.value(value, of: attribute) { OccurredAt(iso8601: $0) }
            } catch {
                switch error {
                case .field(let reason), .object(let reason, _): throw .invalid(attribute, reason)
                }
            }
            if kept == .null { throw .invalid(attribute, "is neither a code of ISO 3166-1 nor an English name") }
            self.init(attribute, attribute == .country ? kept : value)
        }
    }
}

extension APIError {
    fileprivate static func invalid(_ attribute: StandardAttribute, _ reason: String) -> APIError {
        APIError(AppendError.invalid(place: "The user attribute \(attribute.name)", reason: reason))
    }
}
