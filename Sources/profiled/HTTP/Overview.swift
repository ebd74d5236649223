internal import ProfileLog
internal import ProfileLogAPI

/// `GET /`, which says what is where, and the paths under `/health`.
struct Overview: Sendable {
    let keys: KeyRing
    let isEphemeral: Bool

    private var authorization: String {
        keys.isClosed
            ? "Requests need a key that `profiled keys add` has made, as `Authorization: Bearer KEY`."
            : "There are no keys: any bearer token, or none, is accepted, so keep the port to yourself."
    }

    /// What is where, as JSON or as a page. Where keys are needed, it tells nothing of the store.
    func answer(_ api: API, html: Bool) -> ServiceAnswer {
        html
            ? ServiceAnswer(status: 200, body: Array(page(api).utf8), type: "text/html; charset=utf-8")
            : ServiceAnswer(status: 200, body: json(api))
    }

    /// 200 for as long as the process answers.
    var live: ServiceAnswer { ServiceAnswer(status: 200, body: Array(#"{"status":"ok"}"#.utf8)) }

    /// 200 while the store can be read, and 503 when it cannot, or when a write failed on the disk.
    func health(_ api: API, hasFailed: Bool) -> ServiceAnswer {
        var json = JSONWriter()
        json.beginObject()
        let last = hasFailed ? nil : try? api.log.lastPosition().rawValue
        json.key("status")
        json.value(last == nil ? "failed" : "ok")
        if let last {
            json.key("last_position")
            json.value(last)
        } else {
            json.key("remedy")
            json.value("Check the disk, then restart the service.")
        }
        json.endObject()
        return ServiceAnswer(status: last == nil ? 503 : 200, body: json.bytes)
    }

    private func json(_ api: API) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("service")
        json.value("profiled")
        if !keys.isClosed {
            json.key("store")
            json.value(api.log.path)
            json.key("last_position")
            if let last = try? api.log.lastPosition().rawValue { json.value(last) } else { json.null() }
        }
        json.key("ephemeral")
        json.value(isEphemeral)
        json.key("health")
        json.value("/health")
        json.key("documentation")
        json.value("docs/api.md")
        json.key("authorization")
        json.value(authorization)
        json.key("endpoints")
        json.beginArray()
        for own in OwnPath.allCases { json.endpoint("GET", own.rawValue, own.summary) }
        for endpoint in API.endpoints { json.endpoint(endpoint.method.rawValue, endpoint.path, endpoint.summary) }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    private func page(_ api: API) -> String {
        let last = (try? api.log.lastPosition().rawValue) ?? 0
        let store =
            keys.isClosed ? "" : "The store <code>\(Self.escaped(api.log.path))</code> has \(last) events."
        let rows = API.endpoints.map { endpoint in
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
            <a href="/health">/health</a> says whether it is well, <a href="/metrics">/metrics</a> how it fares,
            <a href="/openapi.json">/openapi.json</a> what can be asked; <code>docs/api.md</code> describes it.
            \(authorization)</p>
            <table>
            \(rows.joined(separator: "\n"))
            </table>
            </html>

            """
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

extension JSONWriter {
    fileprivate mutating func endpoint(_ method: String, _ path: String, _ summary: String) {
        beginObject()
        key("method")
        value(method)
        key("path")
        value(path)
        key("summary")
        value(summary)
        endObject()
    }
}
