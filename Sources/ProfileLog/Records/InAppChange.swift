/// The change of a device by a step of an in-app message, with names as text: the fold of devices has no table of names
/// (message `InApp` of record.proto). It follows from the rest of the step.
package struct InAppChange: Hashable, Sendable {
    /// Empty for a session.
    package var message: Name = ""
    /// The messages of a session that starts.
    package var session: Session?
    /// Tells whether the message was triggered just now.
    package var isTriggered = false
    /// The message is not on the stack yet: when it is ready, and the last time for that.
    package var readyAt: Int64?
    package var deadline: Int64?
    package var isControl = false
    package var isImpressionByHand = false

    package struct Session: Hashable, Sendable {
        /// Messages in ascending order.
        package var messages: [Name]
        /// The position that declared them.
        package var catalogue: UInt64
    }

    package init(_ step: MessageStep) {
        let content = InAppContent(step.content)
        message = step.message
        session = content.session.map { Session(messages: $0, catalogue: content.catalogue) }
        isTriggered = content.isTriggered
        readyAt = content.readyAt
        deadline = content.deadline
        isControl = content.isControl
        isImpressionByHand = content.isImpressionByHand
    }

    // MARK: - Bytes

    private var flags: UInt64 {
        (isTriggered ? 1 : 0) | (isControl ? 2 : 0) | (isImpressionByHand ? 4 : 0) | (session != nil ? 8 : 0)
    }

    func write(_ field: UInt32, to writer: inout WireWriter) {
        let begin = writer.beginMessage(field)
        if !message.text.isEmpty { writer.field(1, text: message.text) }
        if flags > 0 { writer.field(2, varint: flags) }
        if let readyAt { writer.field(3, signed: readyAt) }
        if let deadline { writer.field(4, signed: deadline) }
        if let session {
            writer.field(5, varint: session.catalogue)
            for message in session.messages { writer.field(6, text: message.text) }
        }
        writer.endMessage(begin)
    }

    /// Returns nil if the bytes are not such a message. Unknown fields are skipped.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var flags: UInt64 = 0
        var session = Session(messages: [], catalogue: 0)
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .bytes): message = Name(reader.text())
            case (2, .varint): flags = reader.varint()
            case (3, .varint): readyAt = reader.signed()
            case (4, .varint): deadline = reader.signed()
            case (5, .varint): session.catalogue = reader.varint()
            case (6, .bytes): session.messages.append(Name(reader.text()))
            default: reader.skip(field.type)
            }
        }
        if reader.isBad { return nil }
        (isTriggered, isControl, isImpressionByHand) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0)
        if flags & 8 != 0 { self.session = session }
    }
}
