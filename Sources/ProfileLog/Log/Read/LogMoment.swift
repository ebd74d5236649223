/// One moment of the log, for questions whose answers must belong together: no commit of another writer comes between
/// them.
///
/// ``EventLog/read(_:)`` lends it. It cannot be kept, and pages of the store cannot be used again while it is lent:
/// ask, and return.
///
/// Questions follow one rule. What is not there is empty: an unknown user, or one who came later, has an empty profile
/// and the initial state. What cannot be asked is refused with a ``MomentError``: a version that the user has not
/// reached, a position beyond the log's end, a time after now.
///
/// An external ID or an alias means the user who had it at the position or time that is asked of; if no user had it,
/// the one who has it now. To find that out costs the headers of the user's events, and those of the whole log up to
/// the moment if they got the ID later. A version, an address and a device mean the user who has them now.
public struct LogMoment: ~Copyable {
    /// The position of the last event.
    public let position: Position
    private let log: LogReader

    init(_ log: LogReader) throws { (position, self.log) = (try log.lastPosition(), log) }

    /// The user with this ID, and how many events they have; nil if there is none.
    public func find(_ user: UserID) throws -> UserInfo? { try log.users.find(user) }

    /// As ``EventLog/profile(of:asOf:order:)``.
    public func profile(of user: UserID, asOf moment: Moment = .now, order: EventOrder = .recorded) throws -> Profile {
        try log.named(log.past.profile(of: user, asOf: moment, order: order))
    }

    /// As ``EventLog/state(of:for:asOf:)``.
    public func state<P: UserProjection>(of _: P.Type, for user: UserID, asOf moment: Moment = .now) throws -> P.State {
        guard let place = try log.past.place(of: user, at: moment) else {
            try P.checkName()
            return P.initial
        }
        return try log.state(P.self, of: place.user, asOf: place.version)
    }

    /// As ``EventLog/state(of:asOf:)``.
    public func state<P: StoreProjection>(of _: P.Type, asOf moment: Moment = .now) throws -> P.State {
        try log.state(overStore: P.self, asOf: log.past.position(at: moment)).state
    }

    /// As ``EventLog/state(of:on:asOf:)``.
    public func state<P: DeviceProjection>(
        of _: P.Type, on device: String, asOf moment: Moment = .now
    ) throws -> P.State {
        try log.state(P.self, onDevice: device, asOf: log.past.position(at: moment))
    }

    /// As ``EventLog/value(of:for:asOf:)``.
    public func value(
        of trait: UserTrait, for user: UserID, asOf moment: Moment = .now
    ) throws -> AttributeValue? {
        let trait = ComputedTrait(trait)
        guard let place = try log.past.place(of: user, at: moment) else { return TraitFold(trait.function).value }
        let last = try log.profile(of: place.user, asOf: place.version).lastPosition
        let folds = try log.occurrences.foldTraits(
            [trait], of: place.user, asOf: place.version, at: log.past.time(at: moment, last))
        return folds[0].value
    }

    /// As ``EventLog/history(of:from:to:direction:limit:where:)``.
    public func history(
        of user: UserID, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: EventLog.Direction = .forward, limit: Int = .max, where filter: EventFilter = EventFilter()
    ) throws -> [RecordedEvent] {
        guard let number = try log.users.find(user)?.number else { return [] }
        return try log.events.history(
            of: number, from: from, to: to, direction: direction, limit: limit, where: filter)
    }
}

extension PastReader {
    /// The user that `id` means at `moment`, and their version then, which is 0 if they came later. Nil if there is no
    /// such user. Throws ``MomentError``.
    func place(of id: UserID, at moment: Moment) throws -> (user: UserNumber, version: Version)? {
        try withView { view in
            try refuseFuture(moment, view)
            switch moment {
            case .now: return try log.users.find(id).map { ($0.number, $0.version) }
            case .version(let version):
                let user = try log.users.find(id)
                let last = user?.version ?? .none
                guard version <= last else { throw MomentError.beyondUser(last: last) }
                return user.map { ($0.number, version) }
            case .position, .time:
                guard let user = try self.user(with: id, at: moment, order: .recorded) else { return nil }
                let version = try view.version(of: user.number.rawValue, upTo: view.position(at: moment))
                return (user.number, Version(rawValue: version))
            }
        }
    }

    /// The user that `id` means at `moment`; nil if there is none.
    private func user(with id: UserID, at moment: Moment, order: EventOrder) throws -> UserInfo? {
        switch moment {
        case .now, .version: try log.users.find(id)
        case .position, .time: try user(with: id, in: history(at: moment, order: order)) ?? log.users.find(id)
        }
    }

    /// The profile of the user that `id` means at `moment`; the initial one if they were not there. Throws
    /// ``MomentError``.
    package func profile(of id: UserID, asOf moment: Moment, order: EventOrder) throws -> ProfileState {
        if order == .recorded {
            guard let place = try place(of: id, at: moment) else { return ProfileProjection.initial }
            return try log.profile(of: place.user, asOf: place.version)
        }
        do {
            guard let user = try user(with: id, at: moment, order: .occurred) else { return ProfileProjection.initial }
            return try profile(of: user.number, asOf: moment, order: .occurred)
        } catch MomentError.beforeUser {
            return ProfileProjection.initial
        }
    }
}
