internal import CoreFoundation
internal import Foundation
internal import NIOCertificateReloading
internal import NIOCore
internal import NIOSSL
internal import ProfileLog
internal import SwiftASN1
internal import X509

/// The files of TLS, by their paths.
struct TLSFiles: Equatable, Sendable {
    let certificate: String
    let key: String
    /// The authorities of which one must have signed a client's certificate; nil if clients need none.
    let clientCA: String?
    let clientAuth: ClientAuth
    /// Tells whether the service is a node of a cluster, which shows the certificate to other nodes that ask for one.
    let isOfNode: Bool

    /// Tells whether a client may come without a certificate.
    enum ClientAuth: String, Sendable { case required, optional }

    /// The content of the files: checked, and ready to be served.
    struct Content: Sendable {
        let context: NIOSSLContext
        let certificate: ServedCertificate
        /// The pair that the service shows to other nodes that ask for a certificate; nil for none.
        let shown: NIOSSLContextConfigurationOverride?
        /// Faults that are no reason to refuse them, each with what to do.
        let warnings: [String]
    }

    /// The versions of the files; nil for one that is not there.
    var stamps: [FileStamp?] { ([certificate, key] + [clientCA].compactMap { $0 }).map { FileStamp(path: $0) } }

    private static let maxBytes = 1 << 20
    private static let certificateLabels = ["CERTIFICATE", "X509 CERTIFICATE"]

