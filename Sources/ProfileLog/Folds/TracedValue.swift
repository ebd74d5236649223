/// The value of an attribute, each part of it with the event that wrote it and the value before.
package indirect enum TracedValue: Sendable {
    case leaf(AttributeValue, Origin)
    case array([TracedValue], Origin)
    case object([Member], Origin)

    /// The origin of a part of a value.
    package struct Origin: Sendable {
        /// The event.
        package var position: UInt64
        /// The value in its place before, and the event that had written that; nil if there was nothing. Known of what
        /// has no parts: each part of the others knows its own.
        package var replaced: (value: AttributeValue, position: UInt64)?
    }

    /// All of `value` is written by the event at `position`, over `old`.
    package init(_ value: AttributeValue, by position: UInt64, over old: TracedValue? = nil) {
        switch value {
        case .array(let items) where !items.isEmpty:
            var before: [TracedValue] = []
            if case .array(let items, _)? = old { before = items }
            self = .array(
                items.enumerated().map { index, item in
                    TracedValue(item, by: position, over: index < before.count ? before[index] : nil)
                }, Origin(position: position))
        case .object(let members) where !members.isEmpty:
            self = .object(
                members.map { Member($0.key, TracedValue($0.value, by: position, over: old?.member($0.key))) },
                Origin(position: position))
        case .array: self = .array([], Self.origin(position, over: old))
        case .object: self = .object([], Self.origin(position, over: old))
        case .null, .bool, .int, .double, .string, .date: self = .leaf(value, Self.origin(position, over: old))
        }
    }

    private static func origin(_ position: UInt64, over old: TracedValue?) -> Origin {
        Origin(position: position, replaced: old.map { ($0.value, $0.origin.position) })
    }

    /// The value itself.
    package var value: AttributeValue {
        switch self {
        case .leaf(let value, _): value
        case .array(let items, _): .array(items.map(\.value))
        case .object(let members, _): .object(members.map { .init($0.key, $0.value.value) })
        }
    }

    /// The event that last wrote the whole or a part of it, and what was there before.
    package var origin: Origin {
        switch self {
        case .leaf(_, let origin), .array(_, let origin), .object(_, let origin): origin
        }
    }

    /// The member `key` of an object; nil if there is none.
    package func member(_ key: Name) -> TracedValue? {
        guard case .object(let members, _) = self else { return nil }
        let index = members.lowerBound { $0.key < key }
        return index < members.count && members[index].key == key ? members[index].value : nil
    }
}

extension TracedValue: Operand {
    /// A member of an object.
    package struct Member: OperandMember, Sendable {
        package let key: Name
        /// The value under the key.
        package let value: TracedValue

        init(_ key: Name, _ value: TracedValue) { (self.key, self.value) = (key, value) }
    }

    var elements: [TracedValue]? { if case .array(let items, _) = self { items } else { nil } }
    var members: [Member]? { if case .object(let members, _) = self { members } else { nil } }

    static func new(_ values: [AttributeValue], by position: UInt64) -> [TracedValue] {
        values.map { TracedValue($0, by: position) }
    }
    static func array(_ elements: [TracedValue], by position: UInt64, over old: TracedValue?) -> TracedValue {
        .array(elements, elements.isEmpty ? origin(position, over: old) : Origin(position: position))
    }
    static func object(_ members: [Member], by position: UInt64, over old: TracedValue) -> TracedValue {
        .object(members, members.isEmpty ? origin(position, over: old) : Origin(position: position))
    }

    /// An operation of the event at `position`, by the attribute's policy.
    package struct Step: Sendable {
        package let operation: AttributeOperation
        package let policy: AttributePolicy
        package let position: UInt64

        init(_ operation: AttributeOperation, _ policy: AttributePolicy, by position: UInt64) {
            (self.operation, self.policy, self.position) = (operation, policy, position)
        }

        /// Returns the part of `operation` that the rule of the attribute admits; nil if that refuses it.
        package init?(
            _ operation: AttributeOperation, on key: FieldKey, under rules: BoundRules, by position: UInt64
        ) {
            let rule = rules.rule(of: key) ?? AttributeRule()
            guard let fitting = rule.fitting(operation) else { return nil }
            self.init(fitting, rule.policy, by: position)
        }

        /// The elements that it adds to an array, if it does that only.
        fileprivate var added: [TracedValue]? {
            guard policy != .setUnion, case .arrayAdd(let values) = operation else { return nil }
            return TracedValue.new(values, by: position)
        }
    }

    /// The value after `steps`, by the rules of `AttributeFold`. What a step does not write keeps its origin. Elements
    /// that were added one after the other cost one pass.
    package func applying(_ steps: [Step]) -> TracedValue {
        var value = self
        var rest = steps[...]
        while let step = rest.popFirst() {
            if var added = step.added, let array = value.elements {
                var last = step.position
                while let next = rest.first, let more = next.added {
                    added += more
                    last = rest.removeFirst().position
                }
                value = .array(AttributeFold.add(added, added.map(\.value), to: array), by: last, over: value)
            } else {
                value = step.policy.value(of: step.operation, on: value, by: step.position) ?? value
            }
        }
        return value
    }
}

extension ProfileProjection {
    /// As `apply(_:to:)`, and tells the attributes that the event may have written; nil if that is none.
    package static func applyTracing(_ event: borrowing EventView, to state: inout ProfileState) -> Written? {
        apply(event, to: &state)
        switch event.kind?.role {
        case .content(let content, let timing):
            let isEffective = timing == .logged || event.effect != event.position
            return isEffective ? Written(content, event.header.body) : nil
        case .identity: return Written()
        case .device, .outcome, .message, .note, nil: return nil
        }
    }

    /// The attributes that an event or an item may have written or removed: a fold that looks at all attributes after
    /// each event would cost the product of both.
    package struct Written {
        /// The custom attributes.
        package private(set) var keys: [FieldKey] = []
        /// Tells whether standard attributes may be written too: any of them, as an address changes others.
        package private(set) var hasStandard = false

        /// Tells whether it may have written `key`.
        package func mayHave(_ key: FieldKey) -> Bool { key.isCustom ? keys.contains(key) : hasStandard }

        /// The attributes that an event about identities may write: standard ones only.
        fileprivate init() { hasStandard = true }

        fileprivate init(_ content: EventRole.Content, _ body: UnsafeRawBufferPointer) {
            hasStandard = content == .userAttributes
            guard content == .customAttributes else { return }
            var reader = WireReader(body)
            while let bytes = reader.bytes(of: RecordField.entries) {
                var entry = WireReader(bytes)
                guard let first = entry.field(), first.number == RecordField.Value.name else { continue }
                keys.append(FieldKey(custom: UInt32(truncatingIfNeeded: entry.varint())))
            }
        }
    }
}
