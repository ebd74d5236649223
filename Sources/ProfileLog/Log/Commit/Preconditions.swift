/// The preconditions of an append, checked under the write lock: the versions that its caller expects, and what its
/// decision read.
///
/// A decision reads the log without the lock, and keeps each fact that it relied on. The commit checks them. If one has
/// changed, nothing is stored: the append is refused with ``AppendError/conflict(over:)``, and the caller decides
/// again.
package struct Preconditions: Sendable {
    /// A fact that a decision read.
    package enum Fact: Sendable {
        /// The user that an ID resolves to (nil: none), and their version if that matters.
        case user(UserID, UserNumber?, Version?)
        /// The address was given only to these users.
        case holders(UserID, Set<UInt64>)
        /// No event after the position says anything about this.
        case unchanged(Subject, since: Position)
        /// No event of the system after this version changes when what has the dispatch ID is sent.
        case waits(dispatch: String, since: Version)
        /// No append is stored under the idempotency key.
        case unusedKey(String)
    }

    /// A part of a state over the whole store.
    package enum Subject: Sendable {
        /// The users with push tokens.
        case pushTokens
        /// The types that these custom attributes got from their first values.
        case types(of: Set<Name>)
    }

    /// The facts that the decision read. A commit checks them before `expected`.
    private(set) var facts: [Fact] = []
    /// The expectation of the caller: refused with `versionConflict`.
    private(set) var expected: [(user: UserID, version: ExpectedVersion)] = []

    package init() {}

    package var isEmpty: Bool { facts.isEmpty && expected.isEmpty }

    /// `user` is at `version`, as the caller of the append expects.
    mutating func expect(_ user: UserID, at version: ExpectedVersion) {
        if version != .any { expected.append((user, version)) }
    }

    package mutating func require(_ fact: Fact) { facts.append(fact) }

    mutating func formUnion(_ other: Preconditions) {
        facts += other.facts
        expected += other.expected
    }
}

// MARK: - The check under the lock

extension Decider {
    /// The most events that one check reads. Older decisions are made again.
    private static let mostEventsToCheck: UInt64 = 4_096

    /// Refuses `append` if a precondition has changed. Costs a few look-ups for each.
    func check(_ append: borrowing PreparedAppend) throws {
        for fact in append.preconditions.facts {
            guard let changed = try change(of: fact) else { continue }
            CoverageMark.hit(.preconditionChanged)
            throw AppendError.conflict(over: changed)
        }
        for (user, version) in append.preconditions.expected {
            let isReleased = append.releases.contains(user)
            let number = isReleased ? nil : try view.user(user, braze: braze)
            let actual = Version(rawValue: try number.map { try view.version(of: $0) } ?? 0)
            guard version.accepts(actual) else {
                CoverageMark.hit(.versionConflict)
                throw AppendError.versionConflict(user: user, expected: version, actual: actual)
            }
        }
    }

    /// Describes the change, in a few words without a value; nil if the fact holds.
    private func change(of fact: Preconditions.Fact) throws -> String? {
        switch fact {
        case .user(let id, let number, let version):
            let user = try view.user(id, braze: braze)
            guard user == number?.rawValue else { return "the user of an ID" }
            guard let user, let version else { return nil }
            return try view.version(of: user) == version.rawValue ? nil : "the profile of a user"
        case .holders(let address, let known):
            guard let prefix = ContactKey.prefix(address) else { return nil }
            // A pair may be listed twice: in the tail and in the table.
            let limit = 2 * known.count
            let now = try view.users(contact: prefix, beyond: limit)
            return now.count <= limit && now.allSatisfy(known.contains) ? nil : "who has an address"
        case .unchanged(let subject, let position):
            return try isUnchanged(subject, since: position.rawValue) ? nil : subject.words
        case .waits(let dispatch, let version):
            return try waits(dispatch, since: version.rawValue) ? nil : "which sends wait for their time"
        case .unusedKey(let key):
            return try view.append(keyHash: KeyCoding.hash(Array(key.utf8))) == nil
                ? nil : "the use of an idempotency key"
        }
    }

    private func isUnchanged(_ subject: Preconditions.Subject, since position: UInt64) throws -> Bool {
        guard position < nextPosition, nextPosition - position <= Self.mostEventsToCheck else {
            CoverageMark.hit(.decisionTooOld)
            return false
        }
        for position in position + 1..<max(nextPosition, position + 1) {
            let header = try header(at: position)
            if subject.mayChange(by: header, names.map) { return false }
        }
        return true
    }

    private func waits(_ dispatch: String, since version: UInt64) throws -> Bool {
        let now = try view.version(of: 0)
        guard version <= now, now - version <= Self.mostEventsToCheck else { return false }
        var isUnchanged = true
        try view.forEachPosition(of: 0, after: version, upTo: now) { position in
            let header = try header(at: position)
            if header.kind == .messageScheduled || header.kind == .messageUnscheduled,
                case .message(let step) = try recorded(at: position).event, step.dispatch == dispatch
            {
                isUnchanged = false
            }
            return isUnchanged
        }
        return isUnchanged
    }
}

extension Preconditions.Subject {
    fileprivate var words: String {
        switch self {
        case .pushTokens: "who has a push token"
        case .types: "the type of a custom attribute"
        }
    }

    fileprivate func mayChange(by header: RecordHeader, _ names: NameMap) -> Bool {
        switch self {
        case .pushTokens:
            guard header.kind == .userAttributesChanged else { return false }
            guard case .userAttributesChanged(let changes)? = event(header, names) else { return true }
            return changes.contains { $0.attribute == .pushTokens }
        case .types(let attributes):
            // Outcomes make saved values effective, without naming them.
            switch header.kind?.role {
            case .outcome(.flushed), .outcome(.sent): return true
            case .content(.customAttributes, .logged): break
            case .content, .outcome(.discarded), .identity, .device, .message, .note, nil: return false
            }
            guard case .customAttributesChanged(let changes)? = event(header, names) else { return true }
            return changes.contains { attributes.contains($0.name) }
        }
    }

    private func event(_ header: RecordHeader, _ names: NameMap) -> ProfileEvent? {
        RecordedEvent(header, position: .start, names: names)?.event
    }
}
