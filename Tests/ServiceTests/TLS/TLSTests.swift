import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("HTTPS")
struct TLSTests {
    private let folder: TemporaryFolder
    private let authority: CertificateAuthority

    init() throws {
        folder = try TemporaryFolder.made(prefix: "profiled")
        authority = CertificateAuthority(folder: folder)
    }

    /// Asks `service` by `curl -s` with `arguments`, and trusts `pair`.
    private func curl(
        _ service: Service, _ path: String, trusting pair: CertificateAuthority.Pair, _ arguments: String...
    ) async throws -> (code: Int32?, output: String, errors: String) {
        try await run(
            program: URL(filePath: "/usr/bin/curl"),
            ["-sS", "--noproxy", "*", "--cacert", pair.certificate] + arguments
                + ["https://localhost:\(service.port)\(path)"], in: folder)
    }

    private func profilecli(
        _ arguments: String...
    ) async throws -> (code: Int32?, output: String, errors: String) {
        try await run(program: ChildProcess.built("profilecli"), arguments, in: folder)
    }

    private func metric(
        _ name: String, _ service: Service, trusting pair: CertificateAuthority.Pair
    ) async throws -> String? {
        let text = try await curl(service, "/metrics", trusting: pair).output
        return text.split(separator: "\n").first { $0.hasPrefix(name) }.flatMap { $0.split(separator: " ").last }
            .map(String.init)
    }

    // MARK: - Serving

    @Test("A service with a certificate answers over HTTPS, and its addresses begin with https")
    func serves() async throws {
        let pair = try authority.pair("a")
        let workspace = folder("workspace.yaml")
        try authority.write("segments:\n  - id: all\n    name: All\n    users: all\n", to: workspace)
        let service = try await Service(in: folder, arguments: pair.options + ["--workspace", workspace])
        let health = try await curl(service, "/health", trusting: pair)
        #expect(health.code == 0 && health.output.contains(#""status":"ok""#), "\(health)")
        let body = #"{"segment_id":"all","fields_to_export":["external_id"]}"#
        let export = try await curl(service, "/users/export/segment", trusting: pair, "-d", body)
        // By the address that curl has reached.
        let url = "https://127.0.0.1:\(service.port)/"
        #expect(export.output.contains("\"url\":\"\(url)exports/"), "\(export)")
        #expect(try authority.text(folder("stdout")).contains(url))
        #expect(try await service.stop() == 0)
    }

