/// The files by which a command and a service know each other over TLS, in PEM.
struct ClientTLS: Sendable {
    /// Certificates to trust as well as those that this machine trusts; nil for none.
    var trusted: String?
    /// The certificate of the client; nil for none.
    var certificate: String?
    /// The key of that certificate; nil if both are in one file.
    var key: String?

    private static let mostBytes = 1 << 20

    /// Checks the client's own files as far as that is possible without a service.
    func check() throws(CommandError) {
        guard let certificate else {
            if key == nil { return }
            throw CommandError(
                "There is a key of a certificate, and no certificate.",
                remedy: "Name the certificate with --certificate or PROFILELOG_CERTIFICATE.", status: .usage)
        }
        let text = try Self.text(certificate, "--certificate or PROFILELOG_CERTIFICATE")
        if !text.contains("CERTIFICATE-----") {
            throw CommandError(
                "The file \(certificate.oneLine) holds no certificate in PEM.",
                remedy: "Name one that begins with -----BEGIN CERTIFICATE-----; `openssl pkcs12` makes it from a .p12.",
                status: .usage)
        }
        let keyFile = key ?? certificate
        let keyText =
            try key == nil ? text : Self.text(keyFile, "--certificate-key or PROFILELOG_CERTIFICATE_KEY")
        if !keyText.contains("PRIVATE KEY-----") {
            throw CommandError(
                "The file \(keyFile.oneLine) holds no private key in PEM.",
                remedy: "Name the key of the certificate with --certificate-key or PROFILELOG_CERTIFICATE_KEY.",
                status: .usage)
        }
        if keyText.contains("BEGIN ENCRYPTED") || keyText.contains(",ENCRYPTED") {
            throw CommandError(
                "The private key in \(keyFile.oneLine) is encrypted with a passphrase.",
                remedy: "Write it without one, for you alone: `openssl pkey -in FILE -out NEW`.", status: .usage)
        }
    }

    private static func text(_ path: String, _ options: String) throws(CommandError) -> String {
        // No file here is standard input: libcurl reads it again for each connection.
        let bytes = try NamedFile.bytes(
            path == "-" ? "./-" : path, atMost: mostBytes, remedy: "Check \(options), and that you may read the file.")
        return String(decoding: bytes, as: UTF8.self)
    }
}