    /// Reads all files. Throws if one of them cannot be used, or if they do not fit each other.
    func read(now: Timestamp = .now()) throws(StartError) -> Content {
        let (chain, chainText) = try certificates("The certificate", "--tls-certificate", certificate)
        let served = ServedCertificate(chain[0])
        try check(served, "The certificate \(certificate)", now)
        let (ownKey, mode) = try privateKey()
        var warnings: [String] = []
        if mode & 0o007 != 0 {
            warnings.append("every user of this machine can use the TLS key \(key): `chmod o= \(key)`")
        }
        let pair = try matched(chainText, ownKey)
        guard let privateKey = pair.privateKey else { throw cannotServe("it has no private key") }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: pair.certificateChain ?? [], privateKey: privateKey)
        // By itself it would take TLS 1.0, which RFC 8996 withdrew.
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.shutdownTimeout = .seconds(1)
        var shown: NIOSSLContextConfigurationOverride?
        if let clientCA {
            let (authorities, authorityText) = try certificates("The client CA", "--tls-client-ca", clientCA)
            let stated = authorities.map { ServedCertificate($0) }
            try check(stated.first { $0.begin <= now && now < $0.end } ?? stated[0], "The client CA \(clientCA)", now)
            configuration.certificateVerification =
                clientAuth == .required ? .noHostnameVerification : .optionalVerification
            do {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authorityText.utf8)))
            } catch { throw damaged("The client CA", clientCA) }
            configuration.sendCANameList = true
            if isOfNode {
                let fault = faultAsClient(chain, authorities)
                if let fault, clientAuth == .required {
                    throw StartError(
                        "The other nodes would refuse the certificate \(certificate): \(fault).",
                        remedy: "Name one for servers and clients, signed by an authority in \(clientCA), or let "
                            + "clients come without one: --tls-client-auth optional.")
                }
                // Where none is required, one that is refused would be worse than none.
                if fault == nil { shown = pair }
            }
        }
        do {
            return Content(
                context: try NIOSSLContext(configuration: configuration), certificate: served, shown: shown,
                warnings: warnings)
        } catch { throw cannotServe("\(error)") }
    }

    // MARK: - Parts

    private func check(_ certificate: ServedCertificate, _ what: String, _ now: Timestamp) throws(StartError) {
        if now >= certificate.end {
            throw StartError(
                "\(what) ended at \(certificate.end.rfc3339()).",
                remedy: "Renew it and put the new one into the file; check the clock of this machine if it is wrong.")
        }
        if now < certificate.begin {
            throw StartError(
                "\(what) is not valid before \(certificate.begin.rfc3339()).",
                remedy: "Check the clock of this machine, or name a certificate that is valid now.")
        }
    }

    /// The reason for which a service with the same `--tls-client-ca` refuses the certificate; nil if there is none.
    private func faultAsClient(_ chain: [Certificate], _ authorities: [Certificate]) -> String? {
        if let usages = try? chain[0].extensions.extendedKeyUsage, !usages.contains(.clientAuth) {
            return "its extended key usage has no client authentication"
        }
        let isSigned = chain.contains { own in
            authorities.contains { $0.subject == own.issuer && $0.publicKey.isValidSignature(own.signature, for: own) }
        }
        return isSigned ? nil : "no authority of --tls-client-ca has signed it"
    }

    /// The certificates of a file, and their blocks as one text.
    private func certificates(
        _ what: String, _ option: String, _ path: String
    ) throws(StartError) -> (chain: [Certificate], text: String) {
        let (text, _) = try content(what, path)
        let blocks = Self.blocks(text)
        let own = blocks.filter { Self.certificateLabels.contains($0.label) }
        guard !own.isEmpty else {
            let hasKey = blocks.contains { $0.label.hasSuffix("PRIVATE KEY") }
            throw StartError(
                "\(what) \(path) holds no certificate\(hasKey ? ", but a private key" : "").",
                remedy: "Name a PEM file with \(option): it begins with -----BEGIN CERTIFICATE-----.")
        }
        do {
            return (
                try own.map { try Certificate(pemDocument: PEMDocument(type: "CERTIFICATE", derBytes: $0.bytes)) },
                own.map { PEMDocument(type: "CERTIFICATE", derBytes: $0.bytes).pemString }.joined(separator: "\n")
            )
        } catch { throw damaged(what, path) }
    }

    /// The block of the key, and the mode of its file.
    private func privateKey() throws(StartError) -> (text: String, mode: mode_t) {
        let (text, mode) = try content("The key", key)
        let blocks = Self.blocks(text)
        guard let block = blocks.first(where: { $0.label.hasSuffix("PRIVATE KEY") }) else {
            let hasCertificate = blocks.contains { Self.certificateLabels.contains($0.label) }
            throw StartError(
                "The key \(key) holds no private key\(hasCertificate ? ", but a certificate" : "").",
                remedy: "Name a PEM file with --tls-key: it begins with -----BEGIN PRIVATE KEY-----.")
        }
        guard block.label != "ENCRYPTED PRIVATE KEY", !block.text.contains("Proc-Type:") else {
            throw StartError(
                "The key \(key) is encrypted with a passphrase.",
                remedy: "Write it without one, for the service alone: `openssl pkey -in \(key) -out KEY`.")
        }
        let document = PEMDocument(type: block.label, derBytes: block.bytes)
        do { _ = try Certificate.PrivateKey(pemDocument: document) } catch { throw damaged("The key", key) }
        return (document.pemString, mode)
    }

    /// The certificates and the key as TLS wants them, once the key is known to be that of the first certificate.
    private func matched(
        _ certificates: String, _ key: String
    ) throws(StartError) -> NIOSSLContextConfigurationOverride {
        do {
            return try TimedCertificateReloader.makeReloaderValidatingSources(
                // It reads once: `TLSCertificates` knows when.
                refreshInterval: .seconds(1),
                certificateSource: .init(location: .memory { Array(certificates.utf8) }, format: .pem),
                privateKeySource: .init(location: .memory { Array(key.utf8) }, format: .pem)
            ).sslContextConfigurationOverride
        } catch let error as TimedCertificateReloader.Error where error == .publicKeyMismatch {
            throw StartError(
                "The key \(self.key) is not that of the certificate \(certificate).",
                remedy: "Name the two files of one pair, with the service's own certificate first in its file.")
        } catch { throw cannotServe("\(error)") }
    }

    private func damaged(_ what: String, _ path: String) -> StartError {
        StartError(
            "\(what) \(path) is damaged, or of a kind that TLS here does not know.",
            remedy: "Copy the file again; keys are RSA, ECDSA (P-256, P-384, P-521) or Ed25519.")
    }

    private func cannotServe(_ reason: String) -> StartError {
        StartError(
            "The certificate \(certificate) and the key \(key) cannot be served: \(reason).",
            remedy: "Check both with `openssl x509 -text -in \(certificate)` and `openssl pkey -check -in \(key)`.")
    }

    // MARK: - Text

    private func content(_ what: String, _ path: String) throws(StartError) -> (text: String, mode: mode_t) {
        let remedy = "Check the path, and that the service may read the file."
        // A pipe must not hold up the start.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let code = errno
        guard descriptor >= 0 else {
            throw StartError("\(what) \(path) cannot be read: \(String(cString: strerror(code))).", remedy: remedy)
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StartError("\(what) \(path) is not a file.", remedy: remedy)
        }
        guard let data = try? file.read(upToCount: Self.maxBytes + 1) ?? Data() else {
            throw StartError("\(what) \(path) cannot be read.", remedy: remedy)
        }
        if data.isEmpty { throw StartError("\(what) \(path) is empty.", remedy: "Copy the file again.") }
        if data.count > Self.maxBytes {
            throw StartError("\(what) \(path) is larger than 1 MiB.", remedy: "Name a PEM file.")
        }
        return (String(decoding: data, as: UTF8.self), status.st_mode)
    }

    /// A block of a PEM file.
    private struct Block {
        let label: String
        let text: String
        /// Empty if the text is no Base64.
        let bytes: [UInt8]
    }

    private static func blocks(_ text: String) -> [Block] {
        var blocks: [Block] = []
        var open: (label: String, lines: [String])?
        for line in text.split(whereSeparator: \.isNewline).map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----"), line.count > 16 {
                open = (String(line.dropFirst(11).dropLast(5)), [])
            } else if let (label, lines) = open, line == "-----END \(label)-----" {
                let data = Data(base64Encoded: lines.joined()) ?? Data()
                blocks.append(Block(label: label, text: lines.joined(separator: "\n"), bytes: Array(data)))
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        return blocks
    }
}
