internal import ProfileLogMessaging
internal import ProfileLogRequests

/// Reads `campaigns` and `canvases` of the workspace file.
extension Campaign {
    /// Messages of a step, and steps of a canvas.
    private static let most = 100

    init(campaign node: YAMLNode) throws(YAMLFileError) {
        let fields = try node.fields(["id", "name", "tags", "segment", "messages"])
        let messages = try Self.messages(fields.required("messages"))
        try self.init(fields, [Step(name: "", messages: messages)])
    }

    init(canvas node: YAMLNode) throws(YAMLFileError) {
        let fields = try node.fields(["id", "name", "tags", "segment", "steps"])
        let list = try fields.required("steps")
        let steps = try list.elements().map { (element) throws(YAMLFileError) in
            let fields = try element.fields(["name", "messages"])
            let messages = try Self.messages(fields.required("messages"))
            return Step(name: try fields.text("name"), messages: messages)
        }
        guard (1...Self.most).contains(steps.count) else {
            throw list.refusal("must have 1 to \(Self.most) steps", remedy: "A step has a name and messages.")
        }
        try self.init(fields, steps)
    }

    private init(_ fields: YAMLFields, _ steps: [Step]) throws(YAMLFileError) {
        let tags = try fields.elements("tags").map { (tag) throws(YAMLFileError) in try tag.text() }
        self.init(
            id: try fields.required("id").name().text, name: try fields.text("name"), tags: tags,
            segment: try fields["segment"]?.text(), steps: steps)
    }

    private static func messages(_ list: YAMLNode) throws(YAMLFileError) -> [ChannelMessage] {
        var messages: [ChannelMessage] = []
        let elements = try list.elements()
        guard (1...most).contains(elements.count) else {
            throw list.refusal(
                "must have 1 to \(most) messages", remedy: "Each names its channel, as in `apple_push:`.")
        }
        let channels = MessageStep.Channel.sendable.map(\.name)
        for element in elements {
            let (name, node) = try element.fields(channels).one(of: channels)
            guard let channel = MessageStep.Channel(name: name) else { continue }
            let object = try node.json()
            do throws(SendError) {
                let message = try ChannelMessage(channel, object, at: name, from: .workspace)
                if let variation = message.variation, messages.contains(where: { $0.variation == variation }) {
                    throw SendError(
                        "'\(variation)' is the variation of another message too", at: "\(name).message_variation_id",
                        remedy: "Give each an ID of its own.")
                }
                messages.append(message)
            } catch {
                throw node.descendant(at: error.place).refusal("is refused: \(error.message)", remedy: error.remedy)
            }
        }
        return messages
    }
}

extension YAMLNode {
    /// The value at `path` in it, as in `alert.body` or `buttons[0].uri` after the node's own name; as deep as there is
    /// one.
    fileprivate func descendant(at path: String) -> YAMLNode {
        var node = self
        for part in path.split(whereSeparator: { ".[".contains($0) }).dropFirst() {
            let next: YAMLNode?
            if let index = Int(part.dropLast()), part.hasSuffix("]") {
                let elements = (try? node.elements()) ?? []
                next = elements.indices.contains(index) ? elements[index] : nil
            } else {
                next = (try? node.members())?.first { $0.key.text == part }?.value
            }
            guard let next else { return node }
            node = next
        }
        return node
    }
}
