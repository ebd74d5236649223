internal import ProfileLogMessaging
internal import ProfileLogRequests

/// One object of a track request, read and found to be valid.
struct TrackObject {
    var target: TrackTarget
    /// Events in the order in which they take effect.
    var events: [ProfileEvent] = []
    var context: EventContext
    /// Fields that were skipped, with the reason.
    var dropped: [(field: String, reason: String)] = []
    /// The reason why nothing of it is stored, although it is valid; nil if it is.
    var blocked: String?
    /// The push tokens that make a user each; empty if it is about the target.
    var imports: [AttributeValue] = []
    /// Values sent for custom attributes whose text reads as a time.
    var dateTexts: [Name: String] = [:]
    /// The parts of a profile that it is about, for the answer of the synchronous endpoint.
    var touched: Touched

    enum Touched {
        case customAttributes([Name])
        case customEvent(Name)
        case product(Name)
    }
}

extension TrackObject {
    /// Takes back all that is done to custom attributes, each for a reason.
    mutating func leaveAlone(_ reasons: [Name: String]) {
        if reasons.isEmpty { return }
        events = events.compactMap { event in
            guard case .customAttributesChanged(let changes) = event else { return event }
            let others = changes.filter { reasons[$0.name] == nil }
            return others.isEmpty ? nil : .customAttributesChanged(others)
        }
        // In place of all that was said of them before.
        dropped.removeAll { reasons[Name($0.field)] != nil }
        dropped += reasons.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) }
    }
}

/// Reads the objects of a track request. Knows the wire and the domain; no store, no clock.
struct TrackReader {
    let workspace: Workspace
    /// The current time: an event cannot be later.
    let now: Timestamp
    /// The body of the request; nil for objects of `attributes` that were read already.
    var sent: SentOrder?

    var limits: TrackLimits { workspace.limits }

    /// - Parameter index: the place of `value` in `array`.
    func object(_ value: AttributeValue, in array: TrackArray, at index: Int) throws(TrackError) -> TrackObject {
        guard case .object(let members) = value else { throw .object("must be an object") }
        if array == .attributes, try value.optional(WireNames.pushTokenImport, { $0.asFlag }) == true {
            return try pushTokenImport(value, members)
        }
        let target = try TrackTarget(value)
        return switch array {
        case .attributes: try attributes(value, members, target)
        case .events: try event(value, target, index)
        case .purchases: try purchase(value, target, index)
        }
    }

    /// Tells whether `value` takes more than `limit` bytes as JSON.
    func isLarger(_ value: AttributeValue, than limit: Int) -> Bool {
        (sent?.request.count ?? .max) > limit && value.jsonByteCount > limit  // most need no measuring
    }

    /// A name that an event, an app or a product may have; nil if it may not.
    func name(_ value: AttributeValue) -> String? {
        value.asText.flatMap { $0.isEmpty || $0.isLonger(than: limits.charactersPerName) ? nil : $0 }
    }

    /// An event or a purchase, with when and in which app it happened.
    func happening(
        _ object: AttributeValue, _ target: TrackTarget, _ touched: TrackObject.Touched
    ) throws(TrackError) -> TrackObject {
        let context = EventContext(source: .rest, occurredAt: try TrackTime.occurredAt(object, now: now))
        var read = TrackObject(target: target, context: context, touched: touched)
        guard object[WireNames.appID] != .string(""), let id = try object.optional(WireNames.appID, name) else {
            return read
        }
        if workspace.knowsApp(id) {
            read.context.app = id
        } else {
            read.dropped.append((WireNames.appID.text, "is no app of the workspace"))
        }
        return read
    }
}

// MARK: - Attributes

