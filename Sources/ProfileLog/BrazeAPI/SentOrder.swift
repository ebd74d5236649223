internal import ProfileLogRequests
internal import Synchronization

/// The order in which a request has the properties of its objects: the parser sorts them. Reads the request again when
/// it is asked for the first time; most are not, since only objects with too many properties need it.
final class SentOrder: Sendable {
    let request: [UInt8]
    private let body = Mutex<AttributeValue?>(nil)

    init(_ request: [UInt8]) { self.request = request }

    /// The properties `members` of the object at `index` of `array` as they were sent.
    func arranged(
        _ members: [AttributeValue.Member], _ array: TrackArray, _ index: Int
    ) -> [AttributeValue.Member] {
        let objects = parsed().first(Name(array.rawValue)).map { $0.asArray ?? [$0] } ?? []
        guard objects.indices.contains(index), case .object(let sent)? = objects[index].first(WireNames.properties)
        else { return members }
        let places = Dictionary(sent.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        return members.sorted { places[$0.key, default: 0] < places[$1.key, default: 0] }
    }

    private func parsed() -> AttributeValue {
        body.withLock { body in
            if let body { return body }
            let value = (try? JSON.parseInSentOrder(request)) ?? .null
            body = value
            return value
        }
    }
}

extension AttributeValue {
    /// The first member `key` of an object whose members are in no order.
    fileprivate func first(_ key: Name) -> AttributeValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }
}
