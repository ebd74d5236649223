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
    private let tls: ClientTLS
    /// The command can ask another node of the cluster, and has no `--store`.
    private let isOfCluster: Bool

    /// `url` is the service's address, as in `http://127.0.0.1:8080` or `unix:/run/profilelog/socket`, and `key` one of
    /// its keys. Throws if the files of `tls` cannot be used.
    init(url: String, key: String?, tls: ClientTLS, isOfCluster: Bool = false) throws {
        socket = try Self.socket(url)
        // The host is in the header `Host` alone.
        let text = socket != nil ? "http://localhost" : url.contains("://") ? url : "http://\(url)"
        guard let base = URL(string: text), ["http", "https"].contains(base.scheme), base.host?.isEmpty == false else {
            throw Self.unusable(url)
        }
        if base.scheme == "https" { try tls.check() }
        self.base = base
        address = socket.map { "unix:\($0)" } ?? base.absoluteString
        self.key = key
        self.tls = tls
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
        http.tls = tls
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
                "The file \(tls.trusted ?? "of certificates") cannot be read, or holds no certificates.",
                remedy: "Name a PEM file with --ca or PROFILELOG_CA: it begins with -----BEGIN CERTIFICATE-----.")
        case .notTLS:
            return CommandError(
                "\(address) does not speak TLS, or no version that this program speaks (1.2 or later).",
                remedy: "Write http:// if the service has no --tls-certificate; else look at its log.")
        case .clientCertificate:
            if tls.certificate != nil { return failure(.refusedCertificate) }
            return CommandError(
                "\(address) takes only clients with a certificate, and none was named.",
                remedy: "Name one in PEM, and its key, with --certificate FILE and --certificate-key FILE.")
        case .refusedCertificate:
            return CommandError(
                "\(address) does not take the certificate in \(tls.certificate ?? "this request").",
                remedy: "Name one that has not ended, and that an authority of its --tls-client-ca has signed.")
        case .ownCertificate:
            return CommandError(
                "The certificate in \(tls.certificate ?? "--certificate") is damaged, or of a kind that is not known.",
                remedy: "Name another one with --certificate; `openssl x509 -in FILE -noout -text` shows what it is.",
                status: .usage)
        case .ownKey:
            return CommandError(
                "The key in \(tls.key ?? tls.certificate ?? "--certificate-key") is not that of the certificate in "
                    + "\(tls.certificate ?? "--certificate"), or is damaged.",
                remedy: "Name the key that belongs to the certificate with --certificate-key.", status: .usage)
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
