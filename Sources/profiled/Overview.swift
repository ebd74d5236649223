internal import ProfileLog
internal import ProfileLogAPI

/// `GET /`, which says what is where, and `GET /health`.
struct Overview: Sendable {
    let storePath: String

    /// The paths that are the service's own, and no part of the API.
    static let ownPaths: Set<String> = ["/", "/health"]

    private static let authorization =
        "Nothing is checked yet: any bearer token, or none, is accepted, so keep the port to yourself."

    /// What is where, as JSON or as a page.
    func answer(_ api: API, html: Bool) -> TypedAnswer {
        let last = try? api.log.lastPosition().rawValue
        return html
            ? TypedAnswer(status: 200, body: Array(page(last: last).utf8), type: "text/html; charset=utf-8")
            : TypedAnswer(status: 200, body: json(last: last), type: "application/json")
    }

    /// 200 while the store can be read, and 503 when it cannot, or when a write failed on the disk.
    func health(_ api: API, hasFailed: Bool) -> TypedAnswer {
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
        return TypedAnswer(status: last == nil ? 503 : 200, body: json.bytes, type: "application/json")
    }

    private func json(last: UInt64?) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("service")
        json.value("profiled")
        json.key("store")
        json.value(storePath)
        json.key("last_position")
        if let last { json.value(last) } else { json.null() }
        json.key("health")
        json.value("/health")
        json.key("documentation")
        json.value("docs/api.md")
        json.key("authorization")
        json.value(Self.authorization)
        json.key("endpoints")
        json.beginArray()
        for endpoint in API.endpoints {
            json.beginObject()
            json.key("method")
            json.value(endpoint.method.rawValue)
            json.key("path")
            json.value(endpoint.path)
            json.key("summary")
            json.value(endpoint.summary)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    private func page(last: UInt64?) -> String {
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
            <p>The store <code>\(Self.escaped(storePath))</code> has \(last ?? 0) events.
            <a href="/health">/health</a> says whether it is well; <code>docs/api.md</code> describes the requests.
            \(Self.authorization)</p>
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
