internal import ProfileLogSnippets

/// The log as one attempt to decide a request reads it.
///
/// What a decision relies on is recorded, and becomes the preconditions of its append. A user is read once: all looks
/// at them, by whatever ID, show the same version. What a decision reads is bounded by its ``Effort``.
package final class DecisionView {
    package let log: EventLog
    private let effort: Effort
    /// The number of users and profiles that may still be read.
    private var readsLeft: Int
    private var found: [UserID: UserInfo?] = [:]
    private var known: [UserNumber: UserInfo] = [:]
    private var holders: [UserID: (users: [UserInfo], everGiven: Set<UInt64>)] = [:]
    /// The users who must be as they are when the append is stored; nil for IDs that must lead to no user.
    private(set) var unchanged: [UserID: UserInfo?] = [:]
    /// The users that IDs must lead to.
    private var leading: [UserID: UserNumber] = [:]
    private var unusedKeys: [String] = []
    private var knownPolicies: [Name: AttributePolicy]?
    private var reliesOnPushTokens = false
    /// Custom attributes of which the type matters.
    private var typed: Set<Name> = []
    /// The sends that must wait as they did when the events of the system up to a version were read.
    private var waiting: [(dispatch: String, since: Version)] = []
    /// Addresses that are taken from users who have another one by now.
    private var releases: [UserID] = []
    /// The states over the whole store that were brought up to date, and up to where at least.
    private var states: Set<ObjectIdentifier> = []
    private var statesReach = Position.start

    /// The most that a decision may read, by who waits for it.
    package enum Effort {
        /// Other connections wait on this thread: some milliseconds.
        case fast
        /// No other request waits.
        case slow
        /// All writers of the store wait.
        case underLock

        /// Users and profiles that may be read.
        package var mostReads: Int {
            switch self {
            case .fast: 400
            case .slow: .max
            case .underLock: 4_000
            }
        }
    }

    package init(_ log: EventLog, _ effort: Effort) {
        self.log = log
        self.effort = effort
        readsLeft = effort.mostReads
    }

    // MARK: - Users

    /// The user with this ID; nil if there is none. Relies on nothing.
    package func find(_ user: UserID) throws -> UserInfo? {
        if let info = found[user] { return info }
        let info = try log.reader.users.find(user).map { know($0) }
        found[user] = .some(info)
        return info
    }

    /// The user as first found: their `braze_id` leads to them from then on, also after a merge.
    @discardableResult
    private func know(_ user: UserInfo) -> UserInfo {
        let first = known[user.number] ?? user
        known[user.number] = first
        found[.assignedID(first.brazeID)] = .some(first)
        return first
    }

    /// Tells whether an ID led to a user when it was looked up.
    func hasFound(_ user: UserID) -> Bool { (found[user] ?? nil) != nil }

    /// Adds a user who was found by other means.
    package func add(_ user: UserInfo) { know(user) }

    /// A user who was found before.
    package func user(_ number: UserNumber) -> UserInfo? { known[number] }

    /// The profile of a user who was found before, as they were then.
    package func profile(of number: UserNumber) throws -> ProfileState? {
        guard let info = known[number] else { return nil }
        try spend(1)
        return try log.reader.profile(of: number, asOf: info.version)
    }

    /// Returns the usage of a user who was found before, as they were then.
    package func usage(of number: UserNumber) throws -> UsageState? {
        guard let info = known[number] else { return nil }
        try spend(1)
        return try log.reader.state(UsageProjection.self, of: number, asOf: info.version)
    }

    /// The device with this ID; nil if it has no event. Relies on nothing.
    package func device(_ device: Name) throws -> DeviceState? {
        try spend(1)
        return try log.reader.devices.find(device.text)
    }

    /// The decision holds only if no event is appended to `user` before it is stored, and the ID still leads to them.
    package func requireUnchanged(_ user: UserID) throws {
        if !releases.contains(user) { unchanged[user] = .some(try find(user)) }
    }

    /// The decision holds only if `user` still leads to the same one. Who else appends to them does not matter.
    package func requireSame(_ user: UserID) throws {
        if let info = try find(user) { leading[user] = info.number }
    }

    // MARK: - Addresses

    /// The users who have `address` now; the first is the one that it resolves to. The decision holds only if no other
    /// user is given it.
    package func users(sharing address: UserID) throws -> [UserInfo] {
        if let known = holders[address] { return known.users }
        guard let read = try log.reader.addresses.holders(of: address, atMost: readsLeft) else {
            throw WorkBudgetExceeded()
        }
        try spend(read.everGiven.count)
        for user in read.users { know(user) }
        holders[address] = read
        return read.users
    }

    /// Tells whether several users were ever given `address`. Relies on nothing.
    package func isShared(_ address: UserID) throws -> Bool {
        try log.reader.addresses.holders(of: address, atMost: 1) == nil
    }

    /// The `braze_id` of the user that `address` resolves to; nil if no user has it. The decision holds only if it
    /// still leads to them.
    package func holder(of address: UserID) throws -> UserID? {
        guard let user = try users(sharing: address).first else { return nil }
        let id = UserID.assignedID(user.brazeID)
        try requireSame(id)
        return id
    }

    /// Takes `address`, which no user has, from the user who was made by it and that it still leads to, if there is
    /// one.
    package func release(_ address: UserID) throws {
        guard !releases.contains(address), try find(address) != nil else { return }
        try requireUnchanged(address)
        releases.append(address)
        found[address] = .some(nil)
    }

    // MARK: - The whole store

    /// The policies of attributes as the next event is folded. Relies on nothing.
    package func policies() throws -> [Name: AttributePolicy] {
        if let known = knownPolicies { return known }
        let policies = try log.rules().rules.policies
        knownPolicies = policies
        return policies
    }

    /// Lends a state over the whole store that has all that was acknowledged before the first look at it.
    package func withState<P: StoreProjection, Result>(
        of live: LiveState<P>, _ body: (P.State) throws -> Result
    ) throws -> Result {
        if !states.contains(ObjectIdentifier(live)) {
            let last = try log.lastPosition()
            if try !live.catchUpIfNear() {
                guard effort == .slow else { throw WorkBudgetExceeded() }
                try live.catchUp()
            }
            statesReach = states.isEmpty ? last : min(statesReach, last)
            states.insert(ObjectIdentifier(live))
        }
        if let result = try live.withStateIfThere(body) { return result }
        // A person was erased since.
        guard effort == .slow else { throw WorkBudgetExceeded() }
        return try live.withState(body)
    }

    /// The decision holds only if no event changes `subject` that the states over the whole store did not have.
    package func requireUnchanged(_ subject: Preconditions.Subject) {
        // Each fact is a walk over the new events, under the lock.
        switch subject {
        case .pushTokens: reliesOnPushTokens = true
        case .types(let names): typed.formUnion(names)
        }
    }

    /// The decision holds only if no event of the system after `version` changes when the send with this dispatch ID
    /// takes place.
    package func requireUnchanged(waiting dispatch: String, since version: Version) {
        waiting.append((dispatch, version))
    }

    /// The decision holds only if nothing is stored under `key`.
    package func requireUnused(_ key: String) { unusedKeys.append(key) }

    /// The decision reads so much that no one else may wait for it.
    package func requireSlowPath() throws { if effort != .slow { throw WorkBudgetExceeded() } }

    private func spend(_ reads: Int) throws {
        guard reads <= readsLeft else { throw WorkBudgetExceeded() }
        readsLeft -= reads
    }

    // MARK: - What it relies on

    /// `append` with all that the decision relied on as its preconditions.
    package func completed(_ append: PreparedAppend) -> PreparedAppend {
        var preconditions = Preconditions()
        for (address, holders) in holders { preconditions.require(.holders(address, holders.everGiven)) }
        for (user, info) in unchanged { preconditions.require(.user(user, info?.number, info?.version)) }
        for (user, number) in leading { preconditions.require(.user(user, number, nil)) }
        if reliesOnPushTokens { preconditions.require(.unchanged(.pushTokens, since: statesReach)) }
        if !typed.isEmpty { preconditions.require(.unchanged(.types(of: typed), since: statesReach)) }
        for (dispatch, version) in waiting { preconditions.require(.waits(dispatch: dispatch, since: version)) }
        for key in unusedKeys { preconditions.require(.unusedKey(key)) }
        var append = append
        append.require(preconditions, releasing: releases)
        return append
    }
}
