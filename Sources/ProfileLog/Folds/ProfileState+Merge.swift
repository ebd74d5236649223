extension ProfileState {
    /// Merges `source` into it (spec/rest-api 2.6). The target's attributes win, the source's fill the gaps; push
    /// tokens and subscription groups are merged entry by entry. Of times and dates, the earlier first and the later
    /// last one win. An opt-out comes with its address. Counts and revenue add up. Pending items stay pending.
    /// Attributes with a policy are merged by `rules`.
    mutating func merge(_ source: ProfileState, under rules: BoundRules? = nil) {
        if let first = source.firstSeen { see(first.rawValue) }
        if let last = source.lastSeen { see(last.rawValue) }
        launches.merge(source.launches)
        sessions.merge(source.sessions)
        flushes.merge(source.flushes)
        voids += source.voids
        let takesEmailState = takesEmailState(of: source)
        let merged = rules.map { mergeAttributes(of: source, under: $0) } ?? []
        for field in source.fields.fields where merged.isEmpty || !merged.contains(field.key) {
            if !fields.index(of: field.key).found || wins(field, of: source)
                || takesEmailState && field.key == Self.emailState
            {
                source.fields.withBytes(field) { fields.set(field.key, $0, position: field.position, at: field.at) }
            } else if let attribute = field.key.standard, let keys = Self.entryKeys[attribute] {
                addEntries(of: source, field.key, whoseKeysAre: keys)
            }
        }
        if !removals.isEmpty { removals = removals.filter { fields.field($0.key) == nil } }
        if source.events.count > Self.fewNames {
            events = events.ascendingUnion(source.events, key: \.name, otherKey: \.name) { own, other in
                var both = own
                both.occurrences.merge(other.occurrences)
                return both
            } fresh: {
                $0
            }
        } else {
            for event in source.events { add(event) }
        }
        for purchase in source.purchases { merge(purchase) }
        for revenue in source.orders { orders.add(revenue.amount, revenue.currency) }
        if !source.pending.isEmpty { pending = (pending + source.pending).sorted { $0.position < $1.position } }
    }

    /// Names that are looked for one by one; more are merged in one pass, which costs all names of both.
    private static let fewNames = 16

    private mutating func add(_ event: NamedOccurrences) {
        let index = events.lowerBound { $0.name < event.name }
        if index < events.count, events[index].name == event.name {
            events[index].occurrences.merge(event.occurrences)
        } else {
            events.insert(event, at: index)
        }
    }

    /// Tells whether a field of `source` is a first date earlier than the target's, or a last date later than it.
    private func wins(_ field: FieldStore.Field, of source: ProfileState) -> Bool {
        guard let attribute = field.key.standard, let isFirst = Self.datesOfFirst[attribute],
            let theirs = source.fields.value(field.key)?.moment, let own = fields.value(field.key)?.moment
        else { return false }
        return isFirst ? theirs < own : theirs > own
    }

    /// The attributes that are first dates, or last dates.
    private static let datesOfFirst: [StandardAttribute: Bool] = [
        .dateOfFirstSession: true, .dateOfLastSession: false, .markedEmailAsSpamAt: false,
    ]

    /// The member that identifies an entry, for attributes that are lists.
    private static let entryKeys: [StandardAttribute: [Name]] = [
        .pushTokens: ["app_id", "token"], .subscriptionGroups: ["subscription_group_id"],
    ]

    /// Adds the entries of a list that only `source` has. The list keeps the event that set it.
    private mutating func addEntries(of source: ProfileState, _ key: FieldKey, whoseKeysAre keys: [Name]) {
        let (index, _) = fields.index(of: key)
        guard case .array(let own)? = fields.value(key), case .array(let others)? = source.fields.value(key) else {
            return
        }
        let known = Set(own.map { entry in keys.map { entry[$0] } })
        let added = others.filter { other in !known.contains(keys.map { other[$0] }) }
        if added.isEmpty { return }
        let field = fields.fields[index]
        fields.set(key, .array(own + added), position: field.position, at: field.at)
    }

    private mutating func merge(_ purchase: PurchaseSummary) {
        let index = purchases.lowerBound { $0.product < purchase.product }
        guard index < purchases.count, purchases[index].product == purchase.product else {
            purchases.insert(purchase, at: index)
            return
        }
        purchases[index].occurrences.merge(purchase.occurrences)
        for revenue in purchase.revenue { purchases[index].revenue.add(revenue.amount, revenue.currency) }
    }
}

extension AttributeValue {
    /// The moment of a date or of a text that is one; nil for other values.
    fileprivate var moment: Timestamp? {
        switch self {
        case .date(let date): date.timestamp
        case .string(let text): OccurredAt(braze: text)?.timestamp
        default: nil
        }
    }
}

extension ProfileState.Occurrences {
    fileprivate mutating func merge(_ other: ProfileState.Occurrences) {
        if other.count == 0 { return }
        count += other.count
        first = min(first, other.first)
        last = max(last, other.last)
        position = max(position, other.position)
    }
}

extension [ProfileState.Revenue] {
    package mutating func add(_ amount: ExactSum, _ currency: String) {
        let index = firstIndex { $0.currency >= currency } ?? count
        if index < count, self[index].currency == currency {
            self[index].amount.add(amount)
        } else {
            insert(.init(currency: currency, amount: amount), at: index)
        }
    }
}
