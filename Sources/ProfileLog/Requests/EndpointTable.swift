internal import ProfileLogSnippets

/// The endpoints of all dialects, by their paths.
package struct EndpointTable: Sendable {
    package let endpoints: [Endpoint]
    /// Endpoints whose paths have no parameters, by their paths.
    private let plain: [String: [Match]]
    private let templates: [Match]
    private let missing: [MissingEndpoint]
    /// The dialects by where their paths begin, the longest first.
    private let formats: [(root: String, format: APIFormat)]

    typealias Match = (index: Int, endpoint: Endpoint, parameters: [String: String])

    package init(_ dialects: [any Dialect.Type]) {
        endpoints = dialects.flatMap { $0.endpoints }
        missing = dialects.flatMap { $0.missing }
        formats = dialects.map { ($0.root, $0.format) }.sorted { $0.root.utf8.count > $1.root.utf8.count }
        let all = endpoints.enumerated().map { Match($0, $1, [:]) }
        plain = Dictionary(grouping: all.filter { !$0.endpoint.path.contains("{") }, by: \.endpoint.path)
        templates = all.filter { $0.endpoint.path.contains("{") }
    }

    package func endpoint(_ method: APIRequest.Method, _ path: String) -> Endpoint? {
        matches(path).first { $0.endpoint.method == method }?.endpoint
    }

    /// The format of what is said about `path`, also if no endpoint is there.
    package func format(at path: String) -> APIFormat {
        formats.first { path.utf8.starts(with: $0.root.utf8) }?.format ?? .braze
    }

    /// `path` with one slash in front, and in Braze's format none at the end: clients whose base URL ends in a slash
    /// send two, and some end each path in one.
    package func plain(_ path: String) -> String {
        let slash = UInt8(ascii: "/")
        guard path.utf8.count > 1, path.utf8.last == slash || path.utf8.starts(with: "//".utf8) else { return path }
        let inner = path.utf8.drop { $0 == slash }
        let isNative = format(at: "/" + String(decoding: inner, as: UTF8.self)) == .native
        let end = isNative ? 0 : inner.reversed().prefix { $0 == slash }.count
        return "/" + String(decoding: inner.dropLast(end), as: UTF8.self)
    }

    /// The path of the endpoint at `path`, with `{…}` in place of names, for logs; nil if there is none.
    package func template(of path: String) -> String? {
        matches(path).first?.endpoint.path ?? missing(at: path).first?.path
    }

    /// The methods at the path `template`, as in `Allow`.
    package func methods(at template: String) -> String {
        let own = endpoints.filter { $0.path == template }.map(\.method.rawValue)
        return (own.isEmpty ? missing.filter { $0.path == template }.map(\.method) : own).joined(separator: ", ")
    }

    /// Every permission that a key can have, without `all`.
    package var permissions: [String] { Set(endpoints.compactMap(\.permission)).sorted() }

    /// Returns the reason why `method` of HTTP is not answered at `path`: 405 with the right one, 501 for what the
    /// platform has and is not simulated, or 404.
    package func refusal(of method: String, at path: String) -> APIError {
        let methods = matches(path).map(\.endpoint.method.rawValue)
        guard methods.isEmpty else {
            let allowed = methods.joined(separator: ", ")
            return APIError(
                status: 405, code: "wrong_method", error: "This path does not know this method.",
                remedy: "Send \(allowed).", allow: allowed)
        }
        let missing = missing(at: path)
        if let endpoint = missing.first(where: { $0.method == method }) {
            return APIError(
                status: 501, code: "not_simulated",
                error: "Braze has \(endpoint.method) \(endpoint.path); ProfileLog does not simulate it.",
                remedy: endpoint.instead)
        }
        if let first = missing.first {
            let allowed = missing.map(\.method).joined(separator: ", ")
            return APIError(
                status: 405, code: "wrong_method",
                error:
                    "Braze has \(first.path) with \(allowed), not with this method; ProfileLog does not simulate it.",
                remedy: first.instead, allow: allowed)
        }
        let paths = Set(endpoints.map(\.path) + self.missing.map(\.path)).filter {
            abs($0.utf8.count - path.utf8.count) <= 2
        }.sorted()
        let nearest = NearestNames(to: path, among: paths, within: 2).close.first
        return APIError(
            status: 404, code: "unknown_path", error: "There is nothing at this path.",
            remedy: nearest.map { "Did you mean \($0)? GET / lists what there is." } ?? "GET / lists what there is.")
    }

    func match(_ request: APIRequest) throws -> Match {
        guard let match = matches(request.path).first(where: { $0.endpoint.method == request.method }) else {
            throw refusal(of: request.method.rawValue, at: request.path)
        }
        return match
    }

    private func missing(at path: String) -> [MissingEndpoint] {
        let plain = missing.filter { $0.path == path }
        if !plain.isEmpty { return plain }
        let found = missing.filter { PathTemplate.parameters(of: path, as: $0.path) != nil }
        return found.filter { $0.path == found[0].path }
    }

    /// The endpoints at `path`, one for each method, with what the path names.
    private func matches(_ path: String) -> [Match] {
        plain[path]
            ?? templates.compactMap { match in
                PathTemplate.parameters(of: path, as: match.endpoint.path).map { (match.index, match.endpoint, $0) }
            }
    }
}

/// A path of the API that may have places for names, as in `/v1/devices/{device}/launch`.
enum PathTemplate {
    /// Returns the names in `path` at the places of `template`, decoded; nil if it is another path, or has a broken
    /// escape or no UTF-8 there.
    static func parameters(of path: String, as template: String) -> [String: String]? {
        if path == template, !template.utf8.contains(UInt8(ascii: "{")) { return [:] }
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let places = template.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == places.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, place) in zip(parts, places) {
            guard place.first == UInt8(ascii: "{") else {
                if part.elementsEqual(place) { continue }
                return nil
            }
            guard !part.isEmpty, let value = decoded(part) else { return nil }
            parameters[String(decoding: place.dropFirst().dropLast(), as: UTF8.self)] = value
        }
        return parameters
    }

    private static func decoded(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
