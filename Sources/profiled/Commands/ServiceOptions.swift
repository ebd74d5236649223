internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ProfileLog
internal import ProfileLogRequests

struct ServiceOptions: ParsableArguments, Sendable {
    @Option(help: "The TCP port; 0 takes any that is free.") var port = 8080
    @Option(help: "The address to listen on; one that other machines can reach needs keys.") var host = "127.0.0.1"

    @Option(help: ArgumentHelp("A file to write the port into when the service is ready.", valueName: "file"))
    var portFile: String?

    @Option(
        name: .customLong("base-url"),
        help: ArgumentHelp(
            "The URL by which clients reach the service, for links in answers; without it links are relative.",
            valueName: "url"))
    var baseURL: BaseURL?

    @Flag(
        name: .customLong("ephemeral"),
        help: "Serve a store for tests, in a temporary folder that is removed at the end; /v1/reset and /v1/clock work."
    )
    var isEphemeral = false

    @Option(help: ArgumentHelp("JSON Lines to store at the start, as for profilecli import.", valueName: "file"))
    var fixtures: String?

    @Option(
        help: ArgumentHelp(
            "Serve the console from this folder, for work on its files, instead of those in the program.",
            valueName: "folder"))
    var console: String?

    @Option(help: ArgumentHelp("The setup of a Braze workspace, in YAML: docs/workspace.md.", valueName: "file"))
    var workspace: String?

    @Option(
        name: .customLong("rate-limit"),
        help: ArgumentHelp(
            "A limit for /users/track, or with PATH= or PATH,PATH= before it for these paths together; repeatable.",
            valueName: "requests/seconds"))
    var rateLimits: [RateLimit] = []

    @Option(help: ArgumentHelp("Connections open at once; idle ones give way to new ones.", valueName: "count"))
    var maxConnections = 1024

    @Option(help: ArgumentHelp("Connections of one client address.", valueName: "count"))
    var maxConnectionsPerAddress = 512

    @Option(help: ArgumentHelp("Readers of /v1/events open at once.", valueName: "count")) var maxStreams = 64

    @Option(
        name: .customLong("heartbeat"),
        help: ArgumentHelp("How often a silent stream of events sends a comment.", valueName: "seconds"))
    var heartbeatSeconds = 15

    @Option(
        name: .customLong("body-timeout"),
        help: ArgumentHelp("How long a request may take to arrive.", valueName: "seconds"))
    var bodyTimeoutSeconds = 30

    @Option(
        name: .customLong("body-memory"),
        help: ArgumentHelp("Memory for all bodies that are being read.", valueName: "mebibytes"))
    var bodyMemoryMebibytes = 256

    @Option(
        name: .customLong("idle-timeout"),
        help: ArgumentHelp(
            "How long a connection may be silent between requests, or within one.", valueName: "seconds"))
    var idleTimeoutSeconds = 60

    @Option(
        name: .customLong("read-timeout"),
        help: ArgumentHelp("How long the answer to a read may take; then it is 503.", valueName: "seconds"))
    var readTimeoutSeconds = 60

    @Option(
        name: .customLong("slow-request"),
        help: ArgumentHelp(
            "Log a request that takes at least so long, with its phases; 0 logs none.", valueName: "milliseconds"))
    var slowRequestMilliseconds = 1_000

    @Option(help: "trace, debug, info (each request), notice, warning, error or critical.") var logLevel = "notice"
    @Option(help: "text or json.") var logFormat = LogFormat.text

    enum LogFormat: String, ExpressibleByArgument, Sendable { case text, json }

    /// `http://…` or `https://…`, without a slash at its end.
    struct BaseURL: ExpressibleByArgument, Sendable {
        let text: String

        init?(argument: String) {
            let text = argument.hasSuffix("/") ? String(argument.dropLast()) : argument
            guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host()?.isEmpty == false,
                url.query() == nil, url.fragment() == nil, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { return nil }
            self.text = text
        }

