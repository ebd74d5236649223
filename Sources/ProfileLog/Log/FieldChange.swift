/// A field that differs between two profiles of a user.
package struct FieldChange: Hashable, Sendable {
    /// Which part of the profile it is in.
    package enum Group: String, Sendable, CaseIterable {
        case attributes, customAttributes = "custom_attributes"
        /// How often an event happened.
        case customEvents = "custom_events"
        /// How often a product was bought.
        case purchases
        /// What the profile counts, and its times.
        case profile
    }

    package var group: Group
    /// The field's name; below an object the names of all members that lead to it.
    package var path: [Name]
    /// The value in the earlier profile; nil if it had none.
    package var before: AttributeValue?
    /// The value in the later profile; nil if it has none.
    package var after: AttributeValue?
    /// The event that set the later value; nil if there is none.
    package var position: Position?

    /// The path with dots, as in `address.city`.
    package var field: String { path.map(\.text).joined(separator: ".") }
}

extension EventLog {
    /// What differs from `earlier` to `later`, two states of this log, field by field: by group, then by name. Without
    /// an earlier one, all that `later` has.
    package func changes(from earlier: ProfileState?, to later: ProfileState) -> [FieldChange] {
        let (before, after) = (profileView(earlier ?? ProfileProjection.initial), profileView(later))
        return FieldChange.between(.attributes, Self.fields(before.attributes), Self.fields(after.attributes))
            + FieldChange.between(
                .customAttributes, Self.fields(before.customAttributes), Self.fields(after.customAttributes))
            + FieldChange.between(
                .customEvents, Self.counts(before.customEvents.map { ($0.name, $0.occurrences) }),
                Self.counts(after.customEvents.map { ($0.name, $0.occurrences) }))
            + FieldChange.between(
                .purchases, Self.counts(before.purchases.map { ($0.product, $0.occurrences) }),
                Self.counts(after.purchases.map { ($0.product, $0.occurrences) }))
            + FieldChange.between(.profile, earlier.map(Self.facts) ?? [:], Self.facts(later))
    }

    private typealias Values = [Name: FieldChange.SetValue]

    private static func fields(_ fields: [ProfileView.Field]) -> Values {
        Dictionary(uniqueKeysWithValues: fields.map { ($0.name, .init(value: $0.value, position: $0.position)) })
    }

    private static func counts(_ counts: [(Name, ProfileState.Occurrences)]) -> Values {
        Dictionary(
            uniqueKeysWithValues: counts.map { name, occurrences in
                (name, .init(value: .int(Int64(clamping: occurrences.count)), position: occurrences.position))
            })
    }

    private static func facts(_ state: ProfileState) -> Values {
        var facts: Values = [:]
        for (name, occurrences) in [
            ("launches", state.launches), ("flushes", state.flushes),
        ] as [(Name, ProfileState.Occurrences)]
        where occurrences.count > 0 {
            facts[name] = .init(value: .int(Int64(clamping: occurrences.count)), position: occurrences.position)
        }
        if !state.pending.isEmpty { facts["pending"] = .init(value: .int(Int64(state.pending.count))) }
        facts["first_seen"] = state.firstSeen.map { .init(value: .string($0.rfc3339())) }
        facts["last_seen"] = state.lastSeen.map { .init(value: .string($0.rfc3339())) }
        return facts
    }
}

extension FieldChange {
    /// A value, and the event that set it.
    fileprivate struct SetValue {
        var value: AttributeValue
        var position: Position?
    }

    fileprivate static func between(
        _ group: Group, _ before: [Name: SetValue], _ after: [Name: SetValue]
    ) -> [FieldChange] {
        var changes: [FieldChange] = []
        for name in Set(before.keys).union(after.keys).sorted() {
            let (old, new) = (before[name]?.value, after[name]?.value)
            append(group, [name], old, new, after[name]?.position, to: &changes)
        }
        return changes
    }

    /// Objects are compared member by member.
    private static func append(
        _ group: Group, _ path: [Name], _ before: AttributeValue?, _ after: AttributeValue?, _ position: Position?,
        to changes: inout [FieldChange]
    ) {
        if before == after { return }
        guard case .object(let old)? = before, case .object(let new)? = after else {
            changes.append(FieldChange(group: group, path: path, before: before, after: after, position: position))
            return
        }
        for key in Set(old.map(\.key)).union(new.map(\.key)).sorted() {
            append(group, path + [key], before?[key], after?[key], position, to: &changes)
        }
    }
}
