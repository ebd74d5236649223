internal import ProfileLog

/// A log of its own in which the steps of a history happen, one after the other.
struct Playback: ~Copyable {
    /// The user whose state is read.
    static let user = UserID.externalID("user")
    /// The device on which all happens.
    static let device = "device"
    /// The person who voids, discards and erases, and why.
    private static let actor = "ProfileLogTesting"
    private static let reason = "a step of a test"

    let store: TemporaryLog
    /// The positions of what each step logged or saved.
    private var positions: [[Position]] = []
    /// The user of the steps now.
    private var user = Playback.user
    private var otherUsers = 0
    private var fillers = 0

    /// An empty log that stores the states of `projections` whenever it is opened again.
    init(projections: [any Projection.Type]) throws { store = try TemporaryLog(projections: projections) }

    var log: EventLog { store.log }

    /// Lets the step happen.
    mutating func play(_ step: Given) throws {
        var appended: [Position] = []
        switch step {
        case .at(let time): store.clock.now = time
        case .logged:
            try arrive()
            let app = EventContext(source: .app, device: Self.device)
            for event in try step.events { appended.append(try log.append([event], to: user, context: app).last) }
        case .saved:
            try arrive()
            let push = EventContext.extension("PushContent", on: Self.device, storage: .appGroup("group.app"))
            for event in try step.events { appended.append(try log.append([event], to: user, context: push).last) }
        case .launch:
            try arrive()
            try log.launch(device: Self.device)
        case .void(let index): try void(index)
        case .unvoid(let index): try unvoid(index)
        case .discard(let index):
            try log.discard(named(index), on: Self.device, actor: Self.actor, reason: Self.reason)
        case .otherUser: try comeOther()
        case .merge:
            try arrive()
            if user == Self.user { try comeOther() }
            try log.change(.merge(source: user, target: Self.user))
            user = Self.user
        case .erase:
            try arrive()
            _ = try log.erase([user], actor: Self.actor, reason: Self.reason)
        case .offline, .online:
            try arrive()
            let isOnline = if case .online = step { true } else { false }
            try log.set(.online(isOnline), on: Self.device)
        }
        next(appended, isLater: step.takesTime)
    }

    /// Lets the time of the step pass.
    mutating func skip(_ step: Given) throws {
        try arrive()
        next([], isLater: step.takesTime)
    }

    /// Makes events of the user that say nothing of them, up to `position`.
    mutating func fill(upTo position: Position) throws {
        let last = try log.lastPosition()
        if last < position { try fill(Int(position.rawValue - last.rawValue)) }
    }

    private mutating func fill(_ count: Int) throws {
        for _ in 0..<count {
            fillers += 1
            try log.change(.addAlias(alias: .alias(label: "filler \(fillers)", name: "testing"), user: user))
        }
    }

    /// Makes void what the step at `index` logged or saved.
    func void(_ index: Int) throws {
        for position in try named(index) { try log.void(position, actor: Self.actor, reason: Self.reason) }
    }

    /// Lets what the step at `index` logged or saved count again.
    func unvoid(_ index: Int) throws {
        for position in try named(index) { try log.unvoid(position, actor: Self.actor, reason: Self.reason) }
    }

    private mutating func next(_ appended: [Position], isLater: Bool) {
        positions.append(appended)
        if isLater { store.clock.advance(by: .seconds(1)) }
    }

    /// The user of the steps comes to the device, if they are not there yet or were erased.
    private func arrive() throws {
        if try log.find(user) == nil { try log.changeUser(on: Self.device, to: user) }
    }

    private mutating func comeOther() throws {
        try arrive()
        otherUsers += 1
        user = .externalID("other user \(otherUsers)")
        try log.changeUser(on: Self.device, to: user)
    }

    private func named(_ index: Int) throws(AppendError) -> [Position] {
        guard positions.indices.contains(index), !positions[index].isEmpty else {
            throw .invalid(
                place: "Step \(positions.count)",
                reason: "names step \(index), which logged or saved nothing before it",
                remedy: "Give the number of an earlier step in the list, from 0.")
        }
        return positions[index]
    }
}

extension Given {
    fileprivate var takesTime: Bool { if case .at = self { false } else { true } }
}
