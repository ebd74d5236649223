/// The log of one store: opened once for a process, used by any thread.
///
/// Reads are synchronous and short. Appends are synchronous too, and one at a time: concurrent callers go through a
/// `LogWriter`. The store is closed with the last reference to the log, or by ``close()``.
public final class EventLog: Sendable {
    package let store: OpenStore
    package let states: StateStore
    let caches: CacheKeeper
    package let committer: Committer

    package var path: String { store.path }
    /// The options with which it was opened.
    package var options: LogOptions { store.options }
    /// The store's own ID, made with it.
    package var storeID: [UInt8] { store.storeID }

    package var environment: Environment { store.environment }
    package var names: NameTable { store.names }
    var braze: BrazeIDs { store.braze }
    /// The shadow of this store's states.
    package var shadow: ShadowStates { ShadowStates(store: store, states: states) }
    private var eraser: Eraser { Eraser(store: store, caches: caches, committer: committer) }

    /// Opens the store in the folder `path`, and creates it if `create` is true.
    ///
    /// Costs a scan of the log's tail: the events that the caches lack. The caches are written when that is
    /// `options.indexLag` records, or as many as there are users, up to 2^20; by the end of the write up to three times
    /// as much may have gathered. If they lag by more, or cannot be used, they are written first.
    ///
    /// - Parameter projections: your own whose states are stored. The profile's are stored always. A projection that is
    ///   not among them can be read too: it is folded from the first event.
    @_disfavoredOverload  // in the package, the other one
    public convenience init(
        path: String, create: Bool = false, options: LogOptions = LogOptions(), projections: [any Projection.Type] = []
    ) throws {
        try self.init(
            path: path, create: create, options: options, projections: [ProfileProjection.self] + projections)
    }

    /// As the public one; `projections` are all with stored states. The batch `creation` makes a new store. With
    /// `alone` it throws `inUse` if the store is open elsewhere.
    package init(
        path: String, create: Bool = false, options: LogOptions = LogOptions(),
        projections: [any Projection.Type] = [ProfileProjection.self], creation: CommitBatch? = nil,
        alone: Bool = false
    ) throws {
        store = try OpenStore(
            path: path, create: create, options: options, projections: projections, creation: creation, alone: alone)
        states = StateStore(store: store)
        caches = CacheKeeper(store, states)
        committer = Committer(store: store, caches: caches)
        if writeRefusal == nil { try caches.repairCaches() }
        try environment.withReadTransaction { try store.rebuildTail($0) }
    }

    /// Tells whether there is a store in the folder `path`, and not only the beginning of one.
    package static func exists(path: String) throws -> Bool { try OpenStore.exists(path: path) }

    package func brazeID(of user: UserNumber) -> String { braze.id(user.rawValue) }

    /// Position of the last event; 0 in an empty log.
    public func lastPosition() throws -> Position { try store.lastPosition() }

    /// The reason why the log takes no writes now; nil if it does.
    ///
    /// It compares the store's files and the last event with those that it knows, so it knows before the next append
    /// does.
    public var writeRefusal: StorageError? { store.writeRefusal }

    /// Begins to read the store into memory, unless it takes more than half of the machine's, and returns at once.
    ///
    /// For a process that will look up many users. Without it each first look-up waits for the disk, a page at a time,
    /// until there were so many that the log does the same by itself.
    package func preload() { environment.preload() }

    /// Runs `body` on one consistent view of everything committed before the call, by any process.
    ///
    /// Refuses if a name is damaged, unless `whateverIsDamaged`.
    package func withView<Result>(
        whateverIsDamaged: Bool = false, _ body: (LogView) throws -> Result
    ) throws -> Result {
        try store.withView(whateverIsDamaged: whateverIsDamaged, body)
    }

    // MARK: - Rules and voids

    /// Folds the events after this one by `rules`. They replace those before; the values of earlier events stay.
    ///
    /// The receipt is empty if the same rules hold already.
    ///
    /// ```swift
    /// try log.setRules(FoldRules(policies: ["plan": .lastOccurred]))
    /// ```
    @discardableResult
    public func setRules(_ rules: FoldRules, source: EventSource = .system) throws(AppendError) -> AppendReceipt {
        try commit(PreparedAppend(.rules(rules, EventContext(source: source))))
    }

    /// Makes the event at `position` void: from now on it does not count in its user's state.
    ///
    /// Only what was saved or logged can be void. The event stays in the log; states as of a position before the void
    /// still have it. A saved item that is void is flushed like others, and changes nothing.
    ///
    /// ```swift
    /// try log.void(receipt.last, actor: "ops", reason: "a test purchase")
    /// ```
    @discardableResult
    public func void(
        _ position: Position, actor: String, reason: String, source: EventSource = .system,
        idempotencyKey key: String? = nil
    ) throws(AppendError) -> AppendReceipt {
        try commit(VoidRequest(position, isVoid: true, actor: actor, reason: reason), source, key)
    }

