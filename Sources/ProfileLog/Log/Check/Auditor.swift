internal import Synchronization

/// Proves in small steps that reads agree with the log.
///
/// A round visits every user, then every device. Each state that is kept for a user, as it is read through snapshots
/// and tail, must have the same bytes as a fold of their events from the first one on. Each entry of their history
/// must be their record with that version, and the histories of all users together must have as many entries as the
/// log. What waits in a profile must wait on its device, and the other way round. Nothing is repaired: a difference is
/// a defect or damage, and `check` tells more.
///
/// ```swift
/// let auditor = Auditor(log)
/// while try auditor.step(budget: .milliseconds(5)) {}
/// print(auditor.report.last?.position ?? .start, auditor.report.differences)
/// ```
package final class Auditor: Sendable {
    private struct State {
        var report = AuditReport()
        var round: Round?
    }

    private struct Round {
        let end: Position
        let users: UInt64
        let began: Timestamp
        /// The next user. Begins with user 0, which has the events without a user.
        var next: UInt64 = 0
        /// Events up to `end` in the histories of the users visited.
        var events: UInt64 = 0
        /// The devices that are not visited yet; nil before the last user.
        var devices: [Name]?
        var differences: [AuditDifference] = []

        mutating func note(_ user: UserNumber, _ place: String) {
            // More are not kept: one is enough to call for a check.
            if differences.count < 100 { differences.append(AuditDifference(user: user, place: place)) }
        }
    }

    private let log: EventLog
    private let state = Mutex(State())

    package init(_ log: EventLog) { self.log = log }

    /// The report so far.
    package var report: AuditReport {
        state.withLock { state in
            var report = state.report
            if let round = state.round {
                report.done = min(round.next, round.users)
                report.usersPerSecond = rate(of: round)
                report.left = report.usersPerSecond.map { .seconds(Double(round.users - report.done) / $0) }
                report.devicesLeft = round.devices?.count
            }
            for difference in state.round?.differences ?? [] where !report.differences.contains(difference) {
                report.differences.append(difference)
            }
            return report
        }
    }

    /// Microseconds of a round before its rate is told: the first users, read from the disk, say little of it.
    private static let leastElapsed: Int64 = 5_000_000

    /// Users compared in a second of the clock, rests included; nil before that is known, and after the last user.
    private func rate(of round: Round) -> Double? {
        if round.next > round.users { return nil }
        let elapsed = log.options.now().rawValue - round.began.rawValue
        return elapsed >= Self.leastElapsed ? Double(round.next) * 1_000_000 / Double(elapsed) : nil
    }

    /// Compares users and devices for about `budget`, at least one. False if the log has not changed since the last
    /// round ended.
    ///
    /// One caller at a time. Throws if the store cannot be read at all.
    package func step(budget: Duration) throws -> Bool {
        guard var round = try state.withLock({ $0.round }) ?? nextRound() else { return false }
        let end = ContinuousClock.now + budget
        var isComplete = false
        repeat {
            isComplete = try advance(&round)
        } while !isComplete && ContinuousClock.now < end
        let now = log.options.now()
        state.withLock { [round] state in
            state.round = isComplete ? nil : round
            guard isComplete else { return }
            let took = Duration.microseconds(max(0, now.rawValue - round.began.rawValue))
            state.report.last = .init(position: round.end, at: now, users: round.users, took: took)
            state.report.differences = round.differences
        }
        return true
    }

    private func nextRound() throws -> Round? {
        let extent = try log.reader.extent()
        let isNew = state.withLock { $0.report.last?.position != extent.lastPosition }
        return isNew ? Round(end: extent.lastPosition, users: extent.users, began: log.options.now()) : nil
    }

    /// Visits the next user or device, and returns whether it was the last one.
    private func advance(_ round: inout Round) throws -> Bool {
        if round.next <= round.users {
            try log.withView { view in try visit(user: round.next, &round, view) }
            round.next += 1
            return false
        }
        if round.devices == nil {
            if round.events != round.end.rawValue {
                round.note(.system, "all histories: \(round.events) of \(round.end.rawValue) events")
            }
            round.devices = try log.withView { try $0.devices() }
        }
        guard let device = round.devices?.popLast() else { return true }
        try log.withView { view in try visit(device: device, &round, view) }
        return false
    }

    // MARK: - Users

    private func visit(user: UInt64, _ round: inout Round, _ view: LogView) throws {
        let number = UserNumber(rawValue: user)
        do {
            let version = try view.version(of: user)
            let positions = try view.positions(of: user, from: 1, to: version)
            round.events += UInt64(positions.count { $0 <= round.end.rawValue })
            for version in try view.entries(of: user, at: positions).wrong {
                round.note(number, "event \(version) of the history")
            }
            for projection in log.states.store.projections where projection.scope == .user {
                for place in try differences(projection, user, version, view) { round.note(number, place) }
            }
        } catch StorageError.damaged(let place) {
            round.note(number, place)
        }
    }

    /// The fields of the profile that differ from the log; of another projection its name.
    private func differences(
        _ projection: any Projection.Type, _ user: UInt64, _ version: UInt64, _ view: LogView
    ) throws -> [String] {
        if projection != ProfileProjection.self {
            return try isDifferent(projection, user, version, view) ? [projection.name] : []
        }
        var proof = StateProof<ProfileProjection>(log.states)
        let places = try proof.differences(of: user, at: [version], in: view).flatMap {
            $0.read.differences(from: $0.fresh, log.names.current)
        }
        let isOnDevices = try isOnDevices(proof.fresh(of: user, at: version, in: view), of: user, view)
        return isOnDevices ? places : places + ["what waits on a device"]
    }

    private func isDifferent<P: Projection>(
        _: P.Type, _ user: UInt64, _ version: UInt64, _ view: LogView
    ) throws -> Bool {
        var proof = StateProof<P>(log.states)
        return try !proof.differences(of: user, at: [version], in: view).isEmpty
    }

    // MARK: - Devices

    /// Tells whether all that waits in the profile is on its device. What waited for a user who was merged is in the
    /// profile of the other one.
    private func isOnDevices(_ profile: ProfileState, of user: UInt64, _ view: LogView) throws -> Bool {
        if try profile.pending.isEmpty || view.canonicalUser(of: user) != user { return true }
        for (device, entries) in Dictionary(grouping: profile.pending, by: \.device) {
            let items = try view.items(device)
            if entries.contains(where: { items[$0.position] == nil }) { return false }
        }
        return true
    }

    private func visit(device: Name, _ round: inout Round, _ view: LogView) throws {
        do {
            let items = try view.items(device).values.map { (user: try view.canonicalUser(of: $0.user), item: $0) }
            for (user, items) in Dictionary(grouping: items, by: \.user) {
                let version = try view.version(of: user)
                let profile = try log.states.state(ProfileProjection.self, user, version: version, view)
                var expected = Set(items.map(\.item.position)).subtracting(profile.pending.map(\.position))
                if expected.isEmpty { continue }
                // A void event waits and changes no profile.
                let voided = try view.voidedEvents(among: view.positions(of: user, from: 1, to: version))
                expected = expected.filter { !voided.contains($0) }
                if !expected.isEmpty { round.note(UserNumber(rawValue: user), "what waits on a device") }
            }
        } catch StorageError.damaged(let place) {
            round.note(.system, place)
        }
    }
}