    @Test("A client has to speak TLS 1.2 at least", arguments: [("1.1", false), ("1.2", true), ("1.3", true)])
    func versions(version: String, isEnough: Bool) async throws {
        let pair = try authority.pair("a")
        let service = try await Service(in: folder, arguments: pair.options)
        let answer = try await curl(
            service, "/health", trusting: pair, "--tlsv1.0", "--tls-max", version, "--ciphers", "DEFAULT@SECLEVEL=0")
        #expect((answer.code == 0) == isEnough, "\(answer)")
        // The service refuses it, not the client.
        if !isEnough { #expect(answer.errors.contains("alert"), "\(answer)") }
        #expect(try await service.stop() == 0)
    }

    @Test("With TLS a page that came without it may not write")
    func origins() async throws {
        let pair = try authority.pair("a")
        let service = try await Service(in: folder, arguments: pair.options)
        for (scheme, isOwn) in [("http", false), ("https", true)] {
            let answer = try await curl(
                service, "/v1/log/event", trusting: pair, "-H", "Origin: \(scheme)://localhost:\(service.port)", "-d",
                #"{"user":"u","name":"x"}"#)
            #expect(answer.output.contains("foreign_origin") != isOwn, "\(answer)")
        }
        #expect(try await service.stop() == 0)
    }

    @Test("With --tls-client-ca only clients with a certificate of that authority are answered")
    func clients() async throws {
        let pair = try authority.pair("a")
        let clientCA = try authority.pair("clients")
        let (known, foreign) = (try authority.signed("app", by: clientCA), try authority.signed("other", by: pair))
        let service = try await Service(
            in: folder, arguments: pair.options + ["--tls-client-ca", clientCA.certificate])
        let own = try await curl(
            service, "/health", trusting: pair, "--cert", known.certificate, "--key", known.key)
        #expect(own.output.contains(#""status":"ok""#), "\(own)")
        let other = try await curl(
            service, "/health", trusting: pair, "--cert", foreign.certificate, "--key", foreign.key)
        #expect(other.code != 0 && other.output.isEmpty, "\(other)")
        let none = try await curl(service, "/health", trusting: pair)
        #expect(none.code != 0 && none.output.isEmpty, "\(none)")
        let cli = try await profilecli(
            "stats", "--url", "https://localhost:\(service.port)", "--ca", pair.certificate)
        #expect(cli.code == 1 && cli.errors.contains("takes only clients with a certificate"), "\(cli)")
        #expect(cli.errors.contains("--certificate FILE and --certificate-key FILE"), "\(cli)")
        #expect(try await service.stop() == 0)
    }

    @Test("profilecli shows the certificate of an option, of the environment, or of one file with its key")
    func ownCertificate() async throws {
        let (pair, clientCA) = (try authority.pair("a"), try authority.pair("clients"))
        let known = try authority.signed("app", by: clientCA)
        let service = try await Service(
            in: folder, arguments: pair.options + ["--tls-client-ca", clientCA.certificate])
        let place = ["--url", "https://localhost:\(service.port)", "--ca", pair.certificate]
        let own = ["--certificate", known.certificate, "--certificate-key", known.key]
        let program = ChildProcess.built("profilecli")
        for arguments in [["log", "event", "jane", "played"] + place + own, place + own + ["stats"]] {
            let outcome = try await run(program: program, arguments, in: folder)
            #expect(outcome.code == 0, "\(outcome)")
        }
        // Each connection of the doctor needs it.
        let doctor = try await run(program: program, ["doctor"] + place + own, in: folder)
        #expect(!doctor.output.isEmpty && !doctor.errors.contains("takes only clients"), "\(doctor)")
        let variables = ["PROFILELOG_CERTIFICATE=\(known.certificate)", "PROFILELOG_CERTIFICATE_KEY=\(known.key)"]
        let byVariables = try await run(
            program: URL(filePath: "/usr/bin/env"), variables + [program.path, "stats"] + place, in: folder)
        #expect(byVariables.code == 0, "\(byVariables)")
        let both = folder("both.pem")
        try authority.write(authority.text(known.certificate) + authority.text(known.key), to: both)
        let byOne = try await run(program: program, ["stats"] + place + ["--certificate", both], in: folder)
        #expect(byOne.code == 0, "\(byOne)")
        // What is suggested next can be typed as it is.
        let nobody = try await run(program: program, ["profile", "nobody"] + place + own, in: folder)
        #expect(nobody.errors.contains(own.joined(separator: " ")), "\(nobody)")
        #expect(try await service.stop() == 0)
    }

    @Test("A client certificate that cannot be used gives profilecli one sentence and the next step")
    func badOwnCertificate() async throws {
        let (pair, clientCA) = (try authority.pair("a"), try authority.pair("clients"))
        let known = try authority.signed("app", by: clientCA)
        let foreign = try authority.signed("other", by: pair)
        let (none, noise, locked) = (folder("none.pem"), folder("noise.pem"), folder("locked.pem"))
        try authority.write("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n", to: noise)
        try authority.openssl(["pkey", "-in", known.key, "-aes256", "-passout", "pass:x", "-out", locked])
        let service = try await Service(
            in: folder, arguments: pair.options + ["--tls-client-ca", clientCA.certificate])
        let cases: [(certificate: String, key: String?, code: Int32, words: String)] = [
            (none, known.key, 64, "The file \(none) cannot be read: No such file"),
            (known.certificate, none, 64, "The file \(none) cannot be read: No such file"),
            (folder.path, known.key, 64, "cannot be read: Is a directory"),
            (known.key, known.key, 64, "The file \(known.key) holds no certificate"),
            (known.certificate, known.certificate, 64, "The file \(known.certificate) holds no private key"),
            (known.certificate, nil, 64, "The file \(known.certificate) holds no private key"),
            (known.certificate, locked, 64, "is encrypted with a passphrase"),
            (known.certificate, foreign.key, 64, "The key in \(foreign.key) is not that of the certificate in"),
            (noise, known.key, 64, "The certificate in \(noise) is damaged"),
            (foreign.certificate, foreign.key, 1, "does not take the certificate in \(foreign.certificate)"),
        ]
        for (certificate, key, code, words) in cases {
            let options = ["--certificate", certificate] + (key.map { ["--certificate-key", $0] } ?? [])
            let outcome = try await run(
                program: ChildProcess.built("profilecli"),
                ["stats", "--url", "https://localhost:\(service.port)", "--ca", pair.certificate] + options,
                in: folder)
            #expect(outcome.code == code && outcome.errors.contains(words), "\(outcome)")
            // The reason, and the next step.
            #expect(outcome.errors.split(separator: "\n").count == 2, "\(outcome.errors)")
        }
        #expect(try await service.stop() == 0)
    }

    @Test("A client certificate that names a key has its permissions, until the key is revoked")
    func certificateAsKey() async throws {
        let (pair, clientCA) = (try authority.pair("a"), try authority.pair("clients"))
        let (known, unknown) = (try authority.signed("app", by: clientCA), try authority.signed("x", by: clientCA))
        let added = try await run(
            ["keys", "add", "--name", "app", "--permissions", "v1.read", "--store", folder("store")], in: folder)
        #expect(added.code == 0, "\(added)")
        let key = added.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let service = try await Service(
            in: folder,
            arguments: pair.options + ["--tls-client-ca", clientCA.certificate, "--tls-client-auth", "optional"])
        func status(_ path: String, _ client: CertificateAuthority.Pair?, _ more: String...) async throws -> String {
            let certificate = client.map { ["--cert", $0.certificate, "--key", $0.key] } ?? []
            return try await run(
                program: URL(filePath: "/usr/bin/curl"),
                ["-sS", "--noproxy", "*", "--cacert", pair.certificate, "-o", "/dev/null", "-w", "%{http_code}"]
                    + certificate + more + ["https://localhost:\(service.port)\(path)"], in: folder
            ).output
        }
        let body = #"{"user":"u","name":"x"}"#
        #expect(try await status("/v1/users", known) == "200")
        #expect(try await status("/v1/key", known) == "200")
        #expect(try await status("/v1/log/event", known, "-d", body) == "403")
        #expect(try await status("/metrics", known) == "403")
        #expect(try await status("/v1/users", unknown) == "401")
        #expect(try await status("/v1/users", nil) == "401")
        #expect(try await status("/v1/users", nil, "-H", "Authorization: Bearer \(key)") == "200")
        // A forwarded request comes with the certificate of the node that had it first.
        #expect(try await status("/v1/users", known, "-H", "X-ProfileLog-Forwarded: a") == "401")
        // A key that is sent counts, also a wrong one.
        #expect(try await status("/v1/users", known, "-H", "Authorization: Bearer \(key)0") == "401")
        let revoked = try await run(["keys", "revoke", "app", "--store", folder("store")], in: folder)
        #expect(revoked.code == 0, "\(revoked)")
        #expect(try await status("/v1/users", known) == "401")
        #expect(try await service.stop() == 0)
    }

    // MARK: - The wrong protocol

    @Test("A request without TLS is told that the port speaks HTTPS, and the log says so once a minute")
    func plainToTLS() async throws {
        let pair = try authority.pair("a")
        let service = try await Service(in: folder, arguments: pair.options)
        for _ in 0..<3 {
            let connection = try RawConnection(service)
            connection.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try #require(connection.readToEnd())
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            #expect(answer.contains("https_only") && answer.contains("speaks HTTPS"), "\(answer)")
        }
        let cli = try await profilecli("stats", "--url", "http://localhost:\(service.port)")
        #expect(cli.code == 1 && cli.errors.contains("speaks HTTPS"), "\(cli)")
        #expect(service.messages.components(separatedBy: "spoke HTTP without TLS").count == 2, "\(service.messages)")
        // A client that speaks it is answered.
        #expect(try await curl(service, "/health", trusting: pair).code == 0)
        #expect(try await service.stop() == 0)
    }

    @Test("A client that speaks TLS to a plain port gets an alert, and the log says so once a minute")
    func tlsToPlain() async throws {
        let pair = try authority.pair("a")
        try await withService { service in
            for _ in 0..<3 {
                let answer = try await curl(service, "/health", trusting: pair)
                #expect(answer.code == 35 && answer.errors.contains("alert"), "\(answer)")
            }
            let cli = try await profilecli("stats", "--url", "https://localhost:\(service.port)")
            #expect(cli.code == 1 && cli.errors.contains("does not speak TLS"), "\(cli)")
            #expect(service.messages.components(separatedBy: "spoke TLS").count == 2, "\(service.messages)")
            #expect(try await service.get("/health").status == 200)
        }
    }

    // MARK: - Handshakes

    @Test(
        "Connections that stop in their handshake give way, and others are answered",
        arguments: ["", "\u{16}", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}"])
    func stalled(text: String) async throws {
        let pair = try authority.pair("a")
        let service = try await Service(in: folder, arguments: pair.options + ["--max-connections", "8"])
        var silent: [RawConnection] = []
        for _ in 0..<40 {
            silent.append(try RawConnection(service))
            silent.last?.send(text)
        }
        let answer = try await curl(service, "/health", trusting: pair)
        #expect(answer.output.contains(#""status":"ok""#), "\(answer)")
        #expect(silent.prefix(20).contains { $0.readToEnd() != nil })
        let cut = try await metric("profilelog_tls_handshakes_cut_total", service, trusting: pair)
        #expect((cut.flatMap { Int($0) } ?? 0) >= 10, "\(cut ?? "")")
        withExtendedLifetime(silent) {}
        #expect(try await service.stop() == 0)
    }

    @Test("A handshake that takes too long ends the connection")
    func slowHandshake() async throws {
        let pair = try authority.pair("a")
        let service = try await Service(in: folder, arguments: pair.options + ["--idle-timeout", "600"])
        let connection = try RawConnection(service)
        connection.send("\u{16}\u{3}")
        #expect(connection.readToEnd() != nil)
        #expect(try await service.stop() == 0)
    }

    // MARK: - Reloading

    @Test("A new certificate is served when its files change, and log and metrics name it")
    func reload() async throws {
        let (old, new) = (try authority.pair("old"), try authority.pair("new", days: 90))
        let served = try authority.pair("served")
        try authority.replace(served, by: old)
        let service = try await Service(in: folder, arguments: served.options)
        #expect(try await curl(service, "/health", trusting: old).code == 0)
        #expect(try await curl(service, "/health", trusting: new).code == 60)
        try authority.replace(served, by: new)
        try await waitUntil(turns: 3_000) { service.messages.contains("TLS certificate, read again") }
        #expect(try await curl(service, "/health", trusting: new).code == 0)
        #expect(try await curl(service, "/health", trusting: old).code == 60)
        let serial = try authority.serial(new)
        #expect(service.messages.contains("serial=\(serial)"), "\(service.messages)")
        #expect(service.messages.contains("localhost, 127.0.0.1"), "\(service.messages)")
        let text = try await curl(service, "/metrics", trusting: new).output
        #expect(text.contains("profilelog_tls_certificate_info{serial=\"\(serial)\",names=\"localhost,127.0.0.1\"} 1"))
        let end = try await metric("profilelog_tls_certificate_not_after_timestamp_seconds", service, trusting: new)
        let days = (Double(end ?? "") ?? 0) / 86_400 - Date().timeIntervalSince1970 / 86_400
        #expect(days > 88 && days < 91, "\(end ?? "")")
        #expect(try await metric("profilelog_tls_reloads_total", service, trusting: new) == "1")
        #expect(try await service.stop() == 0)
    }

    @Test("SIGHUP reads the files at once, the client CA too")
    func hangUp() async throws {
        let pair = try authority.pair("a")
        let (before, after) = (try authority.pair("before"), try authority.pair("after"))
        let client = try authority.signed("app", by: after)
        let clientCA = folder("ca.pem")
        try authority.write(authority.text(before.certificate), to: clientCA)
        let service = try await Service(in: folder, arguments: pair.options + ["--tls-client-ca", clientCA])
        func ask() async throws -> Int32? {
            try await curl(
                service, "/health", trusting: pair, "--cert", client.certificate, "--key", client.key
            ).code
        }
        #expect(try await ask() != 0)
        try authority.write(authority.text(after.certificate), to: clientCA)
        service.signal(SIGHUP)
        try await waitUntil(turns: 3_000) { service.messages.contains("TLS certificate, read again") }
        #expect(try await ask() == 0)
        #expect(try await service.stop() == 0)
    }

    @Test("Files that cannot be used leave the old certificate, with a warning and a count each time")
    func badReload() async throws {
        let (old, other, served) = (
            try authority.pair("old"), try authority.pair("other"), try authority.pair("served")
        )
        let ended = try authority.ended("ended")
        try authority.replace(served, by: old)
        let service = try await Service(in: folder, arguments: served.options)
        let damaged = try authority.text(old.certificate).replacing("MII", with: "AAA")
        let changes: [(what: String, change: () throws -> Void)] = [
            ("is not that of the certificate", { try authority.write(authority.text(other.key), to: served.key) }),
            ("is empty", { try authority.write("", to: served.key) }),
            ("holds no private key", { try authority.write("nonsense\n", to: served.key) }),
            ("The key \(served.key) cannot be read", { unlink(served.key) }),
            ("ended at", { try authority.replace(served, by: ended) }),
            ("is damaged", { try authority.write(damaged, to: served.certificate) }),
            ("The certificate \(served.certificate) cannot be read", { unlink(served.certificate) }),
        ]
        for (what, change) in changes {
            try change()
            service.signal(SIGHUP)
            func warning() -> Substring? {
                service.messages.split(separator: "\n").last { $0.contains("the old certificate is served on") }
            }
            try await waitUntil(turns: 3_000) { warning()?.contains(what) == true }
            #expect(warning()?.contains(what) == true, "\(what): \(warning() ?? "")")
            #expect(try await curl(service, "/health", trusting: old).code == 0, "\(what)")
        }
        let failures = try await metric("profilelog_tls_reload_failures_total", service, trusting: old)
        #expect((failures.flatMap { Int($0) } ?? 0) >= changes.count, "\(failures ?? "")")
        #expect(try await metric("profilelog_tls_reloads_total", service, trusting: old) == "0")
        try authority.replace(served, by: other)
        service.signal(SIGHUP)
        try await waitUntil(turns: 3_000) { service.messages.contains("TLS certificate, read again") }
        #expect(try await curl(service, "/health", trusting: other).code == 0)
        #expect(try await service.stop() == 0)
    }

    @Test(
        "A certificate that ends within a week makes /health degraded, with 200", arguments: [(3, true), (30, false)])
    func degraded(days: Int, isDegraded: Bool) async throws {
        let pair = try authority.pair("a", days: days)
        let service = try await Service(in: folder, arguments: pair.options)
        for path in ["/health", "/health/ready"] {
            let answer = try await curl(service, path, trusting: pair, "-w", " %{http_code}")
            #expect(answer.output.hasSuffix(" 200"), "\(answer)")
            #expect(answer.output.contains(#""status":"degraded""#) == isDegraded, "\(answer)")
            #expect(answer.output.contains("TLS certificate for localhost") == isDegraded, "\(answer)")
        }
        #expect(try await service.stop() == 0)
    }

    // MARK: - The start

    /// Expects that the service does not start with these files, and says why and what to do.
    private func expectRefusal(
        _ certificate: String, _ key: String, _ more: [String] = [], saying words: String,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let outcome = try await run(
            ["--ephemeral", "--port", "0", "--tls-certificate", certificate, "--tls-key", key] + more, in: folder)
        #expect(outcome.code == 1 && outcome.errors.contains(words), "\(outcome)", sourceLocation: location)
        // The reason, and the next step.
        #expect(outcome.errors.split(separator: "\n").count == 2, "\(outcome.errors)", sourceLocation: location)
    }

    @Test("Files that cannot be used stop the start with the reason and the next step")
    func refusals() async throws {
        let (pair, other, ended) = (try authority.pair("a"), try authority.pair("b"), try authority.ended("ended"))
        let (none, empty, noise) = (folder("none.pem"), folder("empty.pem"), folder("noise.pem"))
        try authority.write("", to: empty)
        try authority.write("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n", to: noise)
        let locked = folder("locked.pem")
        try authority.openssl(["pkey", "-in", pair.key, "-aes256", "-passout", "pass:x", "-out", locked])
        try await expectRefusal(none, pair.key, saying: "The certificate \(none) cannot be read: No such file")
        try await expectRefusal(pair.certificate, none, saying: "The key \(none) cannot be read: No such file")
        try await expectRefusal(folder.path, pair.key, saying: "is not a file")
        try await expectRefusal(empty, pair.key, saying: "The certificate \(empty) is empty")
        try await expectRefusal(pair.certificate, empty, saying: "The key \(empty) is empty")
        try await expectRefusal(noise, pair.key, saying: "The certificate \(noise) is damaged")
        try await expectRefusal(pair.key, pair.certificate, saying: "holds no certificate, but a private key")
        try await expectRefusal(pair.certificate, pair.certificate, saying: "holds no private key, but a certificate")
        try await expectRefusal(pair.certificate, other.key, saying: "is not that of the certificate")
        try await expectRefusal(pair.certificate, locked, saying: "is encrypted with a passphrase")
        try await expectRefusal(ended.certificate, ended.key, saying: "ended at")
        try await expectRefusal(
            pair.certificate, pair.key, ["--tls-client-ca", noise], saying: "The client CA \(noise) is damaged")
        try await expectRefusal(
            pair.certificate, pair.key, ["--tls-client-ca", ended.certificate], saying: "The client CA")
        // Root reads every file.
        if getuid() != 0 {
            chmod(other.key, 0)
            try await expectRefusal(other.certificate, other.key, saying: "cannot be read: Permission denied")
        }
    }

    @Test("Settings of TLS that lack each other stop the start, and config check tells them")
    func halves() async throws {
        let pair = try authority.pair("a")
        for arguments in [
            ["--tls-certificate", pair.certificate], ["--tls-key", pair.key], ["--tls-client-ca", pair.certificate],
            pair.options + ["--tls-client-auth", "optional"],
        ] {
            let start = try await run(["--ephemeral", "--port", "0"] + arguments, in: folder)
            #expect(start.code == 1 && start.errors.contains("is there without"), "\(start)")
            let check = try await run(["config", "check", "--config", "/dev/null"] + arguments, in: folder)
            #expect(check.code == 1 && check.errors.contains("is there without"), "\(check)")
        }
        let empty = try await run(["--ephemeral", "--tls-certificate", "", "--tls-key", pair.key], in: folder)
        #expect(empty.code == 64 && empty.errors.contains("--tls-certificate must not be empty"), "\(empty)")
        let missing = try await run(
            [
                "config", "check", "--config", "/dev/null", "--tls-certificate", folder("none.pem"), "--tls-key",
                pair.key,
            ],
            in: folder)
        #expect(missing.code == 1 && missing.errors.contains("none.pem cannot be read"), "\(missing)")
    }

    @Test("A key that every user can read is a warning", arguments: [(0o644, true), (0o640, false), (0o600, false)])
    func openKey(mode: Int, isWarned: Bool) async throws {
        let pair = try authority.pair("a")
        chmod(pair.key, mode_t(mode))
        let service = try await Service(in: folder, arguments: pair.options)
        #expect(service.messages.contains("can use the TLS key") == isWarned, "\(service.messages)")
        #expect(try await service.stop() == 0)
    }

    @Test("A host that other machines reach without TLS is a notice, unless clients come over https")
    func inTheClear() async throws {
        let pair = try authority.pair("a")
        let added = try await run(["keys", "add", "--name", "test", "--store", folder("store")], in: folder)
        #expect(added.code == 0, "\(added)")
        for (arguments, isNoted) in [
            ([], true), (["--base-url", "https://profiles.example"], false), (pair.options, false),
        ] {
            let service = try await Service(in: folder, arguments: ["--host", "0.0.0.0"] + arguments)
            #expect(service.messages.contains("travel in the clear") == isNoted, "\(service.messages)")
            #expect(try await service.stop() == 0)
        }
    }

    // MARK: - Commands

    @Test("A self-signed pair is served, and profilecli trusts it with --ca")
    func selfSigned() async throws {
        let command = ["tls", "self-signed", "--name", "localhost", "--name", "127.0.0.1", "--out", folder.path]
        let made = try await run(command, in: folder)
        #expect(made.code == 0, "\(made)")
        let pair = CertificateAuthority.Pair(
            certificate: folder("tls-certificate.pem"), key: folder("tls-key.pem"))
        var status = stat()
        #expect(stat(pair.key, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let again = try await run(command, in: folder)
        #expect(again.code == 1 && again.errors.contains("There is already a file"), "\(again)")
        let service = try await Service(in: folder, arguments: pair.options)
        #expect(!service.messages.contains("warning"), "\(service.messages)")
        #expect(try await curl(service, "/health", trusting: pair).code == 0)
        for host in ["localhost", "127.0.0.1"] {
            let url = "https://\(host):\(service.port)"
            let trusted = try await profilecli("log", "event", "jane", "played", "--url", url, "--ca", pair.certificate)
            #expect(trusted.code == 0, "\(trusted)")
            let unknown = try await profilecli("stats", "--url", url)
            #expect(unknown.code == 1 && unknown.errors.contains("not signed by an authority"), "\(unknown)")
            #expect(unknown.errors.contains("--ca FILE"), "\(unknown)")
        }
        let missing = try await profilecli(
            "stats", "--url", "https://localhost:\(service.port)", "--ca", folder("none.pem"))
        #expect(missing.code == 1 && missing.errors.contains("holds no certificates"), "\(missing)")
        let before = try await profilecli(
            "--ca", pair.certificate, "--url", "https://localhost:\(service.port)", "stats")
        #expect(before.code == 0, "\(before)")
        #expect(try await service.stop() == 0)
    }

    @Test("A certificate for another host is named as such by profilecli")
    func otherHost() async throws {
        let made = try await run(["tls", "self-signed", "--name", "profiles.example"], in: folder)
        #expect(made.code == 0, "\(made)")
        let pair = CertificateAuthority.Pair(
            certificate: folder("tls-certificate.pem"), key: folder("tls-key.pem"))
        let service = try await Service(in: folder, arguments: pair.options)
        let outcome = try await profilecli(
            "stats", "--url", "https://localhost:\(service.port)", "--ca", pair.certificate)
        #expect(outcome.code == 1 && outcome.errors.contains("is for other hosts than localhost"), "\(outcome)")
        #expect(try await service.stop() == 0)
    }

    @Test(
        "Names that no certificate can have are wrong arguments",
        arguments: ["", "a b", "https://x", "ü.example", "a..b"])
    func badNames(name: String) async throws {
        let outcome = try await run(["tls", "self-signed", "--name", name], in: folder)
        #expect(outcome.code == 64, "\(outcome)")
        #expect(!FileManager.default.fileExists(atPath: folder("tls-key.pem")))
    }
}
