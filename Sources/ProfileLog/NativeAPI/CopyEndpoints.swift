internal import ProfileLogRequests

/// Makes copies of a store for nodes that join its cluster: the service can, as it knows backups.
package protocol StoreCopying: Sendable {
    /// A copy of `log` as it is at its end, as one stream. Reads nothing before its first part is asked for.
    func copy(of log: EventLog) -> any APIAnswer.Stream
}

/// The endpoints by which the nodes of a cluster copy and compare their stores.
struct CopyEndpoints {
    let store: RequestStore
    let copying: (any StoreCopying)?

    /// The type of a copy, as in `Content-Type`.
    static let mediaType = "application/x-tar"
    static let digestInputs: [EndpointInput] = [.init("position", .integer), .init("from", .integer)]

    /// `GET /v1/cluster/copy`: the whole store for a node that joins.
    func copy(_ request: APIRequest) throws -> APIAnswer {
        try Query(request).end()
        guard let copying, try store.reader.replicaPosition() != nil else { throw APIError.noCluster }
        var answer = APIAnswer(status: 200, body: [])
        answer.stream = copying.copy(of: store.log)
        return answer
    }

    /// `GET /v1/cluster/digest`: hashes of what is true up to a position.
    static func digest(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        var query = Query(request)
        let end = try query.number("position", 0 ... .max, standard: .max)
        let from = try query.number("from", 1 ... .max, standard: 1)
        try query.end()
        let last = try log.lastPosition()
        let position = end == .max ? last : Position(rawValue: end)
        guard position <= last else {
            throw APIError.invalidHere(
                "position", "is after the end of the log, \(last.rawValue)",
                remedy: "Ask for an earlier position, or wait for it with `wait_for`.")
        }
        let digest = try log.digest(from: Position(rawValue: from), to: position)
        return APIAnswer.ok { json in
            json.member("sequence") { json in
                if let place = digest.place { json.value(place.sequence) } else { json.null() }
            }
            json.member("batch") { json in
                if let place = digest.place { json.value(Hexadecimal.text(place.hash)) } else { json.null() }
            }
            json.member("last_position", digest.last.rawValue)
            json.member("from", from)
            json.member("position", position.rawValue)
            json.member("log", Hexadecimal.text(digest.log))
            json.member("names", Hexadecimal.text(digest.names))
            json.member("name_count", UInt64(digest.nameCount))
            json.member("meta", Hexadecimal.text(digest.meta))
            json.member("rewrites", UInt64(digest.rewrites))
            json.member("name_erasures", UInt64(digest.nameErasures))
        }
    }
}

// MARK: - The form of the answers

extension CopyEndpoints {
    static let digested: AnswerShape = [
        "sequence": .orNull(.integer), "batch": .orNull(.text), "last_position": .integer, "from": .integer,
        "position": .integer, "log": .text, "names": .text, "name_count": .integer, "meta": .text,
        "rewrites": .integer, "name_erasures": .integer,
    ]
}
