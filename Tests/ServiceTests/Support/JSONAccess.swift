public import ProfileLog
import ProfileLogNativeAPI

extension API {
    /// Sends a body, and gives the status and the answer's object.
    func post(
        _ path: String, _ body: String, idempotencyKey: String? = nil
    ) async -> (status: Int, json: AttributeValue) {
        let answer = await answer(
            APIRequest(.post, path, idempotencyKey: idempotencyKey, body: Array(body.utf8)))
        return (answer.status, (try? JSON.parse(answer.body)) ?? .null)
    }

    /// Asks, and gives the status and the answer's object.
    func get(_ path: String, _ query: [(name: String, value: String)] = []) async -> (status: Int, json: AttributeValue)
    {
        let answer = await answer(APIRequest(.get, path, query: query))
        return (answer.status, (try? JSON.parse(answer.body)) ?? .null)
    }
}

extension AttributeValue {
    /// The value at a path of keys and indices, as in `devices.0.user`; null if there is none.
    func at(_ path: String) -> AttributeValue {
        path.split(separator: ".").reduce(self) { value, part in
            if let index = Int(part), case .array(let values) = value {
                return index < values.count ? values[index] : .null
            }
            return value[Name(String(part))] ?? .null
        }
    }

    var count: Int {
        switch self {
        case .array(let values): values.count
        case .object(let members): members.count
        default: 0
        }
    }

    var text: String { if case .string(let text) = self { text } else { "" } }
}
