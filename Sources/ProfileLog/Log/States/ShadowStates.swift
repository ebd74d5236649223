internal import Synchronization

/// The shadow: states that a replay writes next to the live ones, and that a swap makes live in one transaction.
///
/// A stored state as of a version is a pure fold of events that never change. So a shadow is right whatever it lacks,
/// and needs no updates: a reader folds the events after the newest snapshot. Only an erasure changes the past; it
/// removes the person's rows of every generation, and states folded from a view before it are not written.
package struct ShadowStates: Sendable {
    let store: OpenStore
    let states: StateStore

    private var tables: Tables { store.environment.tables }

    /// A request for a fold.
    package struct Request: Sendable {
        /// Ascending; empty for all users.
        package var users: [UInt64]
        package var until: Position?
        /// Goes on with the shadow of this generation only; nil for any.
        package var generation: UInt64?

        package init(users: [UInt64] = [], until: Position? = nil, generation: UInt64? = nil) {
            self.users = users.sorted()
            (self.until, self.generation) = (until, generation)
        }
    }

    /// The shadow as it is now; nil if there is none. With `number`, refuses a shadow of another generation.
    package func current(ifGeneration number: UInt64? = nil) throws -> Shadow? {
        try store.environment.withReadTransaction { try Generations.read(tables, $0).shadow(number) }
    }

    /// Begins a shadow, or goes on with one of the same work. A complete one gets another pass, over what was recorded
    /// since. Refuses if there is a shadow of other work.
    package func begin(_ request: Request) throws -> Shadow {
        try write { generations, transaction in
            let begun = try OpenStore.last(transaction, tables)
            var shadow = newShadow(request, generation: generations.newest + 1, begun: begun)
            if let found = try generations.shadow(request.generation) {
                guard found.isSameWork(as: shadow) else { throw Self.otherWork(found) }
                shadow = found
                if found.isComplete { (shadow.begun, shadow.user, shadow.pass) = (begun, 0, found.pass + 1) }
            } else if request.generation != nil {
                throw Self.gone
            }
            generations.newest = shadow.generation
            generations.shadow = shadow
            return shadow
        }
    }

    /// Tells whether a replay of all users by this program was begun and is neither swapped nor discarded.
    package func isBegun() throws -> Bool {
        try current()?.isSameWork(as: newShadow(Request(), generation: 0, begun: 0)) ?? false
    }

    /// Tells whether `shadow` has a projection of this program in a later revision.
    package func isOfNewerProgram(_ shadow: Shadow) -> Bool {
        shadow.projections.contains { projected in
            store.projections.contains { $0.name == projected.name.text && $0.revision < projected.revision }
        }
    }

    /// A shadow of which nothing is folded, with the revisions of this program.
    private func newShadow(_ request: Request, generation: UInt64, begun: UInt64) -> Shadow {
        let projections = store.projections.map { Shadow.Projected(name: Name($0.name), revision: $0.revision) }
        return Shadow(
            generation: generation, projections: projections, until: request.until, users: request.users, begun: begun)
    }

    private static func otherWork(_ shadow: Shadow) -> AppendError {
        // As `profiled` folds after an upgrade.
        let isWhole = shadow.users.isEmpty && shadow.until == nil
        return .invalid(
            place: "The shadow", reason: "is of another replay: \(shadow.work)",
            remedy: isWhole
                ? "Another program may fold it: try again after its swap. If none does, discard it."
                : "Swap it or discard it first.")
    }

    // MARK: - Folding

    /// The states of some users, folded by one thread.
    package struct Slice: Sendable {
        fileprivate var rows: [SnapshotChange] = []
        fileprivate var states: UInt64 = 0
        fileprivate var events: UInt64 = 0
        /// The last position of the view from which they were folded.
        fileprivate var seen = UInt64.max
        /// Users with a damaged record. The others are folded.
        package fileprivate(set) var damaged: [UInt64] = []
        /// Users with a live state that differs from the fresh one.
        package fileprivate(set) var differing: [UInt64] = []
    }

    /// Folds the users in `users` for `shadow` from one view. With `verify`, compares the live states with the fresh
    /// ones.
    package func fold(_ users: some Sequence<UInt64>, for shadow: Shadow, verify: Bool) throws -> Slice {
        try store.withView { live in
            var view = live
            for projected in shadow.projections {
                view.storedNames[projected.name] = Generations.storedName(projected.name.text, shadow.generation)
            }
            var slice = Slice(seen: live.last)
            for user in users {
                do {
                    let version = try live.version(of: user, upTo: shadow.until?.rawValue ?? .max)
                    if version == 0 { continue }
                    var folded: UInt64 = 0
                    for projection in store.projections where projection.scope == .user {
                        let count = try fold(projection, user, version, shadow, verify ? live : nil, view, &slice)
                        folded = max(folded, count)
                    }
                    slice.events += folded
                } catch StorageError.damaged {
                    slice.damaged.append(user)
                }
            }
            return slice
        }
    }

    /// Folds one state, and returns how many events were folded.
    private func fold<P: Projection>(
        _: P.Type, _ user: UInt64, _ version: UInt64, _ shadow: Shadow, _ live: LogView?, _ view: LogView,
        _ slice: inout Slice
    ) throws -> UInt64 {
        let known = try states.snapshot(P.self, user, upTo: version, view)?.version ?? 0
        let interval = UInt64(store.options.snapshotInterval)
        let isDue = version > known && (!shadow.users.isEmpty || interval > 0 && version - known >= interval)
        if isDue {
            var rows: [SnapshotChange] = []
            try states.addSnapshots(of: P.self, user, version, view, to: &rows)
            slice.rows += rows
            slice.states += UInt64(rows.count { $0.row != nil })
        }
        guard let live else { return isDue ? version - known : 0 }
        var proof = StateProof<P>(states)
        if try !proof.differences(of: user, at: [version], in: live).isEmpty, slice.differing.last != user {
            slice.differing.append(user)
        }
        return isDue ? version - known : 0
    }

    /// Writes what was folded up to user `user`, as the next step of `shadow`, and returns the shadow after it.
    ///
    /// Returns it as it is in the store if another process went on with it, or if a user was erased during the fold,
    /// which must be repeated then.
    package func write(_ slices: [Slice], upTo user: UInt64, of shadow: Shadow) throws -> Shadow {
        // In the order of the keys. The last change of a key counts.
        var rows: [[UInt8]: SnapshotChange] = [:]
        for row in slices.lazy.flatMap(\.rows) { rows[row.key] = row }
        let ordered = rows.values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        return try step(of: shadow) { next, transaction in
            guard try states.isNobodyErased(since: slices.map(\.seen).min() ?? .max, transaction) else { return }
            for row in ordered { try row.apply(to: tables.snapshots, transaction) }
            next.user = user
            next.states += slices.reduce(0) { $0 + $1.states }
            next.events += slices.reduce(0) { $0 + $1.events }
        }
    }

    /// Changes the stored `shadow`, unless another process went on with it, and returns the stored one.
    private func step(
        of shadow: Shadow, _ change: (inout Shadow, borrowing WriteTransaction) throws -> Void
    ) throws -> Shadow {
        try write { generations, transaction in
            guard var next = generations.shadow, next.generation == shadow.generation else { throw Self.gone }
            if next == shadow { try change(&next, transaction) }
            generations.shadow = next
            return next
        }
    }

    /// Folds up to `limit` events more into a state over the whole store, for each of these. Returns whether all have
    /// reached the end. One that meets a damaged record ends there: its readers get the error.
    package func foldStoreStates(of shadow: Shadow, limit: UInt64) throws -> Bool {
        guard try current()?.generation == shadow.generation else { throw Self.gone }
        let last = try store.lastPosition().rawValue
        let end = min(last, shadow.until?.rawValue ?? .max)
        var isDone = true
        for projection in store.projections where projection.scope == .store {
            do {
                let reached = try states.keepState(projection, ofShadow: shadow.generation, upTo: end, limit: limit)
                if reached < end { isDone = false }
            } catch StorageError.damaged {}
        }
        return isDone
    }

    /// Ends a pass: the shadow is complete, or with `again` the next pass begins.
    package func endPass(of shadow: Shadow, again: Bool) throws -> Shadow {
        try step(of: shadow) { next, transaction in
            if again {
                next.begun = try OpenStore.last(transaction, tables)
                (next.user, next.pass) = (0, next.pass + 1)
            } else {
                next.isComplete = true
            }
        }
    }

    /// Tells whether `error` says that the shadow was swapped or discarded, here or by another process.
    package static func isGone(_ error: AppendError) -> Bool { error == gone || error == missing }

    package static let gone = AppendError.invalid(
        place: "The shadow", reason: "was swapped or discarded by another process, or the caches were rebuilt",
        remedy: "Fold another one if you need it.")

    private static let missing = AppendError.invalid(
        place: "The shadow", reason: "does not exist", remedy: "Fold one first.")

    // MARK: - Ending it

    /// Makes the shadow's states the live ones, in one transaction. Of a shadow of some users, their states only.
    ///
    /// Rows that are no longer read stay until `removeUnused`. With `number`, refuses a shadow of another generation.
    package func swap(ifGeneration number: UInt64? = nil) throws -> Shadow {
        try write { generations, transaction in
            guard let shadow = try generations.shadow(number) else {
                throw Self.missing
            }
            guard shadow.isComplete else {
                throw AppendError.invalid(
                    place: "The shadow", reason: "is not complete: \(shadow.work)",
                    remedy: "Fold it again; it goes on where it stopped.")
            }
            if shadow.users.isEmpty {
                for projected in shadow.projections { generations.live[projected.name] = shadow.generation }
            } else {
                for projected in shadow.projections {
                    try replaceStates(of: projected.name.text, shadow, generations, transaction)
                }
            }
            generations.shadow = nil
            return shadow
        }
    }

    /// Puts the shadow's snapshots of its users in the place of their live ones.
    private func replaceStates(
        of projection: String, _ shadow: Shadow, _ generations: Generations, _ transaction: borrowing WriteTransaction
    ) throws {
        let live = Generations.storedName(projection, generations.live[Name(projection)] ?? 0)
        let name = Generations.storedName(projection, shadow.generation)
        for user in shadow.users {
            var rows: [SnapshotChange] = []
            let prefix = KeyCoding.snapshotPrefix(live, user: user)
            try transaction.forEachRow(of: tables.snapshots.table, withPrefix: prefix) {
                rows.append(.init(key: Array($0.key)))
            }
            let fresh = KeyCoding.snapshotPrefix(name, user: user)
            try transaction.forEachRow(of: tables.snapshots.table, withPrefix: fresh) {
                rows.append(.init(key: prefix + Array($0.key.dropFirst(fresh.count)), row: Array($0.value)))
            }
            for row in rows { try row.apply(to: tables.snapshots, transaction) }
        }
    }

    /// Gives the shadow up; nil if there is none. Its rows stay until `removeUnused`. With `number`, refuses a shadow
    /// of another generation.
    package func discard(ifGeneration number: UInt64? = nil) throws -> Shadow? {
        try write { generations, _ in
            let shadow = try generations.shadow(number)
            generations.shadow = nil
            return shadow
        }
    }

    /// Removes up to `limit` rows of generations that are neither live nor the shadow. Returns whether more are left.
    package func removeUnused(limit: Int = 4_096) throws -> Bool {
        try write { generations, transaction in
            var gone: [[UInt8]] = []
            try transaction.withCursor(tables.snapshots) { cursor in
                var row = try cursor.first()
                while let found = row, gone.count < limit {
                    let key = SnapshotKey(found.key)
                    if let key, generations.uses(key.projection) {
                        // After all keys of the same name.
                        row = try cursor.seek(key.prefix + [UInt8](repeating: .max, count: 17))
                    } else {
                        if key != nil { gone.append(Array(found.key)) }
                        row = try cursor.next()
                    }
                }
            }
            for key in gone { try transaction.delete(tables.snapshots, key) }
            for key in try Generations.stateKeys(tables, transaction)
            where !generations.uses(String(decoding: key, as: UTF8.self)) {
                try transaction.delete(tables.checkpoints, key)
            }
            return gone.count == limit
        }
    }

    // MARK: - States of another revision

    /// Rows of a projection that `projections(withStatesOf:)` looks at.
    private static let mostLooked = 1_000

    /// Programs that wrote a state, by its revision.
    package enum Writers: Sendable {
        case olderPrograms, newerPrograms, otherPrograms

        fileprivate func wrote(_ stored: UInt32, comparedWith own: UInt32) -> Bool {
            switch self {
            case .olderPrograms: stored < own
            case .newerPrograms: stored > own
            case .otherPrograms: stored != own
            }
        }
    }

    /// The projections with live states of `writers`, which this program cannot use: it folds whole histories until
    /// they are replayed. Looks at a thousand states of each.
    package func projections(withStatesOf writers: Writers) throws -> [String] {
        try store.withView { try projections(withStatesOf: writers, $0) }
    }

    /// As the other one, as of `view`.
    package func projections(withStatesOf writers: Writers, _ view: LogView) throws -> [String] {
        try store.projections.filter { try hasStates($0, of: writers, view) }.map { $0.name }
    }

    private func hasStates<P: Projection>(_: P.Type, of writers: Writers, _ view: LogView) throws -> Bool {
        func isOutdated(_ row: UnsafeRawBufferPointer) -> Bool {
            row.count >= 8 && RecordHeader.hasRightChecksum(row)
                && writers.wrote(row.bigEndian32(), comparedWith: P.revision)
        }
        let name = view.storedName(of: P.self)
        if P.scope != .user { return try view.get(tables.checkpoints, Array(name.utf8)).map(isOutdated) ?? false }
        let prefix = KeyCoding.snapshotPrefix(name)
        var looked = 0
        var isFound = false
        try view.forEachRow(of: tables.snapshots.table, from: prefix) { row in
            guard row.key.starts(with: prefix) else { return false }
            looked += 1
            isFound = isOutdated(row.value)
            return !isFound && looked < Self.mostLooked
        }
        return isFound
    }

    // MARK: - Support

    /// Runs `body` in a write transaction and stores what it makes of the generations. Another commit waits that long.
    private func write<Result: Sendable>(
        _ body: (inout Generations, borrowing WriteTransaction) throws -> Result
    ) throws -> Result {
        try store.write { transaction in
            let found = try Generations.read(tables, transaction)
            var generations = found
            let result = try body(&generations, transaction)
            if generations != found { try generations.write(tables, transaction) }
            return result
        }
    }
}

extension Generations {
    /// The shadow, which must be of generation `number` if that is given.
    fileprivate func shadow(_ number: UInt64?) throws(AppendError) -> Shadow? {
        if let number, let shadow, shadow.generation != number {
            throw .invalid(
                place: "The shadow", reason: "is of generation \(shadow.generation), not \(number)",
                remedy: "Look at it again.")
        }
        return shadow
    }
}

extension Shadow {
    /// The work of the fold, in words.
    package var work: String {
        let names = projections.map(\.name.text).joined(separator: ", ")
        let whose = users.isEmpty ? "all users" : users.count == 1 ? "1 user" : "\(users.count) users"
        let end = until.map { ", up to position \($0.rawValue)" } ?? ""
        return "\(names) of \(whose)\(end), folded up to user \(user)"
    }
}
