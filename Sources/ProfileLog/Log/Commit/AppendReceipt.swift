/// The answer to an append that was acknowledged: where its events are, and what to expect next.
///
/// An append that had nothing to do gets an empty one: no users, `last` before `first`, and no repetition.
public struct AppendReceipt: Hashable, Sendable {
    /// The first event's position. The others follow without a gap.
    public internal(set) var first: Position
    /// Each event's user and version, in the order of their positions; empty if there was nothing to do.
    package var places: [Place]
    /// Tells whether the append was stored before, under the same idempotency key.
    public internal(set) var isRepetition: Bool
    /// The note of the append under its idempotency key; in a repetition that of the first time. Empty if it had none,
    /// or if its first event was erased, which has the note. A change of IDs under a key has a hash of itself.
    public internal(set) var note: [UInt8]
    /// Tells whether the append was stored before and its first event, with key and note, was erased since.
    package var isErased = false
    /// Tells whether the append was stored before and one of its events was erased since: only the key says that it is
    /// the same.
    package var isKnownByKey = false
    /// Versions of its users after the commit, where steps of in-app messages that follow from its events raised them.
    var raised: [UserNumber: Version] = [:]

    /// A user and one of their versions.
    package struct Place: Hashable, Sendable {
        /// The user.
        package var user: UserNumber
        /// The version that the event got.
        package var version: Version
    }

    /// The last event's position; before `first` if there are no events.
    public var last: Position { Position(rawValue: first.rawValue + UInt64(places.count) - 1) }

    /// Each user of the append, with the version to expect next. In a repetition it is the version after the first
    /// time.
    public var users: [UserNumber: Version] {
        var users: [UserNumber: Version] = [:]
        for place in places where place.user != .system { users[place.user] = version(after: place) }
        return users
    }

    /// The version to expect next after the event at `place`: if it is its user's last, that of the user after the
    /// commit, with the steps of in-app messages that followed.
    package func version(after place: Place) -> Version {
        guard let raised = raised[place.user], places.last(where: { $0.user == place.user }) == place else {
            return place.version
        }
        return raised
    }
}

extension AppendReceipt {
    /// The receipt of the append at `positions` with `field`, for a retry.
    init(
        repeating field: AppendField, at positions: Range<UInt64>, _ header: (UInt64) throws -> RecordHeader
    ) throws {
        let places = try positions.map { position in
            let header = try header(position)
            return Place(user: UserNumber(rawValue: header.user), version: Version(rawValue: header.version))
        }
        self.init(
            first: Position(rawValue: positions.lowerBound), places: places, isRepetition: true, note: field.note,
            isErased: field.isErased)
    }
}
