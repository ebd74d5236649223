internal import Hummingbird
internal import Logging
internal import ProfileLogReplication
internal import ProfileLogRequests

extension WriteForwarder {
    /// Forwards the writes of `replica`'s node. `authorities` is the file of `--node-ca`, `own` the certificate that the
    /// node shows.
    convenience init(
        _ replica: Replica, authorities: String?, showing own: TLSCertificates?, counts: ForwardingCounts,
        logger: Logger
    ) throws(StartError) {
        let client = try NodeClient(authorities: authorities, showing: own, logger: logger)
        self.init(of: replica.settings.name, ReplicaNodes(replica: replica), over: client, counts: counts)
    }

    /// As `outcome(of:)`. A client that names itself by its certificate alone is served here: the other node would not
    /// see it.
    func outcome(
        _ call: APIRequest, _ endpoint: Endpoint, _ request: Request, _ asked: RequestHeaders, id: String,
        client: [String]
    ) async throws(APIError) -> Outcome {
        guard endpoint.isForwarded, asked[.forwarded] == nil, client.isEmpty || asked[.authorization] != nil else {
            return .here(mayBeElsewhere: false)
        }
        return try await outcome(of: ForwardedWrite(call, endpoint, request, asked, id: id, by: node))
    }
}

extension ForwardedWrite {
    /// The headers that the other node must see. The body of a call is unpacked, so it has no `Content-Encoding`, and
    /// the answer comes plain: this node packs it for its client.
    private static let passed: [(name: String, key: RequestHeaders.Name)] = [
        ("Accept", .accept), ("Authorization", .authorization), ("Content-Type", .contentType),
        ("Idempotency-Key", .idempotencyKey), ("If-Match", .ifMatch), ("X-Braze-Bulk", .bulk),
    ]

    /// A request as the node called `node` hands it on. `id` identifies it in the logs of both.
    fileprivate init(
        _ call: APIRequest, _ endpoint: Endpoint, _ request: Request, _ asked: RequestHeaders, id: String,
        by node: String
    ) {
        var headers: [(name: String, value: String)] = [
            ("X-Request-Id", id), (WriteForwarder.forwardedHeader, node),
        ]
        for (name, key) in Self.passed {
            if let value = asked[key] { headers.append((name, value)) }
        }
        let query = request.uri.query.map { "?" + $0 } ?? ""
        let body = call.body
        self.init(request.uri.path + query, headers: headers, body: body) {
            guard endpoint.takesIdempotencyKey else { return false }
            let key = asked[.idempotencyKey] ?? (endpoint.isNative ? BodyKey.find("key", in: body) : nil)
            return key?.isEmpty == false
        }
    }
}

/// The nodes of a cluster as this one's replica knows them.
private struct ReplicaNodes: WritingNodes {
    let replica: Replica

    var writer: WritingNode? { replica.writer.map { WritingNode(name: $0.name, url: $0.url) } }

    func hears(_ name: String) -> Bool { replica.hears(name) }
}
