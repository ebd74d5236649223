/// The reason why an attribute, or a part of its value, is what it is: the event that wrote it, and the value before.
public struct FieldBlame: Hashable, Sendable {
    /// The attribute's name.
    package var attribute: Name
    /// Tells whether it is a custom attribute.
    public var isCustom: Bool
    /// The place in the attribute's value; empty for the value itself.
    package var path: [Step]
    /// The value now; nil if the attribute has no value any more.
    public var value: AttributeValue?
    /// The last write of it.
    public var write: FieldWrite
    /// The value before that write; nil if there was nothing.
    package var replaced: Replaced?
    /// All writes of it, the first one first, void ones included; empty unless asked for.
    public var log: [FieldWrite] = []
    /// The place of `log` among all writes, if it was asked for; it may be a part of them, and backward.
    package var logPlace: BlamePage.Place?

    /// One step into an object or an array.
    package enum Step: Hashable, Sendable {
        case member(Name)
        case element(Int)
    }

    /// A value that was replaced.
    package struct Replaced: Hashable, Sendable {
        package var value: AttributeValue
        /// The event that wrote it.
        package var position: Position
    }

    /// The value before that write, and the event that wrote it; nil if there was nothing.
    public var previous: (value: AttributeValue, position: Position)? { replaced.map { ($0.value, $0.position) } }

    /// The attribute and the path: `address.city`, `pets[0].name`.
    public var field: String { attribute.text + path.text }
}

/// One write of an attribute, or one occurrence that raised a count.
public struct FieldWrite: Hashable, Sendable {
    /// The value of the attribute, or of the part of it that was asked for, after it; nil if the write removed it. Of
    /// an occurrence the count after it.
    public var value: AttributeValue?
    /// The event: the saved or logged event, with its source and device. Its user may have been merged since.
    public var event: RecordedEvent
    /// The event with which it took effect: itself, or the flush or `dataSent` that made a saved one effective. Nil for
    /// a write that never did.
    public var effect: Position?
    /// The launch that flushed it.
    public var launch: Position?
    /// The idempotency key of the request with the event; nil if it had none.
    public var request: String?
    /// The `usersMerged` event that brought it to this user.
    public var merge: Position?
    /// The `eventVoided` event that made it void.
    public var void: Position?
}

extension [FieldBlame.Step] {
    /// The steps as text: `.city[0]`.
    package var text: String {
        map { step in
            switch step {
            case .member(let key): ".\(key.text)"
            case .element(let index): "[\(index)]"
            }
        }.joined()
    }

    /// Reads steps as text; nil if they are none.
    package init?(_ text: Substring) {
        self = []
        var rest = text
        while let first = rest.popFirst() {
            let isMember = first == "."
            guard isMember || first == "[" else { return nil }
            let end = rest.firstIndex { isMember ? $0 == "." || $0 == "[" : $0 == "]" } ?? rest.endIndex
            let word = rest[..<end]
            rest = rest[end...]
            if isMember {
                guard !word.isEmpty else { return nil }
                append(.member(Name(String(word))))
            } else {
                guard let index = Int(word), index >= 0, rest.popFirst() == "]" else { return nil }
                append(.element(index))
            }
        }
    }
}

extension Sequence<FieldBlame.Step> {
    /// The part of `whole` to which the steps lead; nil if it does not go so far.
    fileprivate func end<Part>(
        from whole: Part, member: (Part, Name) -> Part?, elements: (Part) -> [Part]?
    ) -> Part? {
        var part = whole
        for step in self {
            let next: Part? =
                switch step {
                case .member(let key): member(part, key)
                case .element(let index): elements(part).flatMap { index < $0.count ? $0[index] : nil }
                }
            guard let next else { return nil }
            part = next
        }
        return part
    }
}

extension AttributeValue {
    /// Returns the value at the end of `path`; nil if the value does not go so far.
    package func value(at path: some Sequence<FieldBlame.Step>) -> AttributeValue? {
        path.end(from: self, member: { $0[$1] }, elements: \.asArray)
    }
}

extension TracedValue {
    /// Returns the value at the end of `path`; nil if the value does not go so far.
    func part(at path: some Sequence<FieldBlame.Step>) -> TracedValue? {
        path.end(
            from: self, member: { $0.member($1) },
            elements: { if case .array(let items, _) = $0 { items } else { nil } })
    }

    /// Calls `body` with each part that has no parts of its own: values, empty arrays and empty objects.
    func forEachLeaf(
        _ path: [FieldBlame.Step] = [], _ body: ([FieldBlame.Step], TracedValue) throws -> Void
    ) rethrows {
        switch self {
        case .array(let items, _) where !items.isEmpty:
            for (index, item) in items.enumerated() { try item.forEachLeaf(path + [.element(index)], body) }
        case .object(let members, _) where !members.isEmpty:
            for member in members { try member.value.forEachLeaf(path + [.member(member.key)], body) }
        case .leaf, .array, .object: try body(path, self)
        }
    }
}
