internal import Foundation
internal import ProfileLog
internal import SwiftASN1
internal import X509

/// The facts of a certificate that an operator wants to know.
struct ServedCertificate: Equatable, Sendable {
    /// In hexadecimal digits, as `openssl x509 -serial` prints it.
    let serial: String
    /// The hosts that it is for, or its subject if it names none. Of printable ASCII without quotes.
    let names: [String]
    let begin: Timestamp
    let end: Timestamp

    /// So long before its end a certificate is a concern: who renews by a program does so weeks before.
    private static let notice: Int64 = 7 * 86_400 * 1_000_000

    init(_ certificate: Certificate) {
        let digits = certificate.serialNumber.bytes.drop { $0 == 0 }.map { String(format: "%02X", $0) }
        serial = digits.isEmpty ? "00" : digits.joined()
        let hosts = (try? certificate.extensions.subjectAlternativeNames)?.compactMap(Self.host) ?? []
        names = (hosts.isEmpty ? ["\(certificate.subject)"] : hosts).map(Self.plain)
        begin = Self.timestamp(certificate.notValidBefore)
        end = Self.timestamp(certificate.notValidAfter)
    }

    /// The reason why the service is not quite healthy, and the next step; nil if the certificate is valid for longer
    /// than a week.
    func concern(at now: Timestamp = .now()) -> (error: String, remedy: String)? {
        guard now.rawValue >= end.rawValue - Self.notice else { return nil }
        let verb = now >= end ? "ended" : "ends"
        return (
            "The TLS certificate for \(names.joined(separator: ", ")) \(verb) at \(end.rfc3339()).",
            "Renew it and replace the files of --tls-certificate and --tls-key: the service reads them again."
        )
    }

    /// The names by which a client's certificate may name a key: its common name, then its hosts.
    static func clientNames(_ certificate: Certificate) -> [String] {
        let common = certificate.subject.flatMap { Array($0) }.filter { $0.type == .RDNAttributeType.commonName }
        let hosts = (try? certificate.extensions.subjectAlternativeNames)?.compactMap(Self.host) ?? []
        return common.compactMap { String($0.value) } + hosts
    }

    private static func timestamp(_ date: Date) -> Timestamp {
        Timestamp(rawValue: Int64(date.timeIntervalSince1970) * 1_000_000)
    }

    private static func host(_ name: GeneralName) -> String? {
        switch name {
        case .dnsName(let host): return host
        case .ipAddress(let address):
            let bytes = Array(address.bytes)
            let family = bytes.count == 4 ? AF_INET : AF_INET6
            guard [4, 16].contains(bytes.count) else { return nil }
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        default: return nil
        }
    }

    private static func plain(_ name: String) -> String {
        String(name.unicodeScalars.filter { (0x20...0x7E).contains($0.value) && !"\"\\".unicodeScalars.contains($0) })
    }
}
