/// The events of an online shop that bring revenue or take it back (spec/rest-api 1.6), by the numbers that a store
/// gave to their names.
///
/// `ecommerce.order_placed` adds its `total_value`, and `ecommerce.order_refunded` takes it away. A cancelled order
/// keeps its revenue until it is refunded, as with Braze.
package struct OrderEvents: Hashable, Sendable {
    private let placed: UInt32?
    private let refunded: UInt32?
    private let totalValue: UInt32
    private let currency: UInt32

    /// Returns nil if no event with a value can be among those of the store.
    package init?(_ names: NameMap) {
        placed = names.number("ecommerce.order_placed")
        refunded = names.number("ecommerce.order_refunded")
        guard placed != nil || refunded != nil, let totalValue = names.number("total_value"),
            let currency = names.number("currency")
        else { return nil }
        (self.totalValue, self.currency) = (totalValue, currency)
    }

    /// Tells whether the custom event with this name is an order or a refund.
    package func has(_ name: UInt32) -> Bool { name == placed || name == refunded }

    /// Returns the revenue that the custom event with this name adds; nil if it is no order, or without a value.
    ///
    /// - Parameter fields: the fields of the record after the name.
    @inline(__always)
    func value(of name: UInt32, _ fields: UnsafeRawBufferPointer) -> ProfileState.Revenue? {
        if name == placed { return value(fields, times: 1) }
        if name == refunded { return value(fields, times: -1) }
        return nil
    }

    /// Returns the revenue that the event of `header` adds; nil if it is no order, or without a value.
    package func value(of header: RecordHeader) -> ProfileState.Revenue? {
        var reader = WireReader(header.body)
        guard reader.seek(RecordField.name) else { return nil }
        let name = UInt32(truncatingIfNeeded: reader.varint())
        return value(of: name, reader.rest)
    }

    @inline(never)
    private func value(_ fields: UnsafeRawBufferPointer, times: Int64) -> ProfileState.Revenue? {
        var amount: ExactSum?
        var code: String?
        var reader = WireReader(fields)
        while let entry = reader.bytes(of: RecordField.entries) {
            var property = WireReader(entry)
            guard property.field()?.number == RecordField.Value.name else { continue }
            let name = UInt32(truncatingIfNeeded: property.varint())
            guard name == totalValue || name == currency else { continue }
            switch ValueCodec.read(entry)?.value {
            case .int(let number)? where name == totalValue: amount = ExactSum(number, times: times)
            case .double(let number)? where name == totalValue: amount = ExactSum(number, times: times)
            case .string(let text)? where name == currency: code = Self.currency(text)
            default: break
            }
        }
        guard let amount, let code else { return nil }
        return .init(currency: code, amount: amount)
    }

    /// Three letters, in capitals as those of purchases; nil for other text.
    private static func currency(_ text: String) -> String? {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard text.utf8.count == 3, text.utf8.allSatisfy({ letters.contains($0 | 0x20) }) else { return nil }
        return text.uppercased()
    }
}
