/// A step of an in-app message on a device.
package struct InAppStep: Hashable, Sendable {
    package var stage: MessageStep.Stage
    package var change: InAppChange
    package var user: UInt64
    package var position: UInt64
    /// The device's time, in microseconds since 1970.
    package var at: Int64
}

/// A device's knowledge of its in-app messages: the messages of its session, the waiting ones, and the one on the
/// screen.
///
/// Changed by folding the steps of messages alone (`apply`), so the events of a log rebuild it. It holds IDs; the
/// definitions are in the `TriggerTable`.
package struct InAppState: Hashable, Sendable {
    /// The definitions that the session uses: the caller's number, for example the position that declared them.
    package fileprivate(set) var catalogue: UInt64 = 0
    /// The messages that may be triggered, fixed when the session started; in ascending order, at most 200.
    package fileprivate(set) var eligible: [Name] = []
    /// The time at which a message was last triggered and not ignored; survives launches (the project decides).
    package fileprivate(set) var lastTrigger: Int64?
    /// Displays of the messages, by user and message; at most 200.
    package fileprivate(set) var displays: [Display] = []
    /// Triggered, and not ready: their delay or their request is not over. In the order of the triggers.
    package fileprivate(set) var delayed: [Triggered] = []
    /// Triggered and ready. The last is shown first.
    package fileprivate(set) var stack: [Triggered] = []
    /// On the screen; nil for none.
    package fileprivate(set) var screen: Triggered?

    /// A message that was triggered.
    package struct Triggered: Hashable, Sendable {
        package var message: Name
        /// The user who was on the device.
        package var user: UInt64
        /// The time at which it is ready, in microseconds since 1970.
        package var readyAt: Int64
        /// The last time at which it may become ready; nil for any.
        package var deadline: Int64?
        /// The position of its last step; 0 if it is not known.
        package var step: UInt64 = 0

        package init(message: Name, user: UInt64, readyAt: Int64, deadline: Int64? = nil) {
            (self.message, self.user, self.readyAt, self.deadline) = (message, user, readyAt, deadline)
        }
    }

    /// The number of times that a user saw a message on this device, and the last time. A control variant counts when
    /// its impression is logged.
    package struct Display: Hashable, Sendable {
        package var user: UInt64
        package var message: Name
        package var lastAt: Int64
        package var count: UInt64
    }

    /// The most messages that a device holds (spec/device 5, limit).
    package static let maxMessages = 200

    package init() {}

    /// The time at which the next delayed message is ready. A caller that moves the clock calls `timePassed` then.
    package var nextDue: Int64? { delayed.map(\.readyAt).min() }

    package func isEligible(_ message: Name) -> Bool {
        let place = eligible.lowerBound { $0 < message }
        return place < eligible.count && eligible[place] == message
    }

    /// Returns how often `user` saw `message`, and when last; nil for never.
    package func display(of message: Name, to user: UInt64) -> Display? {
        let place = place(of: message, to: user)
        guard place < displays.count, displays[place].user == user, displays[place].message == message else {
            return nil
        }
        return displays[place]
    }

    private func place(of message: Name, to user: UInt64) -> Int {
        displays.lowerBound { ($0.user, $0.message) < (user, message) }
    }

    /// The user who triggered the message that `step` ends; nil if it ends none.
    package func owner(of step: MessageStep) -> UInt64? {
        switch step.stage {
        case .discarded: (stack + delayed).first { $0.message == step.message }?.user
        case .closed: screen?.message == step.message ? screen?.user : nil
        case .sent, .notSent, .received, .notReceived, .captured, .expanded, .opened, .actionChosen, .dismissed,
            .processed, .shown, .waiting, .ignored, .clicked, .scheduled, .unscheduled:
            nil
        }
    }

    /// Tells whether it waits: for its time, or on the stack.
    package func isWaiting(_ message: Name) -> Bool {
        delayed.contains { $0.message == message } || stack.contains { $0.message == message }
    }
}

// MARK: - The fold

extension InAppState {
    /// Folds one step: an event of `user` at `position`, at the device's time `at`.
    package mutating func apply(_ step: MessageStep, user: UInt64, position: UInt64, at: Int64) {
        guard step.channel == .inAppMessage else { return }
        apply(InAppStep(stage: step.stage, change: InAppChange(step), user: user, position: position, at: at))
    }

