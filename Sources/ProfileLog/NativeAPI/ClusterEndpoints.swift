internal import ProfileLogRequests

/// `/v1/cluster`: the nodes that serve one store.
struct ClusterEndpoints {
    /// The cluster; nil for a store that one service has alone.
    let cluster: (any ClusterView)?

    /// The permission for what changes the cluster itself, and for a copy of the store.
    static let permission = "v1.cluster"
    static let rebuildInputs: [EndpointInput] = [.init("sequence", .integer)]
    static let streamInputs: [EndpointInput] = [.required("max_age_s", .integer)]

    /// `GET /v1/cluster`.
    func status(_ request: APIRequest) throws -> APIAnswer {
        try Query(request).end()
        let report = try member().report
        return APIAnswer.ok { $0.members(of: report) }
    }

    /// `POST /v1/cluster/rebuild`.
    func rebuild(_ request: APIRequest) async throws -> APIAnswer {
        let fields = try Fields(withoutConditions: request, mayBeEmpty: true)
        let seen = try fields.integer("sequence", in: 0 ... .max, "must be the sequence of a batch")
        let cluster = try member()
        let own = cluster.report.own
        // What someone decided by a status of before.
        if let seen, UInt64(seen) != own.sequence {
            throw APIError(
                status: 409, code: "other_sequence",
                error: "This node is at batch \(own.sequence), not at \(seen); nothing was changed.",
                remedy: "Look at `GET /v1/cluster` again, and decide by that.", place: "sequence",
                facts: [("actual", own.sequence)])
        }
        try await SlowPath.run { try cluster.rebuild() }
        let report = cluster.report
        return APIAnswer.ok { json in
            json.member("rebuilt", true)
            json.members(of: report)
        }
    }

    /// `POST /v1/cluster/stream`.
    func keep(_ request: APIRequest) async throws -> APIAnswer {
        let fields = try Fields(withoutConditions: request)
        let seconds = try fields.required("max_age_s", fields.integer)
        guard seconds == 0 || Self.ages ~= seconds else {
            throw APIError.invalid(
                "max_age_s",
                "must be seconds from \(Self.ages.lowerBound) to \(Self.ages.upperBound), or 0: for ever")
        }
        let cluster = try member()
        try await SlowPath.run { try cluster.keep(for: seconds == 0 ? nil : .seconds(seconds)) }
        let report = cluster.report
        return APIAnswer.ok { $0.members(of: report) }
    }

    /// The ages of batches that a stream may have, in seconds: those of `--stream-max-age`.
    private static let ages: ClosedRange<Int64> = 60...315_360_000

    private func member() throws(APIError) -> any ClusterView {
        guard let cluster else { throw .noCluster }
        return cluster
    }
}

extension APIError {
    static let noCluster = APIError(
        status: 404, code: "no_cluster", error: "This service has its store alone: it is no node of a cluster.",
        remedy: "Start it with `profiled --replicate`: docs/scaling.md says how.")
}

extension JSONWriter {
    fileprivate mutating func members(of report: ClusterReport) {
        member("cluster", report.cluster)
        object("node") { $0.members(of: report.own, report) }
        objects("nodes", ([report.own] + report.others).sorted { ($0.name, $0.instance) < ($1.name, $1.instance) }) {
            $0.members(of: $1, report)
        }
        orNull("writer", report.preferred)
        member("writes_here", report.isWriter)
        member("writable", report.refusal == nil)
        reason("refusal", report.refusal)
        objects("warnings", report.warnings) { json, warning in
            json.member("error", warning.error)
            json.member("remedy", warning.remedy)
        }
        member("lag_s") { json in
            if let lag = report.lag { json.value(Self.seconds(lag)) } else { json.null() }
        }
        member("missing", report.missing)
        member("undecided", report.hasUndecided)
        member("stream") { json in
            guard let stream = report.stream else { return json.null() }
            json.object { $0.members(of: stream) }
        }
        member("last_failover") { json in
            guard let failOver = report.failOver else { return json.null() }
            json.object { json in
                json.member("ended", failOver.ended)
                json.member("length_s", Self.seconds(failOver.length))
                json.member("node", failOver.node)
            }
        }
        object("counts") { json in
            json.member("published", report.counts.published)
            json.member("applied", report.counts.applied)
            json.member("decisions_again", report.counts.decisionsAgain)
            json.member("undecided", report.counts.undecided)
            json.member("broker_changes", report.counts.brokerChanges)
        }
    }

    private mutating func members(of node: ClusterReport.Node, _ report: ClusterReport) {
        member("name", node.name)
        member("instance", String(node.instance, radix: 16))
        member("url", node.url)
        member("sequence", node.sequence)
        member("position", node.position)
        member("is_writer", node.name == report.preferred)
        member("writable", node.refusal == nil)
        member("refusal", node.refusal)
        orNull("broker", node.broker)
        member("version", node.version)
        member("age_s", Self.seconds(node.age))
    }

    private mutating func members(of stream: ClusterReport.Stream) {
        member("created", stream.created)
        member("first", stream.first)
        member("last", stream.last)
        member("max_age_s", Int(stream.maxAge?.components.seconds ?? 0))
        orNull("leader", stream.leader)
        objects("followers", stream.followers.sorted { $0.broker < $1.broker }) { json, follower in
            json.member("name", follower.broker)
            json.member("current", follower.isCurrent)
        }
        objects("faults", stream.faults) { json, fault in
            json.member("error", fault.error)
            json.member("remedy", fault.remedy)
        }
    }

    /// Writes a reason as a member, unless there is none.
    private mutating func reason(_ key: String, _ reason: ClusterReport.Reason?) {
        guard let reason else { return }
        object(key) { json in
            json.member("error", reason.error)
            json.member("remedy", reason.remedy)
        }
    }

    private mutating func orNull(_ key: String, _ text: String?) {
        member(key) { json in if let text { json.value(text) } else { json.null() } }
    }

    /// Seconds with three decimals.
    private static func seconds(_ duration: Duration) -> Double { (duration / .milliseconds(1)).rounded() / 1_000 }
}

// MARK: - The form of the answers

extension ClusterEndpoints {
    private static let reason: AnswerShape = ["error": .text, "remedy": .text]

    private static let node: AnswerShape = .named(
        "ClusterNode",
        [
            "name": .text, "instance": .text, "url": .text, "sequence": .integer, "position": .integer,
            "is_writer": .boolean, "writable": .boolean, "refusal?": .text, "broker": .orNull(.text), "version": .text,
            "age_s": .number,
        ])

    private static let stream: AnswerShape = [
        "created": .text, "first": .integer, "last": .integer, "max_age_s": .integer, "leader": .orNull(.text),
        "followers": [["name": .text, "current": .boolean]], "faults": [reason],
    ]

    static let shape: AnswerShape = [
        "cluster": .text, "node": node, "nodes": [node], "writer": .orNull(.text), "writes_here": .boolean,
        "writable": .boolean, "refusal?": reason, "warnings": [reason], "lag_s": .orNull(.number),
        "missing": .integer,
        "undecided": .boolean, "stream": .orNull(stream),
        "last_failover": .orNull(["ended": .time, "length_s": .number, "node": .text]),
        "counts": [
            "published": .integer, "applied": .integer, "decisions_again": .integer, "undecided": .integer,
            "broker_changes": .integer,
        ],
    ]

    static let rebuilt: AnswerShape = ["rebuilt": .boolean] + shape
}
