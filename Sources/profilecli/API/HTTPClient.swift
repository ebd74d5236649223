internal import CCurl

/// Sends requests over HTTP, one after the other, by libcurl. Connections stay open between requests.
///
/// A request blocks one thread until its answer is there: the command has nothing else to do.
actor HTTPClient {
    /// A request as it goes out.
    struct Request: Sendable {
        var url: String
        /// The body of a POST; nil for a GET.
        var body: [UInt8]?
        var headers: [(name: String, value: String)] = []
        var tls = ClientTLS()
        /// The file of a unix socket to connect to, whatever host the URL has; nil for that host.
        var socket: String?
        /// Tells whether it may be sent once more where a kept connection turns out to be closed.
        var isRepeatable: Bool
    }

    struct Answer: Sendable {
        var status: Int
        var body: [UInt8]
        var etag: String?
        /// The node of a cluster that answered (`X-ProfileLog-Node`); nil for a service that is none.
        var node: String?
    }

    /// The reason why there is no answer (`curl_easy_perform`).
    enum RequestError: Error {
        case unreached
        /// Nothing came for `HTTPClient.timeoutSeconds`.
        case timeout
        case notHTTP
        /// The service's certificate is not trusted.
        case certificate(CertificateProblem)
        /// `ClientTLS.trusted` cannot be read, or has no certificates.
        case trustedFile
        /// `ClientTLS.certificate` cannot be used.
        case ownCertificate
        /// `ClientTLS.key` cannot be used, or is not that of the certificate.
        case ownKey
        /// The other side does not speak TLS, or refused ours.
        case notTLS
        /// The service wants a certificate of the client.
        case clientCertificate
        /// The service does not take the certificate of the client.
        case refusedCertificate
        /// Another failure, in libcurl's words.
        case other(String)
    }

    /// The reason why a certificate is not trusted.
    enum CertificateProblem {
        case unknownAuthority
        case ended
        case notYetValid
        /// A certificate for other hosts.
        case otherHost
        case other(String)

        /// `reason` is in the words of libcurl and OpenSSL.
        fileprivate init(reason: String) {
            if reason.contains("has expired") {
                self = .ended
            } else if reason.contains("not yet valid") {
                self = .notYetValid
            } else if reason.contains("does not match") || reason.contains("subject name matches") {
                self = .otherHost
            } else if ["self-signed", "self signed", "issuer"].contains(where: { reason.contains($0) }) {
                self = .unknownAuthority
            } else {
                self = .other(reason)
            }
        }
    }

    /// Longer than the longest time for which the service holds a request for new events.
    static let timeoutSeconds = 120
    private static let connectTimeoutSeconds = 10

    static let shared = HTTPClient()

    private let handle: UnsafeMutableRawPointer?

    private init() {
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        handle = curl_easy_init()
    }

    func send(_ request: Request) throws(RequestError) -> Answer {
        guard let handle else { throw .other("libcurl has no memory") }
        // Connections stay.
        curl_easy_reset(handle)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_CONNECTTIMEOUT, Self.connectTimeoutSeconds)
        // A long answer takes its time as long as bytes come.
        set(CURLOPT_LOW_SPEED_LIMIT, 1)
        set(CURLOPT_LOW_SPEED_TIME, Self.timeoutSeconds)
        set(CURLOPT_FRESH_CONNECT, request.isRepeatable ? 0 : 1)
        set(CURLOPT_URL, request.url)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        // The service is on this machine or was named: no proxy of the environment is asked.
        set(CURLOPT_PROXY, "")
        // CURL_SSLVERSION_TLSv1_2
        set(CURLOPT_SSLVERSION, 6)
        if let file = request.tls.trusted { set(CURLOPT_CAINFO, file) }
        if let file = request.tls.certificate {
            set(CURLOPT_SSLCERT, file)
            set(CURLOPT_SSLKEY, request.tls.key ?? file)
            // Without it OpenSSL asks at the terminal for the passphrase of a key that has one.
            set(CURLOPT_KEYPASSWD, "")
        }
        if let socket = request.socket { set(CURLOPT_UNIX_SOCKET_PATH, socket) }
        var headers: UnsafeMutablePointer<curl_slist>?
        defer { curl_slist_free_all(headers) }
        // libcurl waits for "100 Continue" before large bodies, unless this header is empty.
        headers = curl_slist_append(headers, "Expect:")
        for header in request.headers { headers = curl_slist_append(headers, "\(header.name): \(header.value)") }
        profilecli_curl_set_headers(handle, headers)
        if let body = request.body {
            set(CURLOPT_POST, 1)
            _ = profilecli_curl_set_body(handle, body, Int64(body.count))
        }
        return try perform(handle)
    }

    private func perform(_ handle: UnsafeMutableRawPointer) throws(RequestError) -> Answer {
        var body: [UInt8] = []
        let reason = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        reason.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        profilecli_curl_set_reason(handle, reason)
        defer {
            profilecli_curl_set_reason(handle, nil)
            reason.deallocate()
        }
        let code = withUnsafeMutablePointer(to: &body) { body in
            profilecli_curl_set_writer(
                handle,
                { bytes, size, count, body in
                    guard let bytes, let body else { return 0 }
                    body.assumingMemoryBound(to: [UInt8].self).pointee
                        .append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: size * count))
                    return size * count
                }, body)
            return curl_easy_perform(handle)
        }
        let words = String(cString: reason)
        switch code {
        case CURLE_OK: break
        case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST: throw .unreached
        case CURLE_OPERATION_TIMEDOUT: throw profilecli_curl_is_connected(handle) ? .timeout : .unreached
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: throw .notHTTP
        case CURLE_PEER_FAILED_VERIFICATION:
            throw .certificate(CertificateProblem(reason: words))
        case CURLE_SSL_CACERT_BADFILE: throw .trustedFile
        case CURLE_SSL_CERTPROBLEM: throw words.lowercased().contains("private key") ? .ownKey : .ownCertificate
        case _ where words.contains("certificate required"): throw .clientCertificate
        case _ where Self.refusals.contains(where: { words.contains($0) }): throw .refusedCertificate
        case CURLE_SSL_CONNECT_ERROR: throw .notTLS
        default: throw .other(String(cString: curl_easy_strerror(code)))
        }
        func header(_ name: String) -> String? { profilecli_curl_header(handle, name).map { String(cString: $0) } }
        return Answer(
            status: profilecli_curl_status(handle), body: body, etag: header("ETag"),
            node: header("X-ProfileLog-Node"))
    }

    /// The alerts of a service that does not take the certificate of the client, in OpenSSL's words.
    private static let refusals = [
        "unknown ca", "bad certificate", "unsupported certificate", "certificate unknown", "certificate expired",
        "certificate revoked", "decrypt error",
    ].map { "alert \($0)" }

    private func set(_ option: CURLoption, _ value: Int) { _ = profilecli_curl_set_number(handle, option, value) }
    private func set(_ option: CURLoption, _ value: String) { _ = profilecli_curl_set_text(handle, option, value) }
}
