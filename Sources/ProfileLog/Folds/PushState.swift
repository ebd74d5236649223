/// The pushes of a device: on their way to it, on its screen, and captured by an SDK that does not exist yet.
package struct PushState: Hashable, Sendable {
    /// On their way or on the screen, in the order in which they were sent.
    package private(set) var pushes: [PushProgress] = []
    /// Captured and not processed, in the order of their capture.
    package private(set) var captured: [CapturedPush] = []

    /// Pushes that may be on their way to one device.
    package static let mostUnderway = 256
    /// Notifications on the screen of one device; an older one goes.
    package static let mostShown = 100

    package init() {}

    package var isEmpty: Bool { pushes.isEmpty && captured.isEmpty }
    /// How many are on their way.
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
            pushes.append(PushProgress(sent: step.position, last: step.position, user: step.user))
            return
        case .received where step.cause == nil:
            if step.screen == .nothing { return }
            var push = PushProgress(sent: step.position, last: step.position, user: step.user)
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
            pushes[index].last = step.position
            pushes[index].screen = step.screen
        }
    }
}

/// A push on its way to a device, or on its screen.
package struct PushProgress: Hashable, Sendable {
    /// Position of its `sent` step; for a push that was sent elsewhere: of its `received` step.
    package let sent: UInt64
    /// Position of its last step, which is the cause of the next one.
    package var last: UInt64
    package let user: UInt64
    /// What of it is on the screen.
    package var screen = MessageStep.Screen.nothing

    package var isUnderway: Bool { screen == .nothing }
}

/// A push that waits for the SDK.
package struct CapturedPush: Hashable, Sendable {
    /// Position of the `captured` step.
    package let position: UInt64
    package let user: UInt64
}

/// What a step of a push changes on its device.
package struct PushStep: Hashable, Sendable {
    package let stage: MessageStep.Stage
    package let position: UInt64
    package let cause: UInt64?
    package let user: UInt64
    package let screen: MessageStep.Screen
}

extension PushState {
    /// As a message: equal states, equal bytes.
    func write(to writer: inout WireWriter) {
        for push in pushes {
            let begin = writer.beginMessage(1)
            writer.field(1, varint: push.sent)
            if push.last != push.sent { writer.field(2, varint: push.last) }
            writer.field(3, varint: push.user)
            if push.screen != .nothing { writer.field(4, varint: UInt64(push.screen.rawValue)) }
            writer.endMessage(begin)
        }
        for push in captured {
            let begin = writer.beginMessage(2)
            writer.field(1, varint: push.position)
            writer.field(2, varint: push.user)
            writer.endMessage(begin)
        }
    }

    /// Nil if the bytes are not such a message.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = WireReader(bytes)
        while let field = reader.field() {
            guard field.type == .bytes else { return nil }
            var numbers: [UInt32: UInt64] = [:]
            var inner = WireReader(reader.bytes())
            while let field = inner.field() {
                guard field.type == .varint else { return nil }
                numbers[field.number] = inner.varint()
            }
            if inner.isBad { return nil }
            switch field.number {
            case 1:
                let sent = numbers[1] ?? 0
                var push = PushProgress(sent: sent, last: numbers[2] ?? sent, user: numbers[3] ?? 0)
                push.screen = .init(rawValue: UInt8(truncatingIfNeeded: numbers[4] ?? 0)) ?? .nothing
                pushes.append(push)
            case 2: captured.append(CapturedPush(position: numbers[1] ?? 0, user: numbers[2] ?? 0))
            default: return nil
            }
        }
        if reader.isBad { return nil }
    }
}
