/// The changes that an altered history would make: the answer of `EventLog.whatIf(_:)`.
public struct ProfileImpact: Sendable {
    /// The end of the history that was folded.
    package var position: Position
    /// Profiles that were compared: for single events or users those of these users, else all. Merged and erased users
    /// have none.
    public package(set) var users: UInt64 = 0
    /// Profiles that would differ.
    public package(set) var changed: UInt64 = 0
    /// Tells whether all users were compared.
    package var isComplete = true
    /// The number of users, merged and erased ones too.
    package var total: UInt64 = 0
    /// The last user number up to which all were compared.
    package var reached: UInt64 = 0
    /// Users who pass the condition only in the altered history.
    package var entered: UInt64 = 0
    /// Users who pass the condition only in the history as it is.
    package var left: UInt64 = 0
    /// The number of users who would differ, by field.
    package var fields: [Field: Counts] = [:]
    /// Some of the users who differ, ascending by number.
    package var samples: [Sample] = []

    package init(position: Position) { self.position = position }

    /// A field of the profile.
    package struct Field: Hashable, Sendable, Comparable {
        package var group: FieldChange.Group
        package var name: String

        package init(_ change: FieldChange) { (group, name) = (change.group, change.field) }

        package static func < (left: Field, right: Field) -> Bool {
            let groups = FieldChange.Group.allCases
            let places = [left, right].map { groups.firstIndex(of: $0.group) ?? 0 }
            return places[0] != places[1] ? places[0] < places[1] : Name(left.name) < Name(right.name)
        }
    }

    /// The number of profiles in which a field would differ, by the kind of difference.
    package struct Counts: Hashable, Sendable {
        /// Users whose field has no value now, and would have one.
        package var set: UInt64 = 0
        /// Users whose field would have another value.
        package var changed: UInt64 = 0
        /// Users whose field has a value now, and would have none.
        package var lost: UInt64 = 0
    }

    /// A user who would differ.
    package struct Sample: Sendable {
        package var user: UserNumber
        package var changes: [FieldChange]
        /// Tells whether they pass the condition now, and would; nil without one.
        package var passes: Passes?
        /// The order in which samples are chosen: the least ones.
        fileprivate(set) var rank: UInt64
    }

    /// The answers of a condition about a user, as it is and as it would be.
    package struct Passes: Hashable, Sendable {
        package var before: Bool
        package var after: Bool

        package init(before: Bool, after: Bool) { (self.before, self.after) = (before, after) }
    }

    /// Values that would be lost, over all fields.
    package var lost: UInt64 { fields.values.reduce(0) { $0 + $1.lost } }
}

extension ProfileImpact {
    /// Counts a user whose profiles differ by `changes`, and keeps them as a sample if they are one of `limit`.
    package mutating func note(
        _ user: UserNumber, _ changes: [FieldChange], _ passes: Passes?, samples limit: Int, seed: UInt64
    ) {
        let moves = passes.map { $0.before != $0.after } ?? false
        if let passes, moves {
            if passes.after { entered += 1 } else { left += 1 }
        }
        if !changes.isEmpty { changed += 1 }
        guard !changes.isEmpty || moves else { return }
        for change in changes {
            fields[Field(change), default: Counts()].note(change)
        }
        // Who enters or leaves comes first.
        let rank = Self.rank(user, seed) | (moves ? 0 : 1 << 63)
        guard samples.count < limit || samples.last.map({ rank < $0.rank }) == true else { return }
        let place = samples.firstIndex { rank < $0.rank } ?? samples.count
        samples.insert(Sample(user: user, changes: changes, passes: passes, rank: rank), at: place)
        if samples.count > limit { samples.removeLast() }
    }

    /// A number that is as good as random, the same for the same user and seed.
    private static func rank(_ user: UserNumber, _ seed: UInt64) -> UInt64 {
        var random = SeededGenerator(seed: seed ^ user.rawValue &* 0x9E37_79B9_7F4A_7C15)
        return random.next() >> 1
    }

    /// Adds what was found of other users.
    mutating func add(_ other: ProfileImpact, samples limit: Int) {
        users += other.users
        changed += other.changed
        entered += other.entered
        left += other.left
        isComplete = isComplete && other.isComplete
        fields.merge(other.fields) { $0 + $1 }
        samples = Array((samples + other.samples).sorted { $0.rank < $1.rank }.prefix(limit))
    }
}

extension ProfileImpact.Counts {
    mutating func note(_ change: FieldChange) {
        if change.before == nil { set += 1 } else if change.after == nil { lost += 1 } else { changed += 1 }
    }

    fileprivate static func + (left: Self, right: Self) -> Self {
        Self(set: left.set + right.set, changed: left.changed + right.changed, lost: left.lost + right.lost)
    }
}
