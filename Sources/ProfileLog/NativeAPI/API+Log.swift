internal import ProfileLogRequests

/// Logging: effective at once.
extension NativeAPI {
    func logEvent(_ request: APIRequest) async throws -> APIAnswer {
        try await log(request, Self.eventFields) { [.customEventLogged(try Self.customEvent($0))] }
    }

    func logAttributes(_ request: APIRequest) async throws -> APIAnswer {
        try await log(request, Self.attributesFields) {
            try Self.attributeChanges($0).map { .customAttributesChanged($0) }
        }
    }

    func logUserAttribute(_ request: APIRequest) async throws -> APIAnswer {
        try await log(request, Self.userAttributeFields) {
            [.userAttributesChanged([try Self.userAttributeChange($0)])]
        }
    }

    func logPurchase(_ request: APIRequest) async throws -> APIAnswer {
        try await log(request, Self.purchaseFields) { [.purchaseLogged(try Self.purchase($0))] }
    }

    static func purchase(_ fields: Fields) throws -> Purchase {
        let product = Name(try fields.requiredText("product"))
        let currency = try fields.requiredText("currency")
        guard CurrencyCodes.all.contains(currency) else {
            throw APIProblem.invalid("currency", "must be a currency of ISO 4217, in three capital letters")
        }
        guard let price = try fields.number("price") else { throw APIProblem.invalid("price", "is missing") }
        guard let quantity = UInt32(exactly: try fields.integer("quantity") ?? 1) else {
            throw APIProblem.invalid("quantity", "must be from 1 to 100")
        }
        guard Purchase.holdsRevenue(price, times: quantity) else {
            throw APIProblem.invalid("price", "is too large to be added up")
        }
        return Purchase(
            product: product, currency: currency, price: price, quantity: quantity, properties: try properties(fields))
    }

    static let purchaseFields: Set<Name> = ["product", "currency", "price", "quantity", "properties"]
    static let logFields: Set<Name> = ["user", "device", "process", "source", "time"]

    private func log(
        _ request: APIRequest, _ content: Set<Name>, _ events: (Fields) throws -> [ProfileEvent]
    ) async throws -> APIAnswer {
        let fields = try Fields(request.body, Self.conditionFields.union(Self.logFields).union(content))
        let (expected, key) = try Self.conditions(fields, request)
        return try await commit(logging(fields, expected, key, events))
    }

    /// What the fields of a logging say.
    func logging(
        _ fields: Fields, _ expected: ExpectedVersion, _ key: String?, _ events: (Fields) throws -> [ProfileEvent]
    ) throws -> Write {
        let device = try fields.text("device").map { try Identifiers.device($0) }
        guard let user = try fields.text("user").map({ try Identifiers.user($0) }) ?? device.map({ .device($0) }) else {
            throw APIProblem.invalid(
                "user", "is missing", remedy: "Send `user`, or `device` for whoever is on that device.")
        }
        let context = EventContext(
            source: try Self.source(fields), occurredAt: try time(fields),
            process: try fields.text("process").map { Name($0) } ?? DeviceStorage.app, device: device)
        let events = try events(fields)
        return Write(user: user, context: context, events: events, expected: expected, key: key, savedOn: nil)
    }

    /// When it happened: what no device's clock may say is refused here too, from whatever source.
    private func time(_ fields: Fields) throws -> OccurredAt? {
        guard let time = try fields.time("time") else { return nil }
        let last = try log.event(at: log.lastPosition())?.recordedAt.rawValue ?? 0
        let now = max(log.options.now().rawValue, last)
        if let reason = SDKRules.reasonAgainstClock(time.timestamp.rawValue, now: now) {
            throw APIProblem.invalid("time", reason)
        }
        return time
    }

    private static func source(_ fields: Fields) throws -> EventSource {
        guard let name = try fields.text("source") else { return .app }
        guard let source = EventSource(name: name), source != .system, source != .unknown else {
            throw APIProblem.invalid("source", "must be app, extension, rest, import or cli")
        }
        return source
    }
}
