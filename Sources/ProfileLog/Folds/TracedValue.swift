/// The value of an attribute of which each part knows the event that wrote it, and what was there before.
package indirect enum TracedValue: Sendable {
    case leaf(AttributeValue, Origin)
    case array([TracedValue], Origin)
    case object([(key: Name, value: TracedValue)], Origin)

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
                members.map { member in
                    (member.key, TracedValue(member.value, by: position, over: old?.member(member.key)))
                }, Origin(position: position))
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

    /// The value after the event at `position` did `operation`, by the rules of `AttributeFold`. What an operation does
    /// not write keeps its origin.
    package func applying(_ operation: AttributeOperation, by position: UInt64) -> TracedValue {
        let value = value
        guard let result = AttributeFold.value(of: operation, on: value) else { return self }
        if let traced = applying(operation, to: value, by: position), traced.value == result { return traced }
        return TracedValue(result, by: position, over: self)
    }

    /// As `applying(_:by:)`; `value` is that of all parts. Nil for an operation that writes the whole value.
    private func applying(
        _ operation: AttributeOperation, to value: AttributeValue, by position: UInt64
    ) -> TracedValue? {
        switch (operation, self, value) {
        case (.arrayAdd(let added), .array(let items, _), .array(let values)):
            let isAdded = AttributeFold.membership(in: added)
            let kept = zip(items, values).filter { !isAdded($0.1) }.map(\.0)
            return array(kept + AttributeFold.lastOfEach(added).map { TracedValue($0, by: position) }, by: position)
        case (.arrayRemove(let gone), .array(let items, _), .array(let values)):
            let isGone = AttributeFold.membership(in: gone)
            return array(zip(items, values).filter { !isGone($0.1) }.map(\.0), by: position)
        case (.objectMerge(let members), .object(let before, _), _):
            return .object(Self.merge(members, into: before, by: position), Self.origin(position, over: self))
        case (.objectsAdd(let added), .array(let items, _), _):
            return array(items + added.map { TracedValue($0, by: position) }, by: position)
        case (.objectsUpdate(let updates, let merging), .array(let items, _), .array(let values)):
            let matches = ElementMatches(updates.lazy.map(\.match))
            return array(
                zip(items, values).map { $0.updated($1, updates, matches, merging: merging, by: position) },
                by: position)
        case (.objectsRemove(let removed), .array(let items, _), .array(let values)):
            let matches = ElementMatches(removed)
            return array(zip(items, values).filter { matches.first(in: $0.1) == nil }.map(\.0), by: position)
        case (.set, _, _), (.unset, _, _), (.increment, _, _), (.arrayAdd, _, _), (.arrayRemove, _, _),
            (.objectMerge, _, _), (.objectsAdd, _, _), (.objectsUpdate, _, _), (.objectsRemove, _, _):
            return nil
        }
    }

    /// An array of `items` in place of this value.
    private func array(_ items: [TracedValue], by position: UInt64) -> TracedValue {
        .array(items, items.isEmpty ? Self.origin(position, over: self) : Origin(position: position))
    }

    /// An element of an array, whose value is `value`, after all `updates` that it matches.
    private func updated(
        _ value: AttributeValue, _ updates: [AttributeOperation.ObjectUpdate], _ matches: ElementMatches,
        merging: Bool, by position: UInt64
    ) -> TracedValue {
        var (item, value, next) = (self, value, 0)
        while let place = matches.first(in: value, from: next) {
            let object = updates[place].object
            if merging, case .object(let members, let origin) = item {
                item = .object(
                    Self.merge(object, into: members, by: position),
                    Origin(position: position, replaced: origin.replaced))
            } else {
                item = TracedValue(.object(object), by: position, over: item)
            }
            value = item.value
            next = place + 1
        }
        return item
    }

    private static func merge(
        _ new: [AttributeValue.Member], into old: [(key: Name, value: TracedValue)], by position: UInt64
    ) -> [(key: Name, value: TracedValue)] {
        old.ascendingUnion(new.ascending, key: \.key, otherKey: \.key) { old, new in
            guard case .object(let before, let origin) = old.value, case .object(let after) = new.value else {
                return (new.key, TracedValue(new.value, by: position, over: old.value))
            }
            let merged = merge(after, into: before, by: position)
            return (new.key, .object(merged, Origin(position: position, replaced: origin.replaced)))
        } fresh: {
            ($0.key, TracedValue($0.value, by: position))
        }
    }
}

extension ProfileProjection {
    /// As `apply`, with each item of a flush on its own: calls `note` after every event or item that may have written
    /// attributes, with its position, and with the body of its record.
    package static func apply(
        _ event: borrowing EventView, to state: inout ProfileState, under rules: BoundRules,
        noting note: (UInt64, Written, ProfileState) -> Void
    ) {
        switch event.kind?.role {
        case .outcome(.flushed), .outcome(.sent):
            if let body = RecordBody(event.header.body), !body.erased, !body.isQueued {
                for entry in state.takePending(body.flushed) {
                    guard case .content(let content, _) = entry.kind.role else { continue }
                    state.flush(entry, under: rules)
                    note(entry.position, Written(content, entry.body), state)
                }
            }
            apply(event, to: &state, under: rules)
        case .content(let content, .logged):
            apply(event, to: &state, under: rules)
            note(event.position.rawValue, Written(content, event.header.body), state)
        case .identity:
            apply(event, to: &state, under: rules)
            note(event.position.rawValue, Written(), state)
        case .content(_, .saved), .content(_, .queued), .device, .outcome(.discarded), .message, .remark, nil:
            apply(event, to: &state, under: rules)
        }
    }

    /// The attributes that an event or an item may have written or removed: a fold that looks at all attributes after
    /// each event would cost the product of both.
    package struct Written {
        /// The custom attributes.
        package private(set) var keys: [FieldKey] = []
        /// Whether standard attributes may be written too: any, as an address changes others.
        package private(set) var hasStandard = false

        /// Reads the values that an event about identities may write.
        fileprivate init() { hasStandard = true }

        fileprivate init(_ content: EventRole.Content, _ body: [UInt8]) {
            self = body.withUnsafeBytes { Written(content, $0) }
        }

        fileprivate init(_ content: EventRole.Content, _ body: UnsafeRawBufferPointer) {
            hasStandard = content == .userAttributes
            guard content == .customAttributes else { return }
            var reader = WireReader(body)
            while let field = reader.field() {
                guard field.number == RecordField.entries, field.type == .bytes else {
                    reader.skip(field.type)
                    continue
                }
                var entry = WireReader(reader.bytes())
                guard let first = entry.field(), first.number == RecordField.Value.name else { continue }
                keys.append(FieldKey(custom: UInt32(truncatingIfNeeded: entry.varint())))
            }
        }
    }
}
