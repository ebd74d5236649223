internal import Foundation
internal import ProfileLogNativeAPI

/// A running profiled, over HTTP.
struct RemoteAPI: Connection {
    /// The service's address, for messages.
    private let address: String
    private let base: URL
    /// The file of its unix socket; nil for a port.
    private let socket: String?
    private let key: String?
    private let trustedFile: String?
    /// The command can ask another node of the cluster, and has no `--store`.
    private let isOfCluster: Bool

    /// `url` is the service's address, as in `http://127.0.0.1:8080` or `unix:/run/profilelog/socket`, and `key` one of
    /// its keys. Certificates in `trustedFile` are trusted as well as those that this machine trusts.
    init(url: String, key: String?, trustedFile: String?, isOfCluster: Bool = false) throws {
        socket = try Self.socket(url)
        // The host is in the header `Host` alone.
        let text = socket != nil ? "http://localhost" : url.contains("://") ? url : "http://\(url)"
        guard let base = URL(string: text), ["http", "https"].contains(base.scheme), base.host?.isEmpty == false else {
            throw Self.unusable(url)
        }
        self.base = base
        address = socket.map { "unix:\($0)" } ?? base.absoluteString
        self.key = key
        self.trustedFile = trustedFile
        self.isOfCluster = isOfCluster
    }

    private static func unusable(_ url: String) -> CommandError {
        CommandError(
            "\(url) is not the address of a service.",
            remedy: "Write it as in http://127.0.0.1:8080, or unix:/run/profilelog/socket.", status: .usage)
    }

    /// The file in `unix:FILE` or `unix://FILE`; nil for another address.
    private static func socket(_ url: String) throws -> String? {
        guard url.hasPrefix("unix:") else { return nil }
        let rest = url.dropFirst("unix:".count)
        let path = rest.hasPrefix("//") ? rest.dropFirst(2) : rest
        if path.isEmpty { throw unusable(url) }
        return String(path)
    }

    func answer(_ request: APIRequest) async throws -> APIAnswer {
        var http = HTTPClient.Request(
            url: try url(request), isRepeatable: request.method == .get || request.idempotencyKey != nil)
        http.trustedFile = trustedFile
        http.socket = socket
        if let key { http.headers.append(("Authorization", "Bearer \(key)")) }
        if let key = request.idempotencyKey { http.headers.append(("Idempotency-Key", key)) }
        if let version = request.ifMatch { http.headers.append(("If-Match", version)) }
        if request.method == .post {
            http.headers.append(("Content-Type", "application/json"))
            http.body = request.body
        }
        do {
            let answer = try await HTTPClient.shared.send(http)
            var told = APIAnswer(status: answer.status, body: answer.body, etag: answer.etag)
            if let node = answer.node { told.headers.append((WriteForwarder.nodeHeader, node)) }
            return told
        } catch {
            throw failure(error)
        }
    }

    /// Returns the failure that the user reads when no answer came.
    private func failure(_ error: HTTPClient.RequestError) -> CommandError {
        switch error {
        case .timeout:
            return CommandError(
                "\(address) did not answer within \(HTTPClient.timeoutSeconds) s: whether a write was done is unknown.",
                remedy: "Look at its log; a write with --key can be run again safely.")
        case .unreached:
            var failure = CommandError(
                "Nothing answers at \(address).",
                remedy: isOfCluster
                    ? "Start the node (`profiled`), or name another one with --url."
                    : "Start the service (`profiled`) or correct --url; --store works without a service.")
            failure.isUnreached = true
            return failure
        case .certificate(let problem): return failure(problem)
        case .trustedFile:
            return CommandError(
                "The file \(trustedFile ?? "of certificates") cannot be read, or holds no certificates.",
                remedy: "Name a PEM file with --ca or PROFILELOG_CA: it begins with -----BEGIN CERTIFICATE-----.")
        case .notTLS:
            return CommandError(
                "\(address) does not speak TLS, or no version that this program speaks (1.2 or later).",
                remedy: "Write http:// if the service has no --tls-certificate; else look at its log.")
        case .clientCertificate:
            return CommandError(
                "\(address) takes only clients with a certificate, and profilecli has none.",
                remedy: "Ask a service without --tls-client-ca, or use curl with --cert and --key.")
        case .notHTTP: return CommandError("\(address) does not answer by HTTP.", remedy: "Check the address.")
        case .other(let reason):
            return CommandError(
                "The connection to \(address) failed (\(reason)).",
                remedy: "Check that the service runs (`profiled`) and that the address is right.")
        }
    }

    private func failure(_ problem: HTTPClient.CertificateProblem) -> CommandError {
        switch problem {
        case .unknownAuthority:
            return CommandError(
                "The certificate of \(address) is not signed by an authority that this machine trusts.",
                remedy: "Name its authority, or the certificate itself if it is self-signed, with --ca FILE.")
        case .ended:
            return CommandError(
                "The certificate of \(address) has ended.",
                remedy: "Renew it on the service; check the clock of this machine if it is wrong.")
        case .notYetValid:
            return CommandError(
                "The certificate of \(address) is not valid yet.", remedy: "Check the clocks of both machines.")
        case .otherHost:
            return CommandError(
                "The certificate of \(address) is for other hosts than \(base.host ?? address).",
                remedy: "Ask by a name that it is for: the log of the service has them.")
        case .other(let reason):
            return CommandError(
                "The certificate of \(address) cannot be verified (\(reason)).",
                remedy: "Check the certificate of the service, and --ca.")
        }
    }

    private func url(_ request: APIRequest) throws -> String {
        guard var parts = URLComponents(url: base, resolvingAgainstBaseURL: false) else {
            throw Self.unusable(base.absoluteString)
        }
        let path = parts.percentEncodedPath
        parts.percentEncodedPath = (path.hasSuffix("/") ? String(path.dropLast()) : path) + request.path
        if !request.query.isEmpty {
            parts.percentEncodedQuery = request.query.map { name, value in
                "\(APIRequest.pathPart(name))=\(APIRequest.pathPart(value))"
            }.joined(separator: "&")
        }
        guard let url = parts.string else { throw Self.unusable(base.absoluteString) }
        return url
    }
}
