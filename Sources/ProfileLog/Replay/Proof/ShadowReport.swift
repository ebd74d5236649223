/// The progress of a shadow, and the findings of its replay.
public struct ShadowReport: Hashable, Sendable {
    /// The shadow that it folds.
    package let shadow: Shadow
    /// Users with a damaged record, by number, the first hundred. They get no states.
    package let damaged: [UserNumber]
    /// Users with a live state that is not what their events say, by number, the first hundred.
    public let differing: [UserNumber]
    /// Tells whether it can be swapped.
    public var isComplete: Bool { shadow.isComplete }

    init(_ shadow: Shadow, damaged: [UInt64] = [], differing: [UInt64] = []) {
        self.shadow = shadow
        self.damaged = damaged.prefix(100).map(UserNumber.init(rawValue:))
        self.differing = differing.prefix(100).map(UserNumber.init(rawValue:))
    }
}

/// A call of `replayIntoShadow`: the users after the last written one, slice by slice.
struct ShadowRun {
    let log: EventLog
    let threads: Int
    let verify: Bool
    var shadow: Shadow
    var damaged: [UInt64] = []
    var differing: [UInt64] = []

    /// Returns the number of `count` users that are written in this pass.
    func done(of count: UInt64) -> UInt64 {
        shadow.users.isEmpty ? min(count, shadow.user) : UInt64(shadow.users.prefix { $0 <= shadow.user }.count)
    }

    /// Folds and writes the next `size` of `count` users. False if there are none.
    mutating func foldSlice(_ size: UInt64, of count: UInt64) throws -> Bool {
        let users =
            shadow.users.isEmpty
            ? Array(shadow.user + 1..<max(shadow.user, min(count, shadow.user + size)) + 1)
            : Array(shadow.users.drop { $0 <= shadow.user }.prefix(Int(size)))
        guard let last = users.last else { return false }
        let slices = try fold(users)
        let next = try log.shadow.write(slices, upTo: last, of: shadow)
        if next.user == last {
            damaged += slices.flatMap(\.damaged)
            differing += slices.flatMap(\.differing)
        }
        shadow = next
        return true
    }

    /// Each thread folds its part of `users`.
    private func fold(_ users: [UInt64]) throws -> [ShadowStates.Slice] {
        let (log, shadow, verify, threads) = (log, shadow, verify, min(threads, users.count))
        let slices = (0..<threads).map { _ in Guarded(ShadowStates.Slice?.none) }
        try onThreads(threads) { index in
            let part = stride(from: index, to: users.count, by: threads).lazy.map { users[$0] }
            let slice = try log.shadow.fold(part, for: shadow, verify: verify)
            slices[index].withWriting { $0 = slice }
        }
        return slices.compactMap { $0.withReading { $0 } }
    }
}