/// The objects of `attributes` (spec/rest-api 1.4, 1.5).
extension TrackReader {
    func attributes(
        _ object: AttributeValue, _ members: [AttributeValue.Member], _ target: TrackTarget
    ) throws(TrackError) -> TrackObject {
        if isLarger(object, than: limits.bytesPerAttributesObject) {
            throw .object("the object is larger than \(TrackLimits.shown(bytes: limits.bytesPerAttributesObject))")
        }
        let merging = try object.optional(WireNames.mergeObjects) { $0.asFlag } ?? false
        let attribute = CustomAttribute(reader: self, merging: merging)
        var read = TrackObject(
            target: target, context: EventContext(source: .rest), touched: .customAttributes([]))
        var standard: [UserAttributeChange] = []
        /// Changes by their turn: an attribute is in an event once.
        var custom: [[AttributeChange]] = []
        var names: [Name] = []
        for member in members where !WireNames.notAttributes.contains(member.key) {
            do throws(TrackError) {
                if let reserved = ReservedField.attribute(member.key) {
                    standard.append(try change(reserved, member.value, &read))
                    continue
                }
                names.append(member.key)
                if workspace.blockedAttributes.contains(member.key) {
                    throw TrackError.field("is on the blocklist of the workspace")
                }
                let reading = try attribute.read(member.key, member.value)
                if case .string(let text) = member.value, case .set(.date) = reading.operations.first {
                    read.dateTexts[member.key] = text
                }
                if let note = reading.note { read.dropped.append((member.key.text, note)) }
                for (turn, operation) in reading.operations.enumerated() {
                    if turn == custom.count { custom.append([]) }
                    custom[turn].append(.init(member.key, operation))
                }
            } catch .field(let reason) {
                read.dropped.append((Self.shown(member.key), reason))
            }
        }
        for name in names where name.text.utf8.first == UInt8(ascii: "_") {
            let known = [WireNames.updateExistingOnly, WireNames.mergeObjects].map(\.text)
            guard let meant = NearestNames(to: name.text, among: known).close.first else { continue }
            read.dropped.append((Self.shown(name), "is stored as an attribute: did you mean '\(meant)'?"))
        }
        if !standard.isEmpty { read.events.append(.userAttributesChanged(standard)) }
        read.events += custom.map { .customAttributesChanged($0) }
        read.touched = .customAttributes(names)
        return read
    }

    private func change(
        _ attribute: StandardAttribute, _ value: AttributeValue, _ read: inout TrackObject
    ) throws(TrackError) -> UserAttributeChange {
        var kept = try ReservedField.value(value, of: attribute)
        if attribute == .pushTokens { kept = try pushTokens(kept, &read) }
        if attribute == .subscriptionGroups, !workspace.subscriptionGroups.isEmpty {
            for id in SubscriptionStates(kept).ids where workspace.subscriptionGroup(id) == nil {
                throw .field("names a subscription group that the workspace does not have")
            }
        }
        if kept == .null, value != .null {
            read.dropped.append((attribute.name, "is not known, so the field was cleared"))
        }
        return .init(attribute, kept)
    }

    /// Push tokens of apps that the workspace has, each with a device.
    private func pushTokens(_ value: AttributeValue, _ read: inout TrackObject) throws(TrackError) -> AttributeValue {
        guard let tokens = value.asArray, !tokens.isEmpty else { return value }
        let known = tokens.filter { workspace.knowsApp($0[WireNames.appID]?.asText ?? "") }
        if known.isEmpty { throw .field("names no app of the workspace") }
        if known.count < tokens.count {
            read.dropped.append((StandardAttribute.pushTokens.name, "names an app that the workspace does not have"))
        }
        return .array(known.map(Self.withDevice))
    }

    /// A token that names no device gets one, made of itself: the same each time.
    private static func withDevice(_ token: AttributeValue) -> AttributeValue {
        guard case .object(let members) = token, (token.present(WireNames.deviceID) ?? .string("")) == .string(""),
            let device = PushToken(token)?.deviceID
        else { return token }
        let others = members.filter { $0.key != WireNames.deviceID }
        return .object(
            (others + [.init(WireNames.deviceID, .string(device))]).sorted { $0.key < $1.key })
    }

    /// A field's name for an answer: not longer than a name may be.
    static func shown(_ name: Name) -> String { name.text.shown }

    /// A property's name for an answer.
    static func shown(property name: Name) -> String { "properties.\(shown(name))" }
}

/// Objects of `attributes` with `push_token_import` (spec/rest-api 1.3).
extension TrackReader {
    /// Reads the facts about each user that the tokens make. An address among them is an attribute, and no identifier.
    func pushTokenImport(
        _ object: AttributeValue, _ members: [AttributeValue.Member]
    ) throws(TrackError) -> TrackObject {
        for name in [WireNames.externalID, WireNames.brazeID, WireNames.userAlias] where object.present(name) != nil {
            throw .object("'\(name.text)' is not allowed with 'push_token_import'")
        }
        let field = StandardAttribute.pushTokens.name
        guard object.present(Name(field)) != nil else { throw .required(field) }
        var read = try attributes(object, members, TrackTarget(user: .device(""), updatesOnly: false))
        for case .userAttributesChanged(let changes) in read.events {
            read.imports += changes.first { $0.attribute == .pushTokens }?.value.asArray ?? []
        }
        guard let first = read.imports.first else { throw .notValid(field) }
        read.target.user = .device(first[WireNames.deviceID]?.asText ?? "")
        return read
    }
}

