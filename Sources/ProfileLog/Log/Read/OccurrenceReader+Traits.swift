/// Computed traits, from the occurrences of users.
extension OccurrenceReader {
    /// Folds for `traits` of `user` as of `version`, at the time `now`: of what they and the users merged into them
    /// did, and not after `until`. Reads their events. `effect` and `rules` are those of an altered history.
    package func foldTraits(
        _ traits: [ComputedTrait], of user: UserNumber, asOf version: Version, until: Timestamp? = nil,
        at now: Timestamp,
        altered effect: @escaping (RecordHeader, UInt64) -> RecordEffect = { _, _ in .none },
        under rules: RulesTimeline? = nil
    ) throws -> [TraitFold] {
        let table = TraitTable(traits, log, altered: effect)
        var folds = traits.map { TraitFold($0.function) }
        try forEach(of: user, asOf: version, until: until, altered: effect, under: rules) { occurrence in
            try table.apply(occurrence, at: now, to: &folds)
        }
        return folds
    }

    /// Folds for `traits` of the users in `users` as of `position`, at the time `now`, by one scan of the log. Users
    /// without an occurrence of any of them are not in it.
    package func foldTraits(
        _ traits: [ComputedTrait], ofAll users: ClosedRange<UInt64>, asOf position: Position?, at now: Timestamp
    ) throws -> [UserNumber: [TraitFold]] {
        let table = TraitTable(traits, log, altered: { _, _ in .none })
        var folds: [UserNumber: [TraitFold]] = [:]
        var canonical: [UserNumber: UserNumber] = [:]
        var merges = PastMerges()
        try forEach(upTo: position) { occurrence in
            guard table.concerns(occurrence, at: now) else { return }
            let user: UserNumber
            if let known = canonical[occurrence.user] {
                user = known
            } else {
                user =
                    try position.map {
                        try log.past.canonicalUser(of: occurrence.user, in: PastHistory(to: $0), &merges)
                    }
                    ?? log.users.canonicalUser(of: occurrence.user)
                canonical[occurrence.user] = user
            }
            guard users.contains(user.rawValue) else { return }
            try table.apply(occurrence, at: now, to: &folds[user, default: traits.map { TraitFold($0.function) }])
        }
        return folds
    }
}

/// A name that a computed trait reads and that no event of a log has ever used.
package struct UnseenTraitName: Hashable, Sendable {
    package let trait: Name
    /// `event`, `product` or `property`.
    package let what: String
    package let name: Name
    /// The name of the log that was probably intended.
    package let nearest: String?

    /// One sentence, and the guess.
    package var sentence: String {
        "The trait \(trait.text) reads the \(what) \(name.text), which this store has never seen."
            + (nearest.map { " Did you mean \($0)?" } ?? "")
    }
}

extension OccurrenceReader {
    /// The first name of each of `traits` that no event of this log has ever used; none for a log without names.
    ///
    /// The log numbers the names of events, attributes and properties together: a name that is known as another thing
    /// counts as seen.
    package func unseenNames(of traits: [ComputedTrait]) throws -> [UnseenTraitName] {
        let known = try withView { $0.nameTable.current }
        if known.count == 0 { return [] }
        return traits.compactMap { trait in
            guard let (what, name) = trait.namesRead.first(where: { known.number($0.name) == nil }) else { return nil }
            let nearest = NearestNames(to: name.text, among: known.names.map(\.text)).close.first
            return UnseenTraitName(trait: trait.name, what: what, name: name, nearest: nearest)
        }
    }
}

extension ComputedTrait {
    /// The names of the log that the trait reads.
    fileprivate var namesRead: [(what: String, name: Name)] {
        switch source {
        case .event(let name): [("event", name)] + (property.map { [("property", $0)] } ?? [])
        case .purchase(let name): [("product", name)] + ownProperty
        case .purchases: ownProperty
        case .sessions, .launches: []
        }
    }

    /// The property of a purchase, if the sender named it.
    private var ownProperty: [(what: String, name: Name)] {
        guard let property, !Self.factsOfPurchase.contains(property) else { return [] }
        return [("property", property)]
    }

    private static let factsOfPurchase: Set<Name> = ["price", "quantity", "revenue", "product", "currency"]
}

/// Traits by what they look at, with the numbers that a store gave to names.
private struct TraitTable {
    private let traits: [ComputedTrait]
    private let log: LogReader
    private let effect: (RecordHeader, UInt64) -> RecordEffect
    /// The places of traits by what they look at. Traits of all purchases are at each product too.
    private var places: [Occurrence.What: [Int]] = [:]
    private var ofAllPurchases: [Int] = []

    init(
        _ traits: [ComputedTrait], _ log: LogReader, altered effect: @escaping (RecordHeader, UInt64) -> RecordEffect
    ) {
        (self.traits, self.log, self.effect) = (traits, log, effect)
        for (place, trait) in traits.enumerated() {
            switch trait.source {
            case .event(let name):
                if let number = log.names.number(name) { places[.event(number), default: []].append(place) }
            case .purchase(let product):
                if let number = log.names.number(product) { places[.purchase(number), default: []].append(place) }
            case .purchases: ofAllPurchases.append(place)
            case .sessions: places[.session, default: []].append(place)
            case .launches: places[.launch, default: []].append(place)
            }
        }
    }

    private func places(of what: Occurrence.What) -> [Int] {
        let own = places[what] ?? []
        if case .purchase = what { return own + ofAllPurchases }
        return own
    }

    /// Tells whether it counts for any trait.
    func concerns(_ occurrence: Occurrence, at now: Timestamp) -> Bool {
        places(of: occurrence.what).contains { traits[$0].takes(occurrence.at, at: now) }
    }

    func apply(_ occurrence: Occurrence, at now: Timestamp, to folds: inout [TraitFold]) throws {
        var properties: [AttributeValue.Member]??
        for place in places(of: occurrence.what) where traits[place].takes(occurrence.at, at: now) {
            let value: AttributeValue?
            var exact: ExactSum?
            switch (traits[place].property, occurrence.what) {
            case (nil, _): value = .date(OccurredAt(occurrence.at))
            case ("price", .purchase): value = .double(occurrence.price)
            case ("quantity", .purchase): value = .int(Int64(clamping: occurrence.quantity))
            case ("revenue", .purchase):
                exact = occurrence.revenue
                value = exact?.value
            case ("currency", .purchase): value = .string(occurrence.currency)
            case ("product", .purchase(let number)): value = log.names.name(number).map { .string($0.text) }
            case (let property?, _):
                if properties == nil { properties = .some(try self.properties(at: occurrence.position)) }
                value = properties??.first { $0.key == property }?.value
            }
            let isCounted = traits[place].function == .count
            folds[place].add(value, at: occurrence.at, times: isCounted ? occurrence.quantity : 1, exact: exact)
        }
    }

    /// The properties of a custom event or a purchase.
    private func properties(at position: Position) throws -> [AttributeValue.Member]? {
        try log.withView { view in
            let header = try view.header(at: position.rawValue)
            var properties: [AttributeValue.Member]?
            effect(header, position.rawValue).withRecord(inPlaceOf: header) { header in
                properties = RecordedEvent(header, position: position, names: log.names.current)?.event.properties
            }
            return properties
        }
    }
}

extension ProfileEvent {
    /// The properties of a custom event or a purchase.
    fileprivate var properties: [AttributeValue.Member]? {
        switch content {
        case .customEvent(let event): event.properties
        case .purchase(let purchase): purchase.properties
        case .customAttributes, .userAttributes, nil: nil
        }
    }
}
