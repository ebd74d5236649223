/// A flush under way: what is still to be read, and what the SDK has been given.
struct PublishedFlush {
    let launch: LaunchKind
    /// What the launch is to flush.
    let lists: Set<PendingKind>
    /// When the app was launched.
    let time: Timestamp
    /// What is read, looped over and removed together, in order: each list after the other, or all of them (9).
    var stages: [[PendingKind]]
    /// What other processes were writing when the app was launched.
    let beingSaved: [Position]
    /// It dies before a removal, after so many items if the number is given (24).
    var crash: Crash?
    /// From this call on the SDK stores nothing (25).
    var firstUnstored: Int = .max
    /// Calls of the SDK so far, in vain or not.
    var calls = 0
    /// Which items were delivered in this flush for the first time, and from which list.
    var delivered: [(position: Position, kind: PendingKind)] = []

    struct Crash {
        var afterItems: Int?
    }

    var isDueToCrash: Bool { crash?.afterItems == calls }

    /// The items that overtook one which was saved before them and lies in a later list.
    var overtaking: [Position] {
        var overtaking: [Position] = []
        var earliest: Position?
        var earliestOfKind: Position?
        var kind: PendingKind?
        for item in delivered.reversed() {
            if item.kind != kind {
                kind = item.kind
                earliest = [earliest, earliestOfKind].compactMap(\.self).min()
                earliestOfKind = nil
            }
            if let earliest, earliest < item.position { overtaking.append(item.position) }
            earliestOfKind = min(earliestOfKind ?? item.position, item.position)
        }
        return overtaking
    }
}
