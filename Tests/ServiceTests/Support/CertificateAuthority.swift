import Foundation
import TestSupport
import Testing

/// Makes certificates with `openssl`, in a folder.
struct CertificateAuthority {
    let folder: TemporaryFolder

    /// A certificate and its key, by their paths.
    struct Pair {
        let certificate: String
        let key: String
        var options: [String] { ["--tls-certificate", certificate, "--tls-key", key] }
    }

    /// The subject and the hosts of the certificates that are served.
    private static let server = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    /// A certificate for this machine that its own key has signed. `name` is that of its files.
    func pair(_ name: String, days: Int = 30) throws -> Pair {
        try pair(name, ["req", "-x509", "-days", "\(days)"] + Self.newKey + Self.server)
    }

    /// As ``pair(_:days:)``, with an end that has passed.
    func ended(_ name: String) throws -> Pair {
        let request = try pair("\(name)-request", ["req"] + Self.newKey + Self.server)
        let ended = Pair(certificate: folder("\(name).pem"), key: request.key)
        try openssl([
            "x509", "-req", "-in", request.certificate, "-signkey", request.key, "-days", "0", "-copy_extensions",
            "copy",
            "-out", ended.certificate,
        ])
        return ended
    }

    /// A client's certificate that `authority` has signed.
    func signed(_ name: String, by authority: Pair) throws -> Pair {
        try signed(name, by: authority, ["-subj", "/CN=\(name)", "-addext", "extendedKeyUsage=clientAuth"])
    }

    /// A certificate for this machine that `authority` has signed, for the purposes in `usage`.
    func server(_ name: String, by authority: Pair, usage: String = "serverAuth,clientAuth") throws -> Pair {
        try signed(name, by: authority, Self.server + ["-addext", "extendedKeyUsage=\(usage)"])
    }

    private func signed(_ name: String, by authority: Pair, _ arguments: [String]) throws -> Pair {
        let request = try pair("\(name)-request", ["req"] + Self.newKey + arguments)
        let signed = Pair(certificate: folder("\(name).pem"), key: request.key)
        try openssl([
            "x509", "-req", "-in", request.certificate, "-CA", authority.certificate, "-CAkey", authority.key,
            "-CAcreateserial", "-days", "30", "-copy_extensions", "copy", "-out", signed.certificate,
        ])
        return signed
    }

    /// Puts `pair` in place of the files of `other`, as a program does that renews certificates.
    func replace(_ other: Pair, by pair: Pair) throws {
        for (old, new) in [(other.certificate, pair.certificate), (other.key, pair.key)] {
            try Data(contentsOf: URL(filePath: new)).write(to: URL(filePath: old), options: .atomic)
            chmod(old, 0o600)
        }
    }

    func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    func text(_ path: String) throws -> String { try String(contentsOf: URL(filePath: path), encoding: .utf8) }

    /// The serial number, in hexadecimal digits.
    func serial(_ pair: Pair) throws -> String {
        let output = folder("serial")
        try openssl(["x509", "-serial", "-noout", "-in", pair.certificate, "-out", output])
        return try text(output).split(separator: "=").last.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
            ?? ""
    }

    func openssl(_ arguments: [String]) throws {
        let errors = folder("openssl-errors")
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/openssl"), arguments, in: folder.url, output: .nothing,
            errors: .file(URL(filePath: errors)))
        let code = process.waitForEnd()
        try #require(code == 0, "\(arguments): \((try? text(errors)) ?? "")")
    }

    private func pair(_ name: String, _ arguments: [String]) throws -> Pair {
        let pair = Pair(certificate: folder("\(name).pem"), key: folder("\(name)-key.pem"))
        try openssl(arguments + ["-keyout", pair.key, "-out", pair.certificate])
        chmod(pair.key, 0o600)
        return pair
    }
}

/// Runs another program to its end, without holding a thread.
func run(
    program: URL, _ arguments: [String], in folder: TemporaryFolder
) async throws -> (code: Int32?, output: String, errors: String) {
    let (output, errors) = (folder.file("\(UUID()).out"), folder.file("\(UUID()).err"))
    let process = try ChildProcess(
        program, arguments, in: folder.url, output: .file(output), errors: .file(errors))
    let code = try await Service.exitCode(of: process)
    return (
        code, String(decoding: try Data(contentsOf: output), as: UTF8.self),
        String(decoding: try Data(contentsOf: errors), as: UTF8.self)
    )
}
