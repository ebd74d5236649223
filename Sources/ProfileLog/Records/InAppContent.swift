/// The content of the steps of in-app messages in `MessageStep.content`, besides what the message shows.
///
/// | key | in a step | meaning |
/// |---|---|---|
/// | `messages`, `catalogue` | sent | the messages of the session that starts, and which definitions it uses |
/// | `definitions` | sent, of no device | messages that are declared for the sessions that start from now on |
/// | `trigger` | shown, waiting, ignored, discarded | the type of the event that triggered it just now |
/// | `others` | ignored | further messages that the same event triggered and that were ignored too |
/// | `ready_at`, `deadline` | waiting | it is not on the stack yet: when it is ready, and the last time for that |
/// | `control` | shown | a control variant: nothing is on the screen |
/// | `impression` | shown | the app logged the impression of a custom view; it was on the screen before |
package struct InAppContent {
    private let members: [AttributeValue.Member]

    package init(_ members: [AttributeValue.Member]) { self.members = members }

    private func value(_ key: Name) -> AttributeValue? { members.first { $0.key == key }?.value }

    private func time(_ key: Name) -> Int64? {
        if case .date(let date)? = value(key) { date.timestamp.rawValue } else { nil }
    }

    package static func declaration(_ definitions: AttributeValue) -> [AttributeValue.Member] {
        [.init("definitions", definitions)]
    }

    /// The declared messages; nil in a step that declares none.
    package var definitions: AttributeValue? { value("definitions") }

    /// The messages of the session, in ascending order.
    package var session: [Name]? { names("messages") }

    /// The further messages that were ignored, in a step of an ignored one.
    package var others: [Name] { names("others") ?? [] }

    private func names(_ key: Name) -> [Name]? {
        guard case .array(let values)? = value(key) else { return nil }
        return values.compactMap { if case .string(let id) = $0 { Name(id) } else { nil } }
    }

    var catalogue: UInt64 { if case .int(let number)? = value("catalogue") { UInt64(clamping: number) } else { 0 } }
    var isTriggered: Bool { value("trigger") != nil }
    var readyAt: Int64? { time("ready_at") }
    var deadline: Int64? { time("deadline") }
    var isControl: Bool { value("control") == .bool(true) }
    var isImpressionByHand: Bool { value("impression") == .bool(true) }

    package static func session(_ messages: [Name], catalogue: UInt64) -> [AttributeValue.Member] {
        [
            .init("catalogue", .int(Int64(clamping: catalogue))),
            .init("messages", .array(messages.map { .string($0.text) })),
        ]
    }

    package static func waiting(until readyAt: Int64, deadline: Int64?) -> [AttributeValue.Member] {
        func date(_ key: Name, _ time: Int64) -> AttributeValue.Member {
            .init(key, .date(OccurredAt(Timestamp(rawValue: time))))
        }
        return (deadline.map { [date("deadline", $0)] } ?? []) + [date("ready_at", readyAt)]
    }
}
