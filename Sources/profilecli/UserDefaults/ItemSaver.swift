internal import ProfileLog
internal import ProfileLogAPI

/// Saves items of a preferences file, each as `profilecli save` would: one request, under a key of its own.
///
/// The key is made of the file's content, the device and the item's place, so that a rerun saves what is missing and
/// nothing twice.
struct ItemSaver {
    /// What became of one item.
    enum Outcome {
        /// It waits; `waiting` items do on the device.
        case saved(waiting: UInt64)
        /// It was saved by an earlier run.
        case repeated(waiting: UInt64)
        /// It is nothing that can be saved: a clause.
        case refused(String)
    }

    /// The item was saved before, with other content: for another user, process or storage.
    struct SavedOtherwise: Error {}

    var connection: any Connection
    /// What all items have in common: device, storage, process, user.
    var context: [AttributeValue.Member]
    /// What their keys begin with.
    var keyPrefix: String

    /// Saves `item`. What would befall every item is thrown, as a `Failure` or as `SavedOtherwise`.
    func save(_ item: PendingLists.Item) async throws -> Outcome {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("key", "\(keyPrefix):\(item.place)")
        writer.key("imported")
        writer.value(true)
        for member in context + item.content {
            writer.key(member.key)
            writer.value(member.value)
        }
        writer.endObject()
        let answer = try await connection.answer(APIRequest(.post, Self.path(item.kind), body: writer.bytes))
        guard let object = try? JSONObject(answer.body) else {
            throw Failure(
                "The answer (status \(answer.status)) is no JSON object.",
                remedy: "Check that the address is that of a profiled: GET / there says what it is.")
        }
        if answer.isSuccess {
            let waiting = UInt64(max(0, object["waiting"].integer ?? 0))
            return object["repeated"].flag == true ? .repeated(waiting: waiting) : .saved(waiting: waiting)
        }
        if object["code"].text == "key_reused" { throw SavedOtherwise() }
        let failure = Failure(object, status: answer.status)
        guard Self.isItemsFault(object) else { throw failure }
        let sentence = failure.message.hasSuffix(".") ? failure.message.dropLast() : failure.message[...]
        return .refused("is refused: " + sentence.prefix(1).lowercased() + sentence.dropFirst())
    }

    private static func path(_ kind: PendingKind) -> String {
        switch kind {
        case .customEvents: "/v1/save/event"
        case .customAttributes: "/v1/save/attributes"
        case .userAttributes: "/v1/save/user-attribute"
        }
    }

    /// Whether the item alone is at fault, and not an option that all have in common.
    private static func isItemsFault(_ problem: JSONObject) -> Bool {
        switch problem["code"].text {
        case "too_large", "invalid_json": true
        case "invalid": !commonPlaces.contains(problem["place"].text ?? "")
        default: false
        }
    }

    private static let commonPlaces: Set<String> = [
        "app_group", "device", "key", "process", "user", "The app group's name", "The app group",
        "The device's ID", "The idempotency key", "The process's name", "The user's ID",
    ]
}
