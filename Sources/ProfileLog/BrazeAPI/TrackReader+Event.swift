internal import ProfileLogRequests

/// The objects of `events` and `purchases` (spec/rest-api 1.6, 1.7).
extension TrackReader {
    func event(_ object: AttributeValue, _ target: TrackTarget, _ index: Int) throws(TrackFault) -> TrackObject {
        guard let value = object.present(WireNames.name) else { throw .required("name") }
        let name = Name(try name(value, WireNames.name))
        if name.text.utf8.first == UInt8(ascii: "$") { throw .notValid("name") }
        var read = try happening(object, target, .customEvent(name))
        let properties = try properties(object, in: .events, at: index, &read)
        if let schema = EcommerceSchema.events[name],
            let fault = schema.fault(in: Self.properties(object) ?? .object([]))
        {
            throw fault
        }
        if workspace.blockedEvents.contains(name) { read.blocked = "the event is on the blocklist of the workspace" }
        read.events = [.customEventLogged(CustomEvent(name: name, properties: properties))]
        return read
    }

    func purchase(_ object: AttributeValue, _ target: TrackTarget, _ index: Int) throws(TrackFault) -> TrackObject {
        let product = Name(try product(object))
        let currency = try currency(object)
        guard let priceValue = object.present(WireNames.price) else { throw .required("price") }
        guard let price = priceValue.asNumber else { throw .notValid("price") }
        var quantity: UInt32 = 1
        if let value = object.present(WireNames.quantity) {
            guard let number = value.asInteger, (1...100).contains(number) else { throw .notValid("quantity") }
            quantity = UInt32(number)
        }
        guard Purchase.holdsRevenue(price, times: quantity) else { throw .notValid("price") }
        var read = try happening(object, target, .product(product))
        let properties = try properties(object, in: .purchases, at: index, &read)
        read.events = [
            .purchaseLogged(
                Purchase(
                    product: product, currency: currency, price: price, quantity: quantity, properties: properties))
        ]
        return read
    }

    private func product(_ object: AttributeValue) throws(TrackFault) -> String {
        guard let value = object.present(WireNames.productID) else { throw .required("product_id") }
        if case .int(let number) = value { return String(number) }
        return try name(value, WireNames.productID)
    }

    private func currency(_ object: AttributeValue) throws(TrackFault) -> String {
        guard let value = object.present(WireNames.currency) else { throw .required("currency") }
        guard let code = value.asText?.uppercased(), CurrencyCodes.all.contains(code) else {
            throw .notValid("currency")
        }
        return code
    }

    /// The properties without those that break a rule of their own; nil if there are none.
    private func properties(
        _ object: AttributeValue, in array: TrackArray, at index: Int, _ read: inout TrackObject
    ) throws(TrackFault) -> [AttributeValue.Member]? {
        guard let value = Self.properties(object) else { return nil }
        guard case .object(var members) = value, !isLarger(value, than: limits.bytesPerProperties) else {
            throw TrackFault.invalidProperties
        }
        if members.count > limits.properties { members = inSentOrder(members, array, index) }
        let reserved = WireNames.reservedProperties[array]
        var kept: [AttributeValue.Member] = []
        for member in members {
            let key = member.key.text
            if reserved.contains(member.key) || key.isEmpty || key.utf8.first == UInt8(ascii: "$")
                || key.isLonger(than: limits.charactersPerName)
            {
                throw TrackFault.invalidProperties
            }
            do throws(TrackFault) {
                guard kept.count < limits.properties else {
                    throw TrackFault.field("is beyond the \(limits.properties) properties that are kept")
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

    private func property(_ value: AttributeValue) throws(TrackFault) -> AttributeValue {
        let checked = try NestedValue(limits: limits, isAttribute: false).checked(value)
        return checked.asText.map(TrackTime.value) ?? checked
    }
}
