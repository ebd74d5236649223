import Foundation
import TestSupport
import Testing

@Suite("The certificate that a node shows to other nodes")
struct NodeCertificateTests {
    private let folder: TemporaryFolder
    private let authority: CertificateAuthority
    /// The authority of clients. Its subject is that of every pair that signs itself: a name alone proves nothing.
    private let clients: CertificateAuthority.Pair

    init() throws {
        folder = try TemporaryFolder.made(prefix: "certificates")
        authority = CertificateAuthority(folder: folder)
        clients = try authority.pair("clients")
    }

    private var asks: [String] { ["--tls-client-ca", clients.certificate] }

    /// Arguments of a new node whose brokers are not there. It trusts `other`.
    private func node(
        _ own: CertificateAuthority.Pair, join port: Int, trusting other: CertificateAuthority.Pair, _ more: [String]
    ) -> [String] {
        [
            "--replicate", "nats://127.0.0.1:1", "--node", "b", "--node-url", "https://localhost:1", "--join",
            "https://localhost:\(port)", "--node-ca", other.certificate,
        ] + own.options + more
    }

    @Test("A node joins one that takes only clients with a certificate, and does not take a new one that others refuse")
    func joins() async throws {
        let (own, foreign) = (try authority.server("b", by: clients), try authority.pair("foreign"))
        let other = try await StoreCopyTests.member(try authority.server("a", by: clients).options + asks)
        let node = try await Service(
            in: TemporaryFolder.made(prefix: "joined"),
            arguments: node(own, join: other.port, trusting: clients, asks))
        #expect(node.messages.contains("joined: the store is a verified copy"), "\(node.messages)")
        try authority.replace(own, by: authority.server("new", by: clients))
        node.signal(SIGHUP)
        try await waitUntil(turns: 3_000) { node.messages.contains("TLS certificate, read again") }
        #expect(node.messages.contains("TLS certificate, read again"), "\(node.messages)")
        try authority.replace(own, by: foreign)
        node.signal(SIGHUP)
        try await waitUntil(turns: 3_000) { node.messages.contains("The other nodes would refuse the certificate") }
        #expect(node.messages.contains("no authority of --tls-client-ca has signed it"), "\(node.messages)")
        #expect(try await other.stop() == 0)
    }

    @Test("A node that knows no authority of clients shows nothing, and is told what to do where that is not enough")
    func showsNothing() async throws {
        let own = try authority.server("b", by: clients)
        let other = try await StoreCopyTests.member(try authority.server("a", by: clients).options + asks)
        let joined = try TemporaryFolder.made(prefix: "joined")
        let end = try await run(
            ["--store", joined("store"), "--port", "0"] + node(own, join: other.port, trusting: clients, []),
            in: joined)
        #expect(end.code == 1 && end.errors.contains("does not answer."), "\(end.errors)")
        #expect(end.errors.contains("--tls-client-ca here"), "\(end.errors)")
        #expect(!FileManager.default.fileExists(atPath: joined("store/data.mdb")))
        #expect(try await other.stop() == 0)
    }

    @Test("Where a certificate is optional, a node does not show one that would be refused")
    func optional() async throws {
        let (own, server) = (try authority.pair("foreign"), try authority.pair("a"))
        let optional = asks + ["--tls-client-auth", "optional"]
        let other = try await StoreCopyTests.member(server.options + optional)
        let node = try await Service(
            in: TemporaryFolder.made(prefix: "joined"),
            arguments: node(own, join: other.port, trusting: server, optional))
        #expect(node.messages.contains("joined: the store is a verified copy"), "\(node.messages)")
        #expect(try await other.stop() == 0)
    }

    @Test("A node that others would refuse does not start, and config check says why and what to do")
    func refused() async throws {
        let cases: [(pair: CertificateAuthority.Pair, words: String?)] = [
            (try authority.pair("foreign"), "no authority of --tls-client-ca has signed it."),
            (
                try authority.server("public", by: clients, usage: "serverAuth"),
                "its extended key usage has no client authentication."
            ),
            (try authority.server("good", by: clients), nil), (clients, nil),
        ]
        for (pair, words) in cases {
            let arguments = node(pair, join: 1, trusting: clients, asks) + ["--store", folder("store"), "--port", "0"]
            let check = try await run(["config", "check", "--config", "/dev/null"] + arguments, in: folder)
            #expect(check.code == (words == nil ? 0 : 1), "\(check)")
            guard let words else { continue }
            #expect(check.errors.contains(words) && check.errors.contains("--tls-client-auth optional"), "\(check)")
            let start = try await run(arguments, in: folder)
            #expect(start.code == 1 && start.errors.contains(words), "\(start)")
            // A service that is no node shows nothing to anybody.
            let alone = ["config", "check", "--config", "/dev/null", "--store", folder("store"), "--port", "0"]
            let service = try await run(alone + pair.options + asks, in: folder)
            #expect(service.code == 0, "\(service)")
        }
    }
}