        /// As browsers send it: without a path and the port of its scheme, in small letters.
        var origin: String {
            let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false).prefix(3)
            let usual = parts[0] == "https:" ? ":443" : ":80"
            let origin = parts.joined(separator: "/")
            return origin.hasSuffix(usual) ? String(origin.dropLast(usual.count)) : origin
        }
    }

    /// How long a request takes that is logged as slow; nil for none.
    var slowRequest: Duration? {
        slowRequestMilliseconds == 0 ? nil : .milliseconds(slowRequestMilliseconds)
    }

    var level: Logger.Level { Logger.Level(rawValue: logLevel) ?? .notice }

    /// Tells whether only this machine can reach the address. A name like `127.example.com` is no such address.
    var isLoopback: Bool {
        if host == "localhost" { return true }
        var address = in_addr()
        if inet_pton(AF_INET, host, &address) == 1 { return UInt32(bigEndian: address.s_addr) >> 24 == 127 }
        var address6 = in6_addr()
        guard inet_pton(AF_INET6, host, &address6) == 1 else { return false }
        return withUnsafeBytes(of: &address6) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535.") }
        guard Logger.Level(rawValue: logLevel) != nil else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--log-level must be one of \(levels).")
        }
        if host.isEmpty { throw ValidationError("--host must not be empty.") }
        for (name, number) in [
            ("max-connections", maxConnections), ("max-connections-per-address", maxConnectionsPerAddress),
            ("max-streams", maxStreams), ("heartbeat", heartbeatSeconds), ("body-timeout", bodyTimeoutSeconds),
            ("body-memory", bodyMemoryMebibytes), ("idle-timeout", idleTimeoutSeconds),
            ("read-timeout", readTimeoutSeconds),
        ] where !(1...86_400).contains(number) {
            throw ValidationError("--\(name) must be from 1 to 86400.")
        }
        guard (0...86_400_000).contains(slowRequestMilliseconds) else {
            throw ValidationError("--slow-request must be from 0 to 86400000.")
        }
        for path in rateLimits.flatMap(\.paths) where !API.table.endpoints.contains(where: { $0.path == path }) {
            throw ValidationError("--rate-limit names \(path), which is not an endpoint; GET / lists them.")
        }
    }
}

struct StoreOptions: ParsableArguments {
    @Option(help: "The folder of the store. (default: $PROFILELOG_STORE, or ./profilelog)") var store: String?

    @Option(help: ArgumentHelp("The file of the keys. (default: keys.json in the store's folder)", valueName: "file"))
    var keys: String?

    var path: String {
        if let store { return store }
        let inEnvironment = ProcessInfo.processInfo.environment["PROFILELOG_STORE"] ?? ""
        return inEnvironment.isEmpty ? "./profilelog" : inEnvironment
    }

    var keyFile: KeyFile { KeyFile(path: keys ?? path + "/keys.json") }

    /// The keys; nil if the store has no file of keys. Throws if `--keys` names no file, or the store is not a folder.
    func presentKeys() throws -> [StoredKey]? {
        var isFolder: ObjCBool = true
        if keys == nil, FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue {
            throw StorageError.unreachable(path: path, code: ENOTDIR)
        }
        if let present = try keyFile.read() { return present }
        guard let keys else { return nil }
        throw StartError(
            "There is no file of keys \(keys).",
            remedy: "Check --keys; `profiled keys add` makes the file, with its first key.")
    }

    /// As ``presentKeys()``. Throws also if there is no store.
    func knownKeys() throws -> [StoredKey]? {
        if let present = try presentKeys() { return present }
        let folder = try StoreFolder(path: path)
        if folder == .store { return nil }
        if folder == .foreign { throw StorageError.notAStore(path: path) }
        throw StartError(
            StorageError.noStore(path: path).description,
            remedy: "Check --store or PROFILELOG_STORE; `profiled keys add` makes a store, with its first key.")
    }

    func validate() throws {
        if store?.isEmpty == true { throw ValidationError("--store must not be empty.") }
        if keys?.isEmpty == true { throw ValidationError("--keys must not be empty.") }
    }
}
