internal import ProfileLog
internal import ProfileLogRequests

/// `GET /`, which lists the endpoints, and the paths under `/health`.
struct Overview: Sendable {
    let keys: KeyRing
    let isEphemeral: Bool

    private var authorization: String {
        keys.isClosed
            ? "Requests need a key that `profiled keys add` has made, as `Authorization: Bearer KEY`."
            : "There are no keys: any bearer token, or none, is accepted, so keep the port to yourself."
    }

    /// 200 for as long as the process answers.
    let live = ServiceAnswer(200, ["status": "ok"])

    /// 200 while the store can be read and written, `degraded` if its audit found differences; 503 from the first
    /// failure on.
    func health(_ store: LiveStore) -> ServiceAnswer {
        if let failure = store.failure {
            // The reason may name the store's folder.
            let error = keys.isClosed ? "The store cannot be read and written." : failure.description
            return ServiceAnswer(503, ["status": "failed", "error": .string(error), "remedy": .string(failure.remedy)])
        }
        let last = store.lastPosition.map { JSONLiteral.integer($0) } ?? .null
        let differences = store.api.auditor.report.differences.count
        if differences > 0 {
            return ServiceAnswer(
                200,
                [
                    "status": "degraded", "last_position": last,
                    "error": .string("The audit found \(differences) states that are not what the log says."),
                    "remedy": "GET /v1/status names them. Stop the service and run `profilecli check --replay`.",
                ])
        }
        return ServiceAnswer(200, ["status": "ok", "last_position": last])
    }

    /// What is where, as JSON or as a page. Where keys are needed, it tells nothing of the store.
    func answer(_ api: API, html: Bool) -> ServiceAnswer {
        html
            ? ServiceAnswer(status: 200, body: Array(page(api).utf8), type: "text/html; charset=utf-8")
            : ServiceAnswer(200, json(api))
    }

    private func json(_ api: API) -> JSONLiteral {
        let last = (try? api.log.lastPosition().rawValue).map { JSONLiteral.integer($0) } ?? .null
        let paths =
            OwnPath.allCases.map { ("GET", $0.rawValue, $0.summary) }
            + API.table.endpoints.map { ($0.method.rawValue, $0.path, $0.summary) }
        let endpoints = paths.map { method, path, summary -> JSONLiteral in
            ["method": .string(method), "path": .string(path), "summary": .string(summary)]
        }
        return [
            "service": "profiled", "store": keys.isClosed ? .absent : .string(api.log.path),
            "last_position": keys.isClosed ? .absent : last, "ephemeral": .bool(isEphemeral), "health": "/health",
            "documentation": "docs/api.md", "authorization": .string(authorization), "endpoints": .array(endpoints),
        ]
    }

    private func page(_ api: API) -> String {
        let last = (try? api.log.lastPosition().rawValue) ?? 0
        let store = keys.isClosed ? "" : "The store <code>\(Self.escaped(api.log.path))</code> has \(last) events."
        let rows = API.table.endpoints.map { endpoint in
            let isLink = endpoint.method == .get && !endpoint.path.contains("{")
            let path = isLink ? "<a href=\"\(endpoint.path)\">\(endpoint.path)</a>" : endpoint.path
            return "<tr><td>\(endpoint.method.rawValue)<td>\(path)<td>\(Self.escaped(endpoint.summary))"
        }
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <title>profiled</title>
            <style>body { font: 16px/1.5 system-ui; margin: 2em } td { padding: 0 1em 0 0 }</style>
            <h1>profiled</h1>
            <p>\(store)
            <a href="/health">/health</a>: can the store be read and written?
            <a href="/metrics">/metrics</a>: numbers.
            <a href="/openapi.json">/openapi.json</a>: all requests. <code>docs/api.md</code> describes them.
            \(authorization)</p>
            <table>
            \(rows.joined(separator: "\n"))
            </table>
            </html>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