// MARK: - Events and purchases

/// The objects of `events` and `purchases` (spec/rest-api 1.6, 1.7).
extension TrackReader {
    /// Notes the members of an event or a purchase that are misspelt.
    private func noteMisspelt(_ object: AttributeValue, among known: Set<Name>, _ read: inout TrackObject) {
        guard case .object(let members) = object, members.contains(where: { !known.contains($0.key) }) else { return }
        for each in Misspelling.all(in: object, among: known.map(\.text).sorted()) {
            read.dropped.append((each.member ?? "", each.reason))
        }
    }

    func event(_ object: AttributeValue, _ target: TrackTarget, _ index: Int) throws(TrackError) -> TrackObject {
        let name = Name(try object.required(WireNames.name, name))
        if name.text.utf8.first == UInt8(ascii: "$") { throw .notValid("name") }
        var read = try happening(object, target, .customEvent(name))
        let properties = try properties(object, in: .events, at: index, &read)
        if case .object(let sent) = Self.properties(object) ?? .object([]),
            let refusal = EcommerceSchema.refusal(ofEvent: name, properties: sent)
        {
            throw .object(refusal.text, kept: refusal.kept)
        }
        noteMisspelt(object, among: WireNames.ofEvents, &read)
        if workspace.blockedEvents.contains(name) { read.blocked = "the event is on the blocklist of the workspace" }
        read.events = [.customEventLogged(CustomEvent(name: name, properties: properties))]
        return read
    }

    func purchase(_ object: AttributeValue, _ target: TrackTarget, _ index: Int) throws(TrackError) -> TrackObject {
        let product = try object.required(WireNames.productID) { value in
            if case .int(let number) = value { String(number) } else { name(value) }
        }
        let currency = try object.required(WireNames.currency) { value in
            value.asText.map { $0.uppercased() }.flatMap { CurrencyCodes.all.contains($0) ? $0 : nil }
        }
        let price = try object.required(WireNames.price) { $0.asNumber }
        let quantity =
            try object.optional(WireNames.quantity) { value in
                value.asInteger.flatMap { (1...100).contains($0) ? UInt32($0) : nil }
            } ?? 1
        guard Purchase.holdsRevenue(price, times: quantity) else { throw .notValid("price") }
        var read = try happening(object, target, .product(Name(product)))
        let properties = try properties(object, in: .purchases, at: index, &read)
        noteMisspelt(object, among: WireNames.ofPurchases, &read)
        read.events = [
            .purchaseLogged(
                Purchase(
                    product: Name(product), currency: currency, price: price, quantity: quantity,
                    properties: properties))
        ]
        return read
    }

    /// The properties without those that break a rule of their own; nil if there are none.
    private func properties(
        _ object: AttributeValue, in array: TrackArray, at index: Int, _ read: inout TrackObject
    ) throws(TrackError) -> [AttributeValue.Member]? {
        guard let value = Self.properties(object) else { return nil }
        guard case .object(var members) = value, !isLarger(value, than: limits.bytesPerProperties) else {
            throw TrackError.invalidProperties
        }
        if members.count > limits.properties { members = sent?.arranged(members, array, index) ?? members }
        let reserved = WireNames.reservedProperties[array]
        var kept: [AttributeValue.Member] = []
        for member in members {
            let key = member.key.text
            if reserved.contains(member.key) || key.isEmpty || key.utf8.first == UInt8(ascii: "$")
                || key.isLonger(than: limits.charactersPerName)
            {
                throw TrackError.invalidProperties
            }
            do throws(TrackError) {
                guard kept.count < limits.properties else {
                    throw TrackError.field("is beyond the \(limits.properties) properties that are kept")
                }
                kept.append(.init(member.key, try property(member.value)))
            } catch .field(let reason) {
                read.dropped.append((Self.shown(property: member.key), reason))
            }
        }
        return members.count > limits.properties ? kept.sorted { $0.key < $1.key } : kept
    }

    /// The properties as they were sent. PHP writes an object without members as an array.
    private static func properties(_ object: AttributeValue) -> AttributeValue? {
        object.present(WireNames.properties).map { $0 == .array([]) ? .object([]) : $0 }
    }

    private func property(_ value: AttributeValue) throws(TrackError) -> AttributeValue {
        let checked = try NestedValue(limits: limits, isAttribute: false).checked(value)
        return checked.asText.map(TrackTime.value) ?? checked
    }
}
