/// The pushes of a device: on their way to it, on its screen, and captured by an SDK that does not exist yet.
package struct PushState: Hashable, Sendable {
    /// Pushes on their way or on the screen, in the order in which they were sent.
    package private(set) var pushes: [PushProgress] = []
    /// Captured and not processed, in the order of their capture.
    package private(set) var captured: [CapturedPush] = []

    /// Pushes that may be on their way to one device.
    package static let mostUnderway = 256
    /// Notifications on the screen of one device; an older one goes.
    package static let mostShown = 100

    package init() {}

    package var isEmpty: Bool { pushes.isEmpty && captured.isEmpty }
    /// The number on their way.
    package var underway: Int { pushes.count { $0.isUnderway } }

    /// The push of which one of these positions is asked for: its `sent` step, or its last step.
    package func push(at position: UInt64) -> PushProgress? {
        pushes.first { $0.sent == position || $0.last == position }
    }

    /// The newest push on the screen.
    package var newestShown: PushProgress? { pushes.filter { !$0.isUnderway }.max { $0.last < $1.last } }

    mutating func apply(_ step: PushStep) {
        switch step.stage {
        case .sent:
            pushes.append(PushProgress(sent: step.position, user: step.user))
            return
        case .received where step.cause == nil:
            if step.screen == .nothing { return }
            var push = PushProgress(sent: step.position, user: step.user)
            push.screen = step.screen
            pushes.append(push)
            return
        case .captured: captured.append(CapturedPush(position: step.position, user: step.user))
        case .processed: captured.removeAll { $0.position == step.cause }
        default: break
        }
        guard let index = pushes.firstIndex(where: { $0.last == step.cause }) else { return }
        if step.screen == .nothing {
            pushes.remove(at: index)
        } else {
            pushes[index].later = step.position
            pushes[index].screen = step.screen
        }
    }
}

/// A push on its way to a device, or on its screen.
package struct PushProgress: Hashable, Sendable {
    /// Position of its `sent` step; for a push that was sent elsewhere: of its `received` step.
    package fileprivate(set) var sent: UInt64
    /// Position of the step after it that was the last; 0 if there was none.
    fileprivate var later: UInt64 = 0
    package fileprivate(set) var user: UInt64
    /// The part of it on the screen.
    package fileprivate(set) var screen = MessageStep.Screen.nothing

    fileprivate init(sent: UInt64, user: UInt64) { (self.sent, self.user) = (sent, user) }

    /// Position of its last step, which is the cause of the next one.
    package var last: UInt64 { later > 0 ? later : sent }
    package var isUnderway: Bool { screen == .nothing }
}

/// A push that waits for the SDK.
package struct CapturedPush: Hashable, Sendable {
    /// Position of the `captured` step.
    package fileprivate(set) var position: UInt64
    package fileprivate(set) var user: UInt64
}

/// The change of a device by a step of a push.
package struct PushStep: Hashable, Sendable {
    package let stage: MessageStep.Stage
    package let position: UInt64
    package let cause: UInt64?
    package let user: UInt64
    package let screen: MessageStep.Screen
}

// MARK: - Bytes

extension PushState {
    /// As a message: equal states, equal bytes.
    package static let wire = WireTable(
        PushState(), isStrict: true,
        [.messages(1, \.pushes, PushProgress.wire), .messages(2, \.captured, CapturedPush.wire)])
}

extension PushProgress {
    fileprivate static let wire = WireTable(
        Self(sent: 0, user: 0), isStrict: true,
        [
            .number(1, \.sent), .number(2, \.later, omitted: 0), .number(3, \.user),
            .choice(4, \.screen, unknown: .nothing),
        ])
}

extension CapturedPush {
    fileprivate static let wire = WireTable(
        Self(position: 0, user: 0), isStrict: true, [.number(1, \.position), .number(2, \.user)])
}