    package mutating func apply(_ step: InAppStep) {
        let (change, user, at) = (step.change, step.user, step.at)
        if change.isTriggered, step.stage != .ignored { lastTrigger = at }
        switch step.stage {
        case .sent:
            guard let session = change.session else { return }
            eligible = session.messages
            catalogue = session.catalogue
        case .waiting:
            var item = take(change.message) ?? Triggered(message: change.message, user: user, readyAt: at)
            item.step = step.position
            item.deadline = change.deadline
            if let readyAt = change.readyAt {
                item.readyAt = readyAt
                delayed.append(item)
            } else {
                stack.append(item)
            }
        case .shown:
            if change.isImpressionByHand { return }
            var item = take(change.message) ?? Triggered(message: change.message, user: user, readyAt: at)
            item.step = step.position
            item.deadline = nil
            recordDisplay(of: change.message, to: user, at: at)
            if !change.isControl { screen = item }
        case .discarded: _ = take(change.message)
        case .closed: if screen?.message == change.message { screen = nil }
        case .ignored, .clicked, .notSent, .received, .notReceived, .captured, .expanded, .opened, .actionChosen,
            .dismissed, .processed, .scheduled, .unscheduled:
            break
        }
    }

    /// An anonymous user became `target`: triggers and displays on it are theirs.
    package mutating func merge(_ source: UInt64, into target: UInt64) {
        for index in delayed.indices where delayed[index].user == source { delayed[index].user = target }
        for index in stack.indices where stack[index].user == source { stack[index].user = target }
        if screen?.user == source { screen?.user = target }
        let moved = displays.filter { $0.user == source }
        displays.removeAll { $0.user == source }
        for display in moved {
            recordDisplay(of: display.message, to: target, at: display.lastAt, times: display.count)
        }
    }

    private mutating func take(_ message: Name) -> Triggered? {
        if let index = stack.firstIndex(where: { $0.message == message }) { return stack.remove(at: index) }
        if let index = delayed.firstIndex(where: { $0.message == message }) { return delayed.remove(at: index) }
        return nil
    }

    private mutating func recordDisplay(of message: Name, to user: UInt64, at: Int64, times: UInt64 = 1) {
        let place = place(of: message, to: user)
        if display(of: message, to: user) != nil {
            displays[place].lastAt = max(displays[place].lastAt, at)
            displays[place].count &+= times
        } else {
            displays.insert(Display(user: user, message: message, lastAt: at, count: times), at: place)
        }
        guard displays.count > Self.maxMessages else { return }
        // The oldest goes: first of those that this session cannot show.
        let oldest = displays.indices.min {
            let (left, right) = (displays[$0], displays[$1])
            return (isEligible(left.message) ? 1 : 0, left.lastAt, $0)
                < (isEligible(right.message) ? 1 : 0, right.lastAt, $1)
        }
        if let oldest { displays.remove(at: oldest) }
    }
}

// MARK: - Bytes

extension InAppState {
    /// As a message: equal states, equal bytes; none for a device without in-app messages.
    package static let wire = WireTable(
        InAppState(), isStrict: true,
        [
            .number(1, \.catalogue, omitted: 0),
            .names(2, \.eligible),
            .signed(3, \.lastTrigger),
            .messages(4, \.displays, Display.wire),
            .messages(5, \.delayed, Triggered.wire),
            .messages(6, \.stack, Triggered.wire),
            .message(7, \.screen, Triggered.wire),
        ])
}

extension InAppState.Triggered {
    fileprivate static let wire = WireTable(
        Self(message: "", user: 0, readyAt: 0), isStrict: true,
        [
            .name(1, \.message), .number(2, \.user), .signed(3, \.readyAt), .signed(4, \.deadline),
            .number(5, \.step, omitted: 0),
        ])
}

extension InAppState.Display {
    fileprivate static let wire = WireTable(
        Self(user: 0, message: "", lastAt: 0, count: 0), isStrict: true,
        [.name(1, \.message), .number(2, \.user), .signed(3, \.lastAt), .number(4, \.count)])
}
