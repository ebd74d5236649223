internal import ProfileLogSnippets

/// The computed traits of users at one moment. For many users it reads the log once, instead of the history of each.
package final class TraitReader {
    /// The declared traits, in the order of their declaration.
    package let traits: [ComputedTrait]
    private let log: LogReader
    /// The history that is asked about; nil for the present.
    private let past: PastHistory?
    private let now: Timestamp
    private let alteration: Alteration?
    /// The numbers of names that were asked for: the lock of the log's table is taken once for each, not for each user.
    private var numbers: [(name: Name, number: UInt32)] = []

    /// Events of histories that were read so far.
    private var readEvents: UInt64 = 0
    /// The findings of a scan, for the users in its range.
    private var scanned: (users: ClosedRange<UInt64>, folds: [UserNumber: [TraitFold]])?
    /// Tells whether a scan is possible, and met no damage.
    private var mayScan: Bool

    /// A scan is cheaper than histories of this part of the log.
    private static let histories: UInt64 = 4
    /// Users whose traits are kept in memory at once.
    private static let usersAtOnce: UInt64 = 1 << 18

    /// - Parameters:
    ///   - past: of which the users are asked for; nil for the present.
    ///   - now: what windows end with.
    ///   - alteration: what becomes of the events of the history that is asked about; nil for the one of the log.
    package init(
        _ log: LogReader, in past: PastHistory? = nil, at now: Timestamp, of alteration: Alteration? = nil
    ) {
        (self.log, self.past, self.now, self.alteration) = (log, past, now, alteration)
        // It is in the order of recording.
        mayScan = past?.order != .occurred
        traits = log.traits
    }

    /// The number of a name; nil if the log has never seen it.
    package func number(of name: Name) -> UInt32? {
        for known in numbers where known.name == name { return known.number }
        guard let number = log.names.number(name) else { return nil }
        numbers.append((name, number))
        return number
    }

    /// The traits of `user`, whose profile is `state`, in the order of `traits`.
    package func folds(of user: UserNumber, _ state: ProfileState) throws -> [TraitFold] {
        guard traits.contains(where: { mayHave($0, state) }) else { return traits.map { TraitFold($0.function) } }
        if alteration == nil, mayScan, scanned?.users.contains(user.rawValue) != true,
            readEvents > (try log.lastPosition().rawValue) / Self.histories
        {
            let users = user.rawValue...user.rawValue + Self.usersAtOnce
            do {
                scanned = (users, try log.occurrences.foldTraits(traits, ofAll: users, asOf: past?.position, at: now))
            } catch StorageError.damaged {
                // From now on each history is read by itself: only those that need the damaged record lack it.
                mayScan = false
            }
        }
        if let scanned, scanned.users.contains(user.rawValue) {
            return scanned.folds[user] ?? traits.map { TraitFold($0.function) }
        }
        readEvents += state.version.rawValue
        let part = try part(of: user, state)
        return try log.occurrences.foldTraits(
            traits, of: user, asOf: part.version, until: part.until, at: now,
            altered: { [alteration] in alteration?.effect(on: $0, at: $1) ?? .none },
            under: alteration?.alteredTimeline)
    }

    /// The part of the events of `user` of which `state` is: up to a version, and without what happened after `until`.
    package func part(of user: UserNumber, _ state: ProfileState) throws -> (version: Version, until: Timestamp?) {
        // By occurrence the version of a state counts what had happened.
        guard let past, let until = past.until else { return (state.version, nil) }
        return (try log.past.version(of: user, at: past.position), until)
    }

    /// The value of the trait `name`; nil if there is no such trait, or no value.
    package func value(_ name: Name, of user: UserNumber, _ state: ProfileState) throws -> AttributeValue? {
        guard let place = traits.firstIndex(where: { $0.name == name }) else { return nil }
        return try folds(of: user, state)[place].value
    }

    /// The trait `name` with all its digits, if it is a sum that is not whole.
    package func sum(_ name: Name, of user: UserNumber, _ state: ProfileState) throws -> ExactSum? {
        guard let place = traits.firstIndex(where: { $0.name == name }), traits[place].function == .sum else {
            return nil
        }
        return try folds(of: user, state)[place].sum
    }

    /// Tells whether the profile says that something may count for the trait.
    private func mayHave(_ trait: ComputedTrait, _ state: ProfileState) -> Bool {
        func isWithin(_ occurrences: ProfileState.Occurrences?) -> Bool {
            guard let occurrences, occurrences.count > 0 else { return false }
            guard let window = trait.window else { return true }
            return occurrences.last.rawValue >= now.rawValue - window && occurrences.first <= now
        }
        return switch trait.source {
        case .event(let name): isWithin(number(of: name).flatMap { state.occurrences(ofEvent: $0) })
        case .purchase(let name): isWithin(number(of: name).flatMap { state.occurrences(ofProduct: $0) })
        case .purchases: state.purchases.contains { isWithin($0.occurrences) }
        case .sessions: isWithin(state.sessions)
        case .launches: isWithin(state.launches)
        }
    }
}
