import Foundation
import TestSupport
import Testing

/// Idle and half-sent connections give way to new ones, and working ones never do.
@Suite("Connections at their limit")
struct ConnectionLimitTests {
    private static let health = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"

    /// Bytes after which a client may stop.
    static let unfinished = [
        "", "GE", "POST /v1/log/event HTTP/1.1\r\nHost:", "POST /v1/log/event HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
        "POST /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
        "POST /v1/log/event HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{",
        "GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
    ]

    @Test("Connections that send nothing more give way, and the service answers", arguments: unfinished)
    func giveWay(text: String) async throws {
        try await withService(arguments: ["--max-connections", "8"]) { service in
            var silent: [RawConnection] = []
            for _ in 0..<40 {
                silent.append(try RawConnection(service))
                silent.last?.send(text)
            }
            let asking = try RawConnection(service)
            asking.send(Self.health)
            #expect(asking.read(until: "last_position").contains("\"ok\""))
            // Older ones have been closed: on a busy machine the first one may be read last, and so be the newest.
            #expect(silent.prefix(20).contains { $0.readToEnd() != nil })
            let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
            let closed = try #require(metrics.firstMatch(of: /profiled_connections_closed_total (\d+)/))
            #expect(try #require(Int(closed.1)) >= 10)
        }
    }

    @Test("With the usual limits, more idle connections than are allowed do not stop /health")
    func manyIdle() async throws {
        let count = Thoroughness.count(short: 1_200, full: 5_000)
        try await withService { service in
            var idle: [RawConnection] = []
            for number in 0..<count {
                // No more than 500 from one address, which may have 512.
                idle.append(try RawConnection(service, from: "127.0.1.\(1 + number / 500)"))
                guard number % 400 == 0 || number == count - 1 else { continue }
                let asking = try RawConnection(service)
                asking.send(Self.health)
                #expect(asking.read(until: "last_position").contains("\"ok\""), "with \(number + 1) idle ones")
            }
            withExtendedLifetime(idle) {}
        }
    }

    @Test("A connection whose request is being answered does not give way, and keeps its answer")
    func working() async throws {
        try await withService(arguments: ["--max-connections", "4"]) { service in
            let waiting = try RawConnection(service)
            waiting.send("GET /v1/events?wait_s=30 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let reader = try stream(service)
            var silent: [RawConnection] = []
            for _ in 0..<20 { silent.append(try RawConnection(service)) }
            #expect(try await service.post("/v1/log/event", #"{"user":"u","name":"x"}"#).status == 200)
            #expect(reader.read(until: "id: 2-").contains("id: 2-"))
            #expect(try #require(waiting.readToEnd()).contains("userCreated"))
            withExtendedLifetime(silent) {}
        }
    }

    @Test("While all connections work, new ones wait, and are answered when one ends or has answered")
    func full() async throws {
        try await withService(arguments: ["--max-connections", "2"]) { service in
            var readers = try [stream(service), stream(service)]
            let late = try (0..<3).map { _ in try RawConnection(service) }
            for connection in late { connection.send(Self.health) }
            readers.removeLast()
            for connection in late { #expect(connection.read(until: "last_position").contains("\"ok\"")) }
            // Their connections are kept alive after the answer, but for those that come.
            let polls = try (0..<3).map { _ in try RawConnection(service) }
            for poll in polls { poll.send("GET /v1/events?wait_s=1 HTTP/1.1\r\nHost: x\r\n\r\n") }
            let last = try RawConnection(service)
            last.send(Self.health)
            #expect(last.read(until: "last_position").contains("\"ok\""))
            withExtendedLifetime((readers, polls)) {}
        }
    }

    @Test("An address with too many connections loses its own idle ones, and else is told so")
    func perAddress() async throws {
        try await withService(arguments: ["--max-connections-per-address", "2"]) { service in
            let idle = try RawConnection(service)
            let readers = try [stream(service), stream(service)]
            #expect(idle.readToEnd() == "")
            let refused = try #require(try RawConnection(service).readToEnd())
            #expect(refused.hasPrefix("HTTP/1.1 503 "))
            #expect(refused.contains("Retry-After: 1"))
            #expect(refused.contains("too_many_connections"))
            let other = try RawConnection(service, from: "127.0.0.2")
            other.send(Self.health)
            #expect(other.read(until: "last_position").contains("\"ok\""))
            withExtendedLifetime(readers) {}
        }
    }

    /// A reader of events, which works for as long as it stays.
    private func stream(_ service: Service) throws -> RawConnection {
        let reader = try RawConnection(service)
        reader.send("GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
        _ = reader.read(until: "events follow")
        return reader
    }

    @Test(
        "Too few open files for a service are named with the limit; fewer than wanted are enough",
        arguments: [(10, false), (14, false), (18, false), (40, false), (256, true)])
    func openFiles(limit: Int, isEnough: Bool) async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let program = ChildProcess.built("profiled").path
        let command = "ulimit -n \(limit); exec '\(program)' --ephemeral --port 0 --port-file port"
        let process = try ChildProcess(
            URL(filePath: "/bin/sh"), ["-c", command], in: folder.url, output: .nothing,
            errors: .file(folder.file("stderr")))
        let port = folder.file("port")
        try await waitUntil(turns: 1_500) { process.end != nil || (try? Data(contentsOf: port))?.isEmpty == false }
        process.signal(SIGTERM)
        let code = try await Service.exitCode(of: process)
        let message = try String(contentsOf: folder.file("stderr"), encoding: .utf8)
        #expect(code == (isEnough ? 0 : 1), "\(message)")
        #expect(message.contains("RLIMIT_NOFILE"), "\(message)")
        if !isEnough {
            #expect(message.contains("may open \(limit) files") && message.contains("ulimit -n"), "\(message)")
        }
    }
}
