extension ProfileState {
    /// Takes `source` over by the rules of a merge (spec/rest-api 2.6): the target's attributes win and the source's fill the gaps; counts and
    /// revenue add up; the earlier first and the later last time stand; what waits goes on waiting.
    mutating func merge(_ source: ProfileState) {
        if let first = source.firstSeen { see(first.rawValue) }
        if let last = source.lastSeen { see(last.rawValue) }
        launches.merge(source.launches)
        sessions.merge(source.sessions)
        flushes.merge(source.flushes)
        for field in source.fields.fields where !fields.index(of: field.key).found {
            source.fields.withBytes(field) { fields.set(field.key, $0, position: field.position, at: field.at) }
        }
        for event in source.events {
            let index = events.firstIndex { $0.name >= event.name } ?? events.count
            if index < events.count, events[index].name == event.name {
                events[index].occurrences.merge(event.occurrences)
            } else {
                events.insert(event, at: index)
            }
        }
        for purchase in source.purchases { merge(purchase) }
        pending = (pending + source.pending).sorted { $0.position < $1.position }
    }

    private mutating func merge(_ purchase: PurchaseSummary) {
        let index = purchases.firstIndex { $0.product >= purchase.product } ?? purchases.count
        guard index < purchases.count, purchases[index].product == purchase.product else {
            purchases.insert(purchase, at: index)
            return
        }
        purchases[index].occurrences.merge(purchase.occurrences)
        for revenue in purchase.revenue { purchases[index].add(revenue.amount, revenue.currency) }
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

extension ProfileState.PurchaseSummary {
    /// Adds to the revenue in `currency`.
    mutating func add(_ amount: Double, _ currency: String) {
        let index = revenue.firstIndex { $0.currency >= currency } ?? revenue.count
        if index < revenue.count, revenue[index].currency == currency {
            revenue[index].amount += amount
        } else {
            revenue.insert(.init(currency: currency, amount: amount), at: index)
        }
    }
}
