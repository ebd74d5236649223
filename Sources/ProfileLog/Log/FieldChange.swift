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
        FieldChange.all(from: earlier, to: later, names.current)
    }
}

extension FieldChange {
    /// What differs from `earlier` to `later`, two states whose names are in `names`: by group, then by name. Without
    /// an earlier one, all that `later` has.
    ///
    /// With `withRevenue`, what was paid for a product is compared too, as a field for each currency.
    package static func all(
        from earlier: ProfileState?, to later: ProfileState, _ names: NameMap, withRevenue: Bool = false
    ) -> [FieldChange] {
        let before = ProfileView(earlier ?? ProfileProjection.initial, names)
        let after = ProfileView(later, names)
        return between(.attributes, fields(before.attributes), fields(after.attributes))
            + between(.customAttributes, fields(before.customAttributes), fields(after.customAttributes))
            + between(.customEvents, counts(before.customEvents), counts(after.customEvents))
            + between(.purchases, counts(before.purchases), counts(after.purchases))
            + (withRevenue ? revenueChanges(before.purchases, after.purchases) : [])
            + between(.profile, earlier.map(facts) ?? [:], facts(later))
    }

    /// What differs from the values of `before` to those of `after`, by name.
    package static func between(
        _ group: Group, _ before: [Name: AttributeValue], _ after: [Name: AttributeValue]
    ) -> [FieldChange] {
        between(group, before.mapValues { SetValue(value: $0) }, after.mapValues { SetValue(value: $0) })
    }

    private typealias Values = [Name: SetValue]

    private static func fields(_ fields: [ProfileView.Field]) -> Values {
        Dictionary(uniqueKeysWithValues: fields.map { ($0.name, .init(value: $0.value, position: $0.position)) })
    }

    private static func counts(_ counted: [ProfileView.Counted]) -> Values {
        var values: Values = [:]
        for use in counted {
            values[use.name] = .init(value: .int(Int64(clamping: use.count)), position: use.occurrences.position)
        }
        return values
    }

    /// The sums by product and currency that differ.
    private static func revenueChanges(
        _ before: [ProfileView.Counted], _ after: [ProfileView.Counted]
    ) -> [FieldChange] {
        func sums(_ purchases: [ProfileView.Counted]) -> [[Name]: SetValue] {
            var sums: [[Name]: SetValue] = [:]
            for purchase in purchases {
                for (currency, amount) in purchase.revenue {
                    sums[[purchase.name, "revenue", Name(currency)]] = .init(
                        value: .double(amount), position: purchase.occurrences.position)
                }
            }
            return sums
        }
        let (old, new) = (sums(before), sums(after))
        return Set(old.keys).union(new.keys).sorted { $0.lexicographicallyPrecedes($1) }.compactMap { path in
            old[path]?.value == new[path]?.value
                ? nil
                : FieldChange(
                    group: .purchases, path: path, before: old[path]?.value, after: new[path]?.value,
                    position: new[path]?.position)
        }
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
    private struct SetValue {
        var value: AttributeValue
        var position: Position?
    }

    private static func between(
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
