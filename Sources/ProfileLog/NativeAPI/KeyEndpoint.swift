internal import ProfileLogRequests

/// `GET /v1/key`: what a client may do, and on which store.
struct KeyEndpoint {
    let store: RequestStore
    let ephemeral: (any EphemeralStore)?

    func key(_ request: APIRequest) throws -> APIAnswer {
        try Query(request).end()
        let key = try request.key()
        let isWritable = store.log.writeRefusal == nil
        return APIAnswer.ok { json in
            json.member("key") { json in
                guard let key else { return json.null() }
                json.object { json in
                    json.member("name", key.name)
                    json.array("permissions", key.permissions) { $0.value($1) }
                }
            }
            json.member("store", Hexadecimal.text(store.reader.storeID))
            json.member("mode", ephemeral == nil ? "kept" : "ephemeral")
            json.member("writable", isWritable)
            if let ephemeral { json.object("clock") { $0.clock(ephemeral.clock.reading()) } }
            if key == nil { json.member("note", "No key is needed here: every request is allowed.") }
        }
    }
}

// MARK: - The form of the answers

extension KeyEndpoint {
    static let shape: AnswerShape = [
        "key": .orNull(["name": .text, "permissions": [.text]]), "store": .text, "mode": .text, "writable": .boolean,
        "clock?": TestStoreEndpoints.clock, "note?": .text,
    ]
}
