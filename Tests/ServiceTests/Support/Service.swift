import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The built `profiled` as a process, on a store and a port of its own.
final class Service: @unchecked Sendable {
    let folder: URL
    let port: Int
    private let process: ChildProcess
    /// Checks the store when the process has ended.
    private let keeper: TemporaryFolder?
    private let session: URLSession

    var store: String { folder.appendingPathComponent("store").path }

    /// The messages of the process on standard error.
    var messages: String { (try? String(contentsOf: folder.appendingPathComponent("stderr"), encoding: .utf8)) ?? "" }

    /// Starts the service on the store in `folder`, and returns when it listens.
    convenience init(
        in folder: TemporaryFolder, arguments: [String] = [], environment: [String: String] = [:]
    ) async throws {
        try await self.init(in: folder.url, keptBy: folder, arguments: arguments, environment: environment)
    }

    /// As ``init(in:arguments:environment:)``, in any folder.
    init(
        in folder: URL, keptBy keeper: TemporaryFolder? = nil, arguments: [String] = [],
        environment: [String: String] = [:]
    ) async throws {
        self.folder = folder
        self.keeper = keeper
        let portFile = folder.appendingPathComponent("port")
        // A killed service leaves it.
        try? FileManager.default.removeItem(at: portFile)
        // The demo is a command of its own, whose store is temporary too.
        let command = arguments.first == "demo" ? ["demo"] : []
        let hasStore = command.isEmpty && !arguments.contains("--ephemeral")
        let store = hasStore ? ["--store", folder.appendingPathComponent("store").path] : []
        process = try Self.launch(
            command + store + ["--port", "0", "--port-file", portFile.path] + arguments.dropFirst(command.count),
            in: folder, environment: environment)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 64
        session = URLSession(configuration: configuration)
        var found: Int?
        for _ in 0..<5000 where found == nil {
            try await Task.sleep(for: .milliseconds(20))
            if process.end != nil { break }
            found = (try? String(contentsOf: portFile, encoding: .utf8)).flatMap { Int($0.dropLast()) }
        }
        port = try #require(found, "profiled does not start")
    }

    deinit {
        process.signal(SIGKILL)
        process.waitForEnd()
        try? FileManager.default.removeItem(at: folder.appendingPathComponent("port"))
    }

    /// Starts the program with other arguments; standard error goes to the file `stderr`.
    static func launch(
        _ arguments: [String], in folder: URL, environment: [String: String] = [:]
    ) throws -> ChildProcess {
        try ChildProcess(
            ChildProcess.built("profiled"), arguments, in: folder,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            output: .file(folder.appendingPathComponent("stdout")),
            errors: .file(folder.appendingPathComponent("stderr")))
    }

    /// Waits for the end of a process without holding a thread; its exit code, or nil if it does not end.
    static func exitCode(of process: ChildProcess, within limit: Duration = .seconds(120)) async throws -> Int32? {
        let deadline = ContinuousClock.now + limit
        while true {
            if let end = process.end { return end }
            if ContinuousClock.now > deadline {
                process.signal(SIGKILL)
                return nil
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Returns the milliseconds that the service took for its first request for `path`, as its own log tells: it runs
    /// at the level `info`.
    func milliseconds(of path: String) throws -> Double {
        let line = try #require(messages.split(separator: "\n").first { $0.contains("path=\(path) ") })
        let field = line.split(separator: " ").first { $0.hasPrefix("ms=") }
        return try #require(field.flatMap { Double($0.dropFirst(3)) })
    }

    /// The end of the process; nil while it runs.
    var end: Int32? { process.end }

    /// Sends a signal.
    func signal(_ signal: Int32) { process.signal(signal) }

    /// Stops the service as an operator would, and tells its exit code.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM) async throws -> Int32? {
        self.signal(signal)
        return try await Self.exitCode(of: process)
    }

    // MARK: - Requests

    /// An answer as it came.
    struct Reply: Sendable {
        var status: Int
        var body: [UInt8]
        var headers: [String: String]
        var json: AttributeValue { (try? JSON.parse(body)) ?? .null }
    }

    func send(
        _ method: String, _ path: String, body: [UInt8]? = nil, headers: [String: String] = [:]
    ) async throws -> Reply {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        var request = URLRequest(url: url, timeoutInterval: 60)
        request.httpMethod = method
        request.httpBody = body.map { Data($0) }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await session.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        var fields: [String: String] = [:]
        for (name, value) in http.allHeaderFields { fields["\(name)".lowercased()] = "\(value)" }
        return Reply(status: http.statusCode, body: Array(data), headers: fields)
    }

    func get(_ path: String, headers: [String: String] = [:]) async throws -> Reply {
        try await send("GET", path, headers: headers)
    }

    func post(_ path: String, _ body: String, headers: [String: String] = [:]) async throws -> Reply {
        try await send("POST", path, body: Array(body.utf8), headers: headers)
    }
}

/// Runs `body` against a fresh service, then stops it.
func withService(
    arguments: [String] = [], _ body: (Service) async throws -> Void
) async throws {
    let service = try await Service(in: TemporaryFolder.made(prefix: "profiled"), arguments: arguments)
    try await body(service)
    #expect(try await service.stop() == 0)
}

/// Waits until `condition` holds, for `turns` times 20 ms at most. (A loop `for … where` would go on to ask.)
func waitUntil(turns: Int = 500, _ condition: () async throws -> Bool) async throws {
    for _ in 0..<turns {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(20))
    }
}

/// Runs the program with `arguments` in `folder` to its end.
func run(
    _ arguments: [String], in folder: TemporaryFolder, environment: [String: String] = [:]
) async throws -> (code: Int32?, output: String, errors: String) {
    let process = try Service.launch(arguments, in: folder.url, environment: environment)
    let code = try await Service.exitCode(of: process)
    func text(_ name: String) throws -> String {
        try String(contentsOf: folder.file(name), encoding: .utf8)
    }
    return (code, try text("stdout"), try text("stderr"))
}

/// Runs `body` with the API on a fresh store in this process.
func withAPI(_ options: LogOptions = LogOptions(), _ body: (API) async throws -> Void) async throws {
    await Gate.stores.enter()
    defer { Gate.stores.leave() }
    let folder = TemporaryFolder(prefix: "api")
    try await body(API(log: folder.open(options: options)))
}
