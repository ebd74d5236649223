internal import ProfileLog
internal import ProfileLogNativeAPI
internal import ProfileLogRequests

/// `GET /`, which lists the endpoints, and the paths under `/health`.
struct Overview: Sendable {
    let keys: KeyRing
    let isEphemeral: Bool
    /// The paths of the service itself at the main port.
    let own: [OwnPath]

    private var authorization: String {
        keys.isClosed
            ? "Requests need a key that `profiled keys add` has made, as `Authorization: Bearer KEY`."
            : "There are no keys: any bearer token, or none, is accepted, so keep the port to yourself."
    }

    /// 200 for as long as the process answers.
    let live = APIAnswer(200, ["status": "ok"])

    /// 200 while the store can be read and written, `degraded` if there are `reasons`; 503 from the first failure on.
    func health(_ store: LiveStore, _ reasons: [HealthReason]) -> APIAnswer {
        if let failure = store.failure {
            // The reason may name the store's folder.
            let error = keys.isClosed ? "The store cannot be read and written." : failure.description
            return APIAnswer(
                503, ["status": "failed", "error": .string(error), "remedy": .string(failure.commandRemedy)])
        }
        let last = store.lastPosition.map { AttributeValue($0) } ?? .null
        guard let first = reasons.first else { return APIAnswer(200, ["status": "ok", "last_position": last]) }
        let all = reasons.map { reason -> AttributeValue in
            [
                "reason": .string(reason.kind.rawValue), "error": .string(reason.error),
                "remedy": .string(reason.remedy),
            ]
        }
        return APIAnswer(
            200,
            [
                "status": "degraded", "last_position": last, "error": .string(first.error),
                "remedy": .string(first.remedy), "reasons": .array(all),
            ])
    }

    /// As `health`, but 503 for a node of a cluster with a reason why it is not ready yet.
    func ready(_ store: LiveStore, _ reasons: [HealthReason], _ unready: ClusterReport.Reason?) -> APIAnswer {
        guard let unready, store.failure == nil else { return health(store, reasons) }
        return APIAnswer(
            503, ["status": "starting", "error": .string(unready.error), "remedy": .string(unready.remedy)])
    }

    /// Answers with a list of the endpoints. Where keys are needed, it tells nothing of the store.
    func answer(_ api: API) -> APIAnswer {
        let last = (try? api.log.lastPosition().rawValue).map { AttributeValue($0) } ?? .null
        let paths =
            own.map { ("GET", $0.rawValue, $0.summary) }
            + API.table.endpoints.map { ($0.method.rawValue, $0.path, $0.summary) }
        let endpoints = paths.map { method, path, summary -> AttributeValue in
            ["method": .string(method), "path": .string(path), "summary": .string(summary)]
        }
        return APIAnswer(
            200,
            [
                "service": "profiled", "store": keys.isClosed ? nil : .string(api.log.path),
                "last_position": keys.isClosed ? nil : last, "ephemeral": .bool(isEphemeral), "health": "/health",
                "documentation": "docs/api.md", "console": "/console/", "authorization": .string(authorization),
                "endpoints": .array(endpoints),
            ])
    }
}
