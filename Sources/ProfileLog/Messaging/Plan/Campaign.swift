/// A campaign or a canvas of the workspace file: messages that a request sends by its ID.
package struct Campaign: Hashable, Sendable {
    package var id: String
    package var name: String
    package var tags: [String]
    /// The receivers of a broadcast; nil for all users.
    package var segment: String?
    /// The steps of the send. A campaign has one step; of a canvas only the first is sent.
    package var steps: [Step]

    package init(id: String, name: String, tags: [String], segment: String?, steps: [Step]) {
        (self.id, self.name, self.tags, self.segment, self.steps) = (id, name, tags, segment, steps)
    }

    /// Messages that are sent together.
    package struct Step: Hashable, Sendable {
        package var name: String
        package var messages: [ChannelMessage]

        package init(name: String, messages: [ChannelMessage]) { (self.name, self.messages) = (name, messages) }
    }

    /// The message of this variation.
    package func message(variation: String) -> ChannelMessage? {
        steps.lazy.flatMap(\.messages).first { $0.variation.map { $0.hasSameBytes(as: variation) } ?? false }
    }
}
