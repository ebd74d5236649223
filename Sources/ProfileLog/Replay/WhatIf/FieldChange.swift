/// A field that differs between two profiles of a user.
public struct FieldChange: Hashable, Sendable {
    /// The part of the profile that it is in.
    package enum Group: String, Sendable, CaseIterable {
        case attributes, customAttributes = "custom_attributes"
        /// The number of times that an event happened.
        case customEvents = "custom_events"
        /// The number of times that a product was bought.
        case purchases
        /// Counts and times of the profile.
        case profile
    }

    package var group: Group
    /// The field's name; below an object the names of all members that lead to it.
    package var path: [Name]
    /// The value in the earlier profile; nil if it had none.
    public var before: AttributeValue?
    /// The value in the later profile; nil if it has none.
    public var after: AttributeValue?
    /// The event that set the later value; nil if there is none.
    public var position: Position?

    /// The path with dots, as in `address.city`.
    public var field: String { path.map(\.text).joined(separator: ".") }
}

extension LogReader {
    /// Returns the differences between `earlier` and `later`, two states of this log, field by field: by group, then by
    /// name. Without an earlier one, all that `later` has.
    package func changes(from earlier: ProfileState?, to later: ProfileState) -> [FieldChange] {
        FieldChange.all(from: earlier, to: later, names.current)
    }
}

extension FieldChange {
    /// Returns the differences between `earlier` and `later`, two states whose names are in `names`: by group, then by
    /// name. Without an earlier one, all that `later` has. What was paid is a field for each product and currency.
    package static func all(
        from earlier: ProfileState?, to later: ProfileState, _ names: NameMap
    ) -> [FieldChange] {
        let before = Profile(earlier ?? ProfileProjection.initial, names)
        let after = Profile(later, names)
        return between(.attributes, fields(before.attributes), fields(after.attributes))
            + between(.customAttributes, fields(before.customAttributes), fields(after.customAttributes))
            + between(.customEvents, counts(before.customEvents), counts(after.customEvents))
            + between(.purchases, counts(before.purchases), counts(after.purchases))
            + revenueChanges(.purchases, paid(before.purchases), paid(after.purchases))
            + revenueChanges(.profile, orders(earlier), orders(later))
            + between(.profile, earlier.map(facts) ?? [:], facts(later))
    }

    /// Returns the differences between the values of `before` and `after`, by name.
    package static func between(
        _ group: Group, _ before: [Name: AttributeValue], _ after: [Name: AttributeValue]
    ) -> [FieldChange] {
        between(group, before.mapValues { SetValue(value: $0) }, after.mapValues { SetValue(value: $0) })
    }

    private typealias Values = [Name: SetValue]

    private static func fields(_ fields: [Profile.Field]) -> Values {
        Dictionary(uniqueKeysWithValues: fields.map { ($0.name, .init(value: $0.value, position: $0.position)) })
    }

    private static func counts(_ counted: [Profile.Counted]) -> Values {
        var values: Values = [:]
        for use in counted {
            values[use.name] = .init(value: .int(Int64(clamping: use.count)), position: use.occurrences.position)
        }
        return values
    }

    private typealias Paid = [[Name]: (sum: ExactSum, position: Position?)]

    private static func paid(_ purchases: [Profile.Counted]) -> Paid {
        var paid: Paid = [:]
        for purchase in purchases {
            for revenue in purchase.paid {
                paid[[purchase.name, "revenue", Name(revenue.currency)]] = (
                    revenue.amount, purchase.occurrences.position
                )
            }
        }
        return paid
    }

    private static func orders(_ state: ProfileState?) -> Paid {
        var paid: Paid = [:]
        for revenue in state?.orders ?? [] {
            paid[["orders", "revenue", Name(revenue.currency)]] = (revenue.amount, nil)
        }
        return paid
    }

    /// The sums that differ.
    private static func revenueChanges(_ group: Group, _ before: Paid, _ after: Paid) -> [FieldChange] {
        Set(before.keys).union(after.keys).sorted { $0.lexicographicallyPrecedes($1) }.compactMap { path in
            before[path]?.sum == after[path]?.sum
                ? nil
                : FieldChange(
                    group: group, path: path, before: before[path]?.sum.value, after: after[path]?.sum.value,
                    position: after[path]?.position)
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
