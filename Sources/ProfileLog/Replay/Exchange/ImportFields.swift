/// The members of a line, asked for by name.
@usableFromInline
package struct ImportFields {
    @usableFromInline package let members: [AttributeValue.Member]

    package init(_ members: [AttributeValue.Member]) { self.members = members }

    /// Tells whether a log had the line, and so took what it says: then it is taken again.
    package var wasInLog: Bool { self["position"] != nil }

    /// The member with this name. A line has few, so they are looked at one by one.
    @inlinable
    @inline(__always)
    package subscript(name: String) -> AttributeValue? {
        for member in members where member.key.text == name { return member.value }
        return nil
    }

    package func text(_ name: String) throws(LineRefusal) -> String? {
        switch self[name] {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw .init("\"\(name)\" must be text")
        }
    }

    package func requiredText(_ name: String) throws(LineRefusal) -> String {
        guard let text = try text(name) else { throw .init("it has no \"\(name)\"") }
        return text
    }

    package func user(_ name: String) throws(LineRefusal) -> UserID { UserID(try requiredText(name)) }

    /// Returns the identity of the line: text, or a whole number.
    package func id(_ name: String) throws(LineRefusal) -> String {
        switch self[name] {
        case .string(let text) where !text.isEmpty: return text
        case .int(let number): return "\(number)"
        case nil, .null, .string: throw .init("it has no \"\(name)\"")
        default: throw .init("\"\(name)\" must be text or a whole number")
        }
    }

    /// An idempotency key.
    package func key() throws(LineRefusal) -> String? {
        guard let key = try text("key") else { return nil }
        guard 1...Limits.bytesPerKey ~= key.utf8.count else {
            throw .init("\"key\" must have 1 to \(Limits.bytesPerKey) bytes")
        }
        return key
    }

    package func object(_ name: String) throws(LineRefusal) -> [AttributeValue.Member]? {
        switch self[name] {
        case nil, .null: return nil
        case .object(let members): return members
        default: throw .init("\"\(name)\" must be an object")
        }
    }

    package func attribute(_ name: String) throws(LineRefusal) -> StandardAttribute {
        guard let attribute = StandardAttribute(name: try requiredText(name)) else {
            throw .init("\"\(name)\" names no standard user attribute; a custom one has the kind custom_attribute")
        }
        return attribute
    }

    package func purchase(productKey: String) throws(LineRefusal) -> Purchase {
        let price: Double
        switch self["price"] {
        case .int(let number): price = Double(number)
        case .double(let number): price = number
        default: throw .init("\"price\" must be a number")
        }
        let quantity: UInt32
        switch self["quantity"] {
        case nil, .null: quantity = 1
        case .int(let number) where 1...100 ~= number: quantity = UInt32(number)
        default: throw .init("\"quantity\" must be a whole number from 1 to 100")
        }
        return Purchase(
            product: Name(try requiredText(productKey)), currency: try requiredText("currency"), price: price,
            quantity: quantity,
            properties: try object("properties").map { members throws(LineRefusal) in
                try LineRefusal.reading { () throws(DocumentError) in try ContentJSON.properties(members) }
            })
    }
}
