internal import Crypto
internal import Foundation
internal import SwiftASN1
internal import X509

/// A certificate that its own key has signed, in PEM, with that key (ECDSA on P-256).
struct SelfSigned {
    let certificate: String
    let key: String

    /// A host that a certificate can name.
    enum Host: Equatable {
        case name(String)
        /// 4 or 16 bytes.
        case address([UInt8])

        init?(_ text: String) {
            var (four, sixteen) = (in_addr(), in6_addr())
            if inet_pton(AF_INET, text, &four) == 1 {
                self = .address(withUnsafeBytes(of: four) { Array($0) })
            } else if inet_pton(AF_INET6, text, &sixteen) == 1 {
                self = .address(withUnsafeBytes(of: sixteen) { Array($0) })
            } else {
                let labels = text.split(separator: ".", omittingEmptySubsequences: false)
                let isName =
                    text.utf8.count <= 253
                    && labels.enumerated().allSatisfy { index, label in
                        label == "*" && index == 0 && labels.count > 1
                            || (1...63).contains(label.utf8.count) && label.utf8.allSatisfy(Self.isPlain)
                    }
                guard isName else { return nil }
                self = .name(text.lowercased())
            }
        }

        private static func isPlain(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }

        fileprivate var general: GeneralName {
            switch self {
            case .name(let name): .dnsName(name)
            case .address(let bytes): .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
            }
        }
    }

    /// Valid from a minute ago, as clocks differ.
    init(_ hosts: [Host], days: Int, now: Date = Date()) throws {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        // Longer names are not allowed there (RFC 5280, ub-common-name); clients read the list of hosts.
        let common = hosts.compactMap { host -> String? in
            guard case .name(let name) = host, name.utf8.count <= 64 else { return nil }
            return name
        }
        let name = common.first ?? "profiled"
        let subject = try DistinguishedName { CommonName(name) }
        let extensions = try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([.serverAuth])
            SubjectAlternativeNames(hosts.map(\.general))
        }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
            notValidBefore: now.addingTimeInterval(-60), notValidAfter: now.addingTimeInterval(Double(days) * 86_400),
            issuer: subject, subject: subject, extensions: extensions, issuerPrivateKey: key)
        self.certificate = try certificate.serializeAsPEM().pemString + "\n"
        self.key = try key.serializeAsPEM().pemString + "\n"
    }
}
