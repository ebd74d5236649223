/// A simulated device: turns an input into the events that the log appends.
///
/// Pure: only state, time and input decide, so that every interleaving can be tested without a thread, a disk or a
/// sleep. The state changes when the events are folded (`DeviceState.apply`). Rules: spec/device 4 and 6,
/// docs/device-simulation.md.
package struct Device {
    package let state: DeviceState
    /// The time by the caller's clock, in microseconds since 1970.
    package let now: Int64
    /// The canonical users of items whose users were merged away since.
    package var owners: [UInt64: UInt64] = [:]
    /// The next items, if they are known.
    package var next: NextItems?

    package init(state: DeviceState, now: Int64, owners: [UInt64: UInt64] = [:]) {
        self.state = state
        self.now = now
        self.owners = owners
    }

    /// An input of a device.
    package enum Input: Hashable, Sendable {
        case launch(LaunchKind, lists: Set<PendingKind> = PendingKind.all)
        /// The app leaves the foreground.
        case leave
        /// The next of what waits is handed to the SDK.
        case flush(FlushInput)
        /// The SDK sends the next of what it took, if it may.
        case send(SendCause, limit: Int)
        case changeUser(to: Person)
        case logOut
        /// The SDK forgets what it has not sent, and the user.
        case wipe
        case change(DeviceSettings)
        /// Something happens to its pushes.
        case push(PushInput)
    }

    /// A user comes to the device.
    package enum Person: Hashable, Sendable {
        case known(UInt64)
        case new(UserID)
    }

    /// An action of the device: an event of a user.
    package struct Action: Hashable, Sendable {
        package let event: ProfileEvent
        package let user: Owner
        /// Tells whether it is a step of a message whose cause is the step before it in the same reaction.
        package let followsLastStep: Bool

        init(_ event: ProfileEvent, _ user: Owner, followsLastStep: Bool = false) {
            (self.event, self.user, self.followsLastStep) = (event, user, followsLastStep)
        }
    }

    /// The owner of an event.
    package enum Owner: Hashable, Sendable {
        /// The user on the device; a new anonymous one if there is none.
        case current
        case user(UInt64)
        case new(UserID)
    }

    /// The device's knowledge of its current user.
    package struct Current: Hashable, Sendable {
        package let user: UInt64
        package let version: UInt64
        package let identities: [UserID]
        /// Tells whether devices are the only IDs that the user ever had.
        package let isAnonymous: Bool

        package init(user: UInt64, version: UInt64, identities: [UserID], isAnonymous: Bool) {
            self.user = user
            self.version = version
            self.identities = identities
            self.isAnonymous = isAnonymous
        }
    }

    private var status: DeviceStatus { state.status }

    /// The user that `item` belongs to.
    func owner(of item: PendingItem) -> UInt64 { owners[item.user] ?? item.user }

    /// The device's reaction to `input`. `current` is the user who is on it, if any.
    package func handle(_ input: Input, current: Current?) -> [Action] {
        switch input {
        case .launch(let kind, let lists): launch(kind, lists)
        case .leave: status.launch > 0 && status.leftAt == nil ? [Action(.appLeft, .current)] : []
        case .flush(let input): flush(input)
        case .send(let cause, let limit): maySend(cause) ? send(limit) : []
        case .changeUser(let person): changeUser(to: person, current)
        case .logOut: logOut()
        case .wipe: discardQueue("wipe") + endSession() + leaveUser()
        case .change(let settings): settings == status.settings ? [] : [Action(.deviceChanged(settings), .current)]
        case .push(let input): PushMachine(self, input).handle()
        }
    }

    // MARK: - Sessions

    func launch(_ kind: LaunchKind, _ lists: Set<PendingKind>) -> [Action] {
        let settings = settings(afterLaunch: kind)
        let changed = settings == status.settings ? [] : [Action(.deviceChanged(settings), .current)]
        let launched = changed + [Action(.appLaunched(kind, lists: lists), .current)]
        // The SDK starts a session when it exists.
        if kind.isInBackground || !settings.push.hasInstance { return launched }
        if status.session > 0, let leftAt = status.leftAt,
            (0...Int64(status.settings.sessionTimeout) * 1_000_000).contains(now - leftAt)
        {
            return launched
        }
        // The end of the last session is noticed now (spec/device 4, end detection).
        return endSession() + launched + [Action(.sessionStarted, .current)]
    }

    /// Tells whether a start of the app makes a new process, which has nothing of what the old one had in memory.
    package func startsProcess(_ kind: LaunchKind) -> Bool {
        kind != .return || status.settings.push.isForceQuit || status.isRemoved
    }

    /// Returns the device's settings once the app runs: a new process has no instance of the SDK if that waits.
    func settings(afterLaunch kind: LaunchKind) -> DeviceSettings {
        var settings = status.settings
        let startup = settings.push.startup
        if startsProcess(kind) { settings.push.hasInstance = !startup.isDelayed }
        settings.push.isForceQuit = false
        if !kind.isInBackground, settings.push.permission == .notAsked, startup.isDelayed,
            startup.automation.contains(.authorization)
        {
            settings.push.permission = .granted
        }
        return settings
    }

    func endSession() -> [Action] {
        status.session > 0 ? [Action(.sessionEnded(started: Position(rawValue: status.session)), .current)] : []
    }

    // MARK: - The SDK's queue

    /// Tells whether the SDK may send now.
    package func maySend(_ cause: SendCause) -> Bool {
        let settings = status.settings
        guard settings.isSDKEnabled, settings.push.hasInstance, settings.isOnline else { return false }
        if cause == .request { return true }
        guard settings.requestPolicy == .automatic else { return false }
        guard cause == .timer, let sentAt = status.sentAt else { return true }
        // A clock that was set back does not count.
        return !(0..<Int64(settings.flushInterval) * 1_000_000).contains(now - sentAt)
    }

    private func send(_ limit: Int) -> [Action] {
        let items = next?.queue ?? queueChunks(limit: limit).first ?? []
        guard let user = items.first.map(owner) else { return [] }
        return [Action(.dataSent(items.map { Position(rawValue: $0.position) }), .user(user))]
    }

    private func discardQueue(_ why: String) -> [Action] {
        discard(state.queue, by: Discard.sdk, "it was not sent before the \(why)")
    }

    /// Gives `items` up: an event for each of their users.
    func discard(_ items: [PendingItem], by actor: String, _ reason: String) -> [Action] {
        Dictionary(grouping: items, by: owner).sorted { $0.key < $1.key }.map { user, items in
            let positions = items.map { Position(rawValue: $0.position) }
            return Action(
                .pendingDiscarded(Discard(positions: positions, actor: actor, reason: reason)), .user(user))
        }
    }

    // MARK: - Users

    private func changeUser(to person: Person, _ current: Current?) -> [Action] {
        switch person {
        case .known(let user) where user == current?.user: return []
        case .known(let user):
            guard let current else { return [Action(.userChanged(previous: nil), .user(user))] }
            return endSession() + [arrival(of: user, current)] + newSession(of: .user(user))
        case .new(let id):
            guard let current else { return [Action(.userChanged(previous: nil), .new(id))] }
            // The anonymous user becomes this one and keeps its history.
            if current.isAnonymous { return [Action(.userIdentified([id]), .user(current.user))] }
            let previous = UserNumber(rawValue: current.user)
            return endSession() + [Action(.userChanged(previous: previous), .new(id))] + newSession(of: .new(id))
        }
    }

    /// A known user comes: an anonymous user on the device is merged into it (spec/rest-api 9, number 4).
    private func arrival(of user: UInt64, _ current: Current) -> Action {
        let number = UserNumber(rawValue: current.user)
        guard current.isAnonymous else { return Action(.userChanged(previous: number), .user(user)) }
        // The end of the session is the last event of the user who leaves.
        let version = current.version + UInt64(endSession().count)
        let merge = Merge(source: number, version: Version(rawValue: version), identities: current.identities)
        return Action(.usersMerged(merge), .user(user))
    }

    private func newSession(of user: Owner) -> [Action] {
        status.session > 0 ? [Action(.sessionStarted, user)] : []
    }

    private func logOut() -> [Action] {
        guard status.user != nil else { return [] }
        var settings = status.settings
        settings.isSDKEnabled = false
        let disabled = settings == status.settings ? [] : [Action(.deviceChanged(settings), .current)]
        return discardQueue("log-out") + endSession() + disabled + leaveUser()
    }

    private func leaveUser() -> [Action] { status.user == nil ? [] : [Action(.userLoggedOut, .current)] }
}

extension Discard {
    /// The actor of what the SDK itself discards; reserved for it.
    package static let sdk = "SDK"
    /// The actor of what goes with a removed app; reserved for it.
    package static let system = "iOS"
}

/// The reason why the SDK sends what it took.
package enum SendCause: Hashable, Sendable {
    /// The app asks for it (`requestImmediateDataFlush`), under any policy.
    case request
    /// A session starts, or the user changes: the automatic policy does not wait for its interval.
    case foreground
    /// Time has passed.
    case timer

    /// All that is due is sent: the interval counts only for the first.
    package mutating func follow() {
        if self == .timer { self = .foreground }
    }
}
