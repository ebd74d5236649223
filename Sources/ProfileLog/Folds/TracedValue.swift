/// The value of an attribute of which each part knows the event that wrote it, and what was there before.
package indirect enum TracedValue: Sendable {
    case leaf(AttributeValue, Origin)
    case array([TracedValue], Origin)
    case object([(key: Name, value: TracedValue)], Origin)

    /// Who wrote a part of a value.
    package struct Origin: Sendable {
        /// The event.
        package var position: UInt64
        /// What was in its place before, and the event that had written that; nil if there was nothing.
        package var replaced: (value: AttributeValue, position: UInt64)?
    }

    /// All of `value` is written by the event at `position`, over `old`.
    package init(_ value: AttributeValue, by position: UInt64, over old: TracedValue? = nil) {
        let origin = Origin(position: position, replaced: old.map { ($0.value, $0.origin.position) })
        switch value {
        case .array(let items):
            var before: [TracedValue] = []
            if case .array(let items, _)? = old { before = items }
            self = .array(
                items.enumerated().map { index, item in
                    TracedValue(item, by: position, over: index < before.count ? before[index] : nil)
                }, origin)
        case .object(let members):
            self = .object(
                members.map { member in
                    (member.key, TracedValue(member.value, by: position, over: old?.member(member.key)))
                }, origin)
        case .null, .bool, .int, .double, .string, .date: self = .leaf(value, origin)
        }
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
        return members.first { $0.key == key }?.value
    }

    /// The value after the event at `position` did `operation`, by the rules of `AttributeFold`. What an operation does
    /// not write keeps its origin.
    package func applying(_ operation: AttributeOperation, by position: UInt64) -> TracedValue {
        guard let result = AttributeFold.value(of: operation, on: value) else { return self }
        let origin = Origin(position: position, replaced: (value, self.origin.position))
        let traced: TracedValue? =
            switch (operation, self) {
            case (.arrayAdd(let added), .array(let items, _)):
                .array(
                    added.reduce(into: items) { items, value in
                        items.removeAll { $0.value == value }
                        items.append(TracedValue(value, by: position))
                    }, origin)
            case (.arrayRemove(let gone), .array(let items, _)):
                .array(items.filter { !gone.contains($0.value) }, origin)
            case (.objectMerge(let members), .object(let before, _)):
                .object(Self.merge(members, into: before, by: position), origin)
            case (.objectsAdd(let added), .array(let items, _)):
                .array(items + added.map { TracedValue($0, by: position) }, origin)
            case (.objectsUpdate(let updates, let merging), .array(let items, _)):
                .array(items.map { $0.updated(updates, merging: merging, by: position) }, origin)
            case (.objectsRemove(let matches), .array(let items, _)):
                .array(
                    items.filter { item in !matches.contains { item.member($0.key)?.value == $0.value } }, origin)
            case (.set, _), (.unset, _), (.increment, _), (.arrayAdd, _), (.arrayRemove, _), (.objectMerge, _),
                (.objectsAdd, _), (.objectsUpdate, _), (.objectsRemove, _):
                nil
            }
        if let traced, traced.value == result { return traced }
        return TracedValue(result, by: position, over: self)
    }

    private func updated(
        _ updates: [AttributeOperation.ObjectUpdate], merging: Bool, by position: UInt64
    ) -> TracedValue {
        var item = self
        for update in updates where item.member(update.match.key)?.value == update.match.value {
            if merging, case .object(let members, let origin) = item {
                item = .object(
                    Self.merge(update.object, into: members, by: position),
                    Origin(position: position, replaced: origin.replaced))
            } else {
                item = TracedValue(.object(update.object), by: position, over: item)
            }
        }
        return item
    }

    private static func merge(
        _ new: [AttributeValue.Member], into old: [(key: Name, value: TracedValue)], by position: UInt64
    ) -> [(key: Name, value: TracedValue)] {
        var merged = old
        for member in new {
            let index = merged.firstIndex { $0.key >= member.key } ?? merged.count
            guard index < merged.count, merged[index].key == member.key else {
                merged.insert((member.key, TracedValue(member.value, by: position)), at: index)
                continue
            }
            if case .object(let before, let origin) = merged[index].value, case .object(let after) = member.value {
                merged[index].value = .object(
                    merge(after, into: before, by: position),
                    Origin(position: position, replaced: origin.replaced))
            } else {
                merged[index].value = TracedValue(member.value, by: position, over: merged[index].value)
            }
        }
        return merged
    }
}

extension ProfileProjection {
    /// As `apply`, with each item of a flush on its own: calls `note` after every event or item that may have written
    /// attributes, with its position.
    package static func apply(
        _ event: borrowing EventView, to state: inout ProfileState, under rules: BoundRules,
        noting note: (UInt64, ProfileState) -> Void
    ) {
        switch event.kind?.role {
        case .outcome(.flushed), .outcome(.sent):
            if let body = RecordBody(event.header.body), !body.erased, !body.isQueued {
                for item in body.flushed {
                    state.flush(item.rawValue, under: rules)
                    note(item.rawValue, state)
                }
            }
            apply(event, to: &state, under: rules)
        case .content(_, .logged), .identity:
            apply(event, to: &state, under: rules)
            note(event.position.rawValue, state)
        case .content(_, .saved), .content(_, .queued), .device, .outcome(.discarded), .message, .remark, nil:
            apply(event, to: &state, under: rules)
        }
    }
}