    /// Lets the event at `position`, which is void, count again.
    @discardableResult
    public func unvoid(
        _ position: Position, actor: String, reason: String, source: EventSource = .system,
        idempotencyKey key: String? = nil
    ) throws(AppendError) -> AppendReceipt {
        try commit(VoidRequest(position, isVoid: false, actor: actor, reason: reason), source, key)
    }

    private func commit(
        _ request: VoidRequest, _ source: EventSource, _ key: String?
    ) throws(AppendError) -> AppendReceipt {
        try commit(.void(request, context: EventContext(source: source), idempotencyKey: key))
    }

    // MARK: - Erasing

    /// Erases persons: each user in `users`, with all users merged into them.
    ///
    /// Their events become tombstones, which keep place, kind and time. Values leave every table with them: IDs,
    /// addresses, keys, snapshots, pending items, devices that only they used, and names that no other user uses.
    /// Each user gets one last event, `userErased`. It is one commit: durable when the call returns, or nothing is
    /// changed. Copies of old pages stay in free space of the file until `compact(path:)`, and in backups. The note of
    /// an append stays with its first event, if that is another user's.
    ///
    /// Reads every record of the log if the person had a device or a name of their own, most of it without the write
    /// lock. Takes memory for the pages of their events.
    ///
    /// - Parameters:
    ///   - actor: who erases; kept in the log for ever.
    ///   - reason: why; kept in the log for ever.
    public func erase(
        _ users: [UserID], actor: String, reason: String, source: EventSource = .system
    ) throws(AppendError) -> Erasure {
        for user in users { try Validation.check(user) }
        return try eraser.erase(users.map { ErasureTarget(id: $0) }, actor, reason, source)
    }

    /// As ``erase(_:actor:reason:source:)``, for users who were found. Refused with `versionConflict` if one of them
    /// was merged or erased since: no other user is erased for them.
    package func erase(
        found users: [UserInfo], actor: String, reason: String, source: EventSource = .system
    ) throws(AppendError) -> Erasure {
        let targets = users.map { ErasureTarget(id: .assignedID($0.brazeID), number: $0.number) }
        return try eraser.erase(targets, actor, reason, source)
    }

    // MARK: - Caches

    /// Writes the caches up to the log's end: rows in key order, then the checkpoint, in one transaction (in several if
    /// they lag by more than usual). Then writes the states over the whole store, without the write lock.
    ///
    /// Caches can lag without harm, so a failure here loses nothing: the next one catches up.
    package func writeIndex() throws {
        try caches.writeIndex()
    }

    /// Drops every cache and writes it again from the log. The log, the names and what they say are untouched.
    ///
    /// Costs some microseconds for each event of the log, in rounds of 2^20 events. Other processes and threads commit
    /// between their slices, unless they wait for a `LogWriter` that rebuilds the caches itself. Until the end,
    /// processes that read or commit hold in memory what the rounds have not reached. Drops nothing if the log is
    /// damaged: damaged records could not be indexed again.
    package func rebuildCaches() throws {
        try caches.rebuildCaches()
    }

    // MARK: - Restoring

    /// Stores the next records of a log that is restored into this one, durably, and leaves the caches as they are:
    /// ``writeCachesOfRestored(_:)`` writes them at the end. Until then the log is not for reading.
    package func restore(_ batch: CommitBatch) throws { try committer.applyWithoutCaches(batch) }

    /// Writes the caches of a log that was restored, in rounds of 2^20 events, and then the states over the whole
    /// store.
    ///
    /// - Parameter progress: gets the position that the caches have reached; what it throws ends the work.
    package func writeCachesOfRestored(_ progress: (Position) throws -> Void) throws {
        try caches.writeInRounds(progress)
    }

    // MARK: - Closing

    /// Closes the store: writes the caches, waits for the reads and commits that run, and gives the files back.
    ///
    /// From then on every read throws `StorageError.closed` and every append `AppendError.closed`; sequences of events
    /// end with that error. A `LogWriter` is closed before: what still waits in it would be refused. If another log of
    /// this process has the same store open, the files stay open for that one. A second call does nothing.
    ///
    /// Must not be called within a read of the log: it would wait for itself.
    public func close() {
        if isClosed { return }
        // Caches can lag without harm.
        if writeRefusal == nil { try? caches.writeBeforeClosing() }
        store.close()
    }

    /// Tells whether the log was closed.
    package var isClosed: Bool { store.isClosed }

    // MARK: - Checking

    /// Checks the store: each record's checksum and content, gapless order and versions, each index against the log,
    /// names, identifiers, and each stored state against a fresh fold. Of projections that the log was opened without,
    /// only the checksums.
    ///
    /// Goes on after damage, so that one run names all of it. Reads only. Memory grows with users and pending items.
    public func check(progress: (LogProgress) -> Void = { _ in }) throws -> CheckReport {
        while true {
            let erasures = try withView(whateverIsDamaged: true) { _ in names.erasures }
            let report = try withView(whateverIsDamaged: true) { view in
                var checker = LogChecker(self, view)
                try checker.run(progress)
                return checker.report
            }
            // A concurrent erasure removes names that the checker's view still needs.
            if report.isSound || names.erasures == erasures { return report }
        }
    }
}