/// The findings of an audit.
package struct AuditReport: Sendable {
    /// The last complete round; nil before it ended.
    package internal(set) var last: Round?
    /// Users compared in the round that is under way; 0 if there is none.
    package internal(set) var done: UInt64 = 0
    /// The speed of the round under way in users per second, rests included; nil if it compares none, or has only
    /// begun.
    package internal(set) var usersPerSecond: Double?
    /// The time until that round has compared its last user, at that speed.
    package internal(set) var left: Duration?
    /// Devices that the round under way has still to compare, after the users; nil before.
    package internal(set) var devicesLeft: Int?
    /// The differences: all of the last round, then of the round that is under way; the first hundred of each.
    package internal(set) var differences: [AuditDifference] = []

    /// A round that ended.
    package struct Round: Sendable {
        /// The end of the log when it began. Later events of a user are covered if they came before the user's turn.
        package var position: Position
        /// The time at which the round ended.
        package var at: Timestamp
        /// The number of users compared.
        package var users: UInt64
        /// The time from its begin to its end, rests included.
        package var took: Duration
    }
}

/// A state that differs from the log.
package struct AuditDifference: Hashable, Sendable {
    package var user: UserNumber
    /// The field of the profile, the damaged place, or the name of another projection.
    package var place: String
}

extension ProfileState {
    /// The parts in which two states with different bytes differ.
    fileprivate func differences(from other: ProfileState, _ names: NameMap) -> [String] {
        var places: [String] = []
        for key in Set((fields.fields + other.fields.fields).map(\.key)).sorted(by: { $0.rawValue < $1.rawValue })
        where !fields.isEqual(to: other.fields, at: key) {
            places.append(
                key.standard.map { "attribute \($0.name)" }
                    ?? "custom attribute \(names.name(key.customName)?.text ?? "\(key.customName)")")
        }
        for name in Set((events + other.events).map(\.name)).sorted()
        where events.first(where: { $0.name == name }) != other.events.first(where: { $0.name == name }) {
            places.append("custom event \(names.name(name)?.text ?? "\(name)")")
        }
        for product in Set((purchases + other.purchases).map(\.product)).sorted()
        where purchases.first(where: { $0.product == product })
            != other.purchases.first(where: { $0.product == product })
        {
            places.append("product \(names.name(product)?.text ?? "\(product)")")
        }
        if pending != other.pending { places.append("pending items") }
        return places.isEmpty ? ["profile"] : places
    }
}

extension FieldStore {
    fileprivate func isEqual(to other: FieldStore, at key: FieldKey) -> Bool {
        let (field, otherField) = (fields.first { $0.key == key }, other.fields.first { $0.key == key })
        return field?.position == otherField?.position && field?.at == otherField?.at && value(key) == other.value(key)
    }
}
