internal import ArgumentParser
internal import Foundation

struct TLSCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tls", abstract: "Make a certificate for tests.", subcommands: [TLSSelfSigned.self])
}

struct TLSSelfSigned: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "self-signed",
        abstract: "Make a certificate that is its own authority, and its key.",
        discussion: """
            Writes tls-certificate.pem and tls-key.pem, the key for its owner alone. A client has to be told to trust \
            the certificate. For everyone else take one from an authority that they trust already.

            EXAMPLES
              profiled tls self-signed --name localhost --name 127.0.0.1
              profiled --tls-certificate tls-certificate.pem --tls-key tls-key.pem
              profilecli stats --url https://localhost:8080 --ca tls-certificate.pem
            """)

    @Option(name: .customLong("name"), help: "A host name or an address that clients ask for; repeatable.")
    var names: [String]

    @Option(
        name: .customLong("out"), help: ArgumentHelp("Where to write them, here unless given.", valueName: "folder"))
    var folder = "."

    @Option(help: "How long it is valid.") var days = 365

    func validate() throws {
        if names.isEmpty { throw ValidationError("--name must name at least one host.") }
        for name in names where SelfSigned.Host(name) == nil {
            throw ValidationError(
                "\(name) is neither a host name nor an address; names with other letters are written as xn--….")
        }
        if folder.isEmpty { throw ValidationError("--out must not be empty.") }
        if !(1...3650).contains(days) { throw ValidationError("--days must be from 1 to 3650.") }
    }

    func run() throws {
        try KeysCommand.reporting {
            let pair = try SelfSigned(names.compactMap { SelfSigned.Host($0) }, days: days)
            let (certificate, key) = ("\(folder)/tls-certificate.pem", "\(folder)/tls-key.pem")
            if access(certificate, F_OK) == 0 { throw Self.exists(certificate) }
            // The key first: if there is one, the certificate is not written either.
            try write(pair.key, to: key, mode: 0o600)
            try write(pair.certificate, to: certificate, mode: 0o644)
            try Console.print(certificate, key)
            Console.note(
                "Serve them with `profiled --tls-certificate \(certificate) --tls-key \(key)`; clients trust them with "
                    + "`--ca \(certificate)` (profilecli) or `--cacert \(certificate)` (curl).")
        }
    }

    private func write(_ text: String, to path: String, mode: mode_t) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        let code = errno
        guard descriptor >= 0 else {
            if code == EEXIST { throw Self.exists(path) }
            throw StartError(
                "\(path) cannot be written: \(String(cString: strerror(code))).",
                remedy: "Name a folder that exists and that you may write in, with --out.")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do { try file.write(contentsOf: Data(text.utf8)) } catch {
            unlink(path)
            throw StartError("\(path) cannot be written.", remedy: "Check the disk.")
        }
    }

    private static func exists(_ path: String) -> StartError {
        StartError(
            "There is already a file \(path).", remedy: "Name another folder with --out, or remove the old pair.")
    }
}
