/// The target of an operation: a value, or one whose parts know which events wrote them (`TracedValue`).
///
/// The operations are written once (`AttributeFold`), and say of each part whether they write it or keep it.
protocol Operand {
    /// The event that does the operation, as far as the values know it.
    associatedtype Writer
    /// A member of an object.
    associatedtype Member: OperandMember where Member.Value == Self

    /// The value only.
    var value: AttributeValue { get }
    /// The elements of an array; nil for other values.
    var elements: [Self]? { get }
    /// The members of an object; nil for other values.
    var members: [Member]? { get }

    /// All of `value` is written, in place of `old`.
    init(_ value: AttributeValue, by writer: Writer, over old: Self?)
    /// Values that are written where nothing was.
    static func new(_ values: [AttributeValue], by writer: Writer) -> [Self]
    /// An array in place of `old`, some of whose elements were kept.
    static func array(_ elements: [Self], by writer: Writer, over old: Self?) -> Self
    /// An object in place of `old`, some of whose members were kept.
    static func object(_ members: [Member], by writer: Writer, over old: Self) -> Self
}

/// A member of an `Operand`.
protocol OperandMember {
    associatedtype Value
    var key: Name { get }
    var value: Value { get }
    init(_ key: Name, _ value: Value)
}

extension AttributeValue.Member: OperandMember {}

extension AttributeValue: Operand {
    var value: AttributeValue { self }
    var elements: [AttributeValue]? { if case .array(let elements) = self { elements } else { nil } }
    var members: [Member]? { if case .object(let members) = self { members } else { nil } }

    init(_ value: AttributeValue, by writer: Void, over old: AttributeValue?) { self = value }
    static func new(_ values: [AttributeValue], by writer: Void) -> [AttributeValue] { values }
    static func array(_ elements: [AttributeValue], by writer: Void, over old: AttributeValue?) -> AttributeValue {
        .array(elements)
    }
    static func object(_ members: [Member], by writer: Void, over old: AttributeValue) -> AttributeValue {
        .object(members)
    }
}
