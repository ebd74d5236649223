import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("Unix sockets")
struct UnixSocketTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("socket").path }

    init() throws { folder = try TemporaryFolder.made(prefix: "profiled") }

    /// The answer at the socket.
    private func ask(_ path: String, _ line: String = "GET /health") throws -> String {
        let connection = try RawConnection(unix: path)
        connection.send("\(line) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return try #require(connection.readToEnd())
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode : nil
    }

    private func remains(_ name: String) -> Bool { mode(folder.file(name).path) != nil }

    @Test("A service listens on its port and on a socket for user and group, which it removes at its end")
    func both() async throws {
        let service = try await Service(in: folder, arguments: ["--unix", path])
        #expect(mode(path) == S_IFSOCK | 0o660)
        #expect(!remains("socket.new"))
        #expect(try ask(path).contains(#""status":"ok""#))
        #expect(try await service.get("/health").status == 200)
        #expect(try ask(path, "GET /v1/nothing").hasPrefix("HTTP/1.1 404 "))
        #expect(try await service.stop() == 0)
        #expect(!remains("socket"))
    }

    @Test("profilecli talks to a socket")
    func client() async throws {
        let service = try await Service(in: folder, arguments: ["--unix", path])
        for url in ["unix:\(path)", "unix://\(path)"] {
            let logged = try await run(
                program: ChildProcess.built("profilecli"), ["log", "event", "ana", "opened", "--url", url],
                in: folder)
            #expect(logged.code == 0, "\(logged.errors)")
        }
        #expect(try await service.get("/v1/profile?user=ana").status == 200)
        #expect(try await service.stop() == 0)
        let gone = try await run(
            program: ChildProcess.built("profilecli"), ["stats", "--url", "unix:\(path)"], in: folder)
        #expect(gone.code == 1 && gone.errors.contains("unix:\(path)"), "\(gone.errors)")
    }

    @Test("A service takes the place of a socket that a killed service left")
    func stale() async throws {
        let killed = try await Service(in: folder, arguments: ["--unix", path])
        #expect(try await killed.stop(SIGKILL) != 0)
        #expect(remains("socket"))
        let service = try await Service(in: folder, arguments: ["--unix", path])
        #expect(try ask(path).contains(#""status":"ok""#))
        #expect(mode(path) == S_IFSOCK | 0o660)
        #expect(try await service.stop() == 0)
        #expect(!remains("socket"))
    }

    @Test("A second service does not get the socket of the first, which goes on")
    func second() async throws {
        let service = try await Service(in: folder, arguments: ["--unix", path])
        let other = try TemporaryFolder.made(prefix: "profiled")
        let refused = try await run(["--store", "store", "--port", "0", "--unix", path], in: other)
        #expect(refused.code == 1)
        #expect(refused.errors.contains("Another program listens on the socket \(path)."), "\(refused.errors)")
        #expect(try ask(path).contains(#""status":"ok""#))
        #expect(try await service.stop() == 0)
    }

    @Test("A service does not remove the socket that another one has put in its place")
    func replaced() async throws {
        let service = try await Service(in: folder, arguments: ["--unix", path])
        // As an operator who removes the file by hand.
        unlink(path)
        let other = try TemporaryFolder.made(prefix: "profiled")
        let newer = try await Service(in: other, arguments: ["--unix", path])
        #expect(try await service.stop() == 0)
        #expect(try ask(path).contains(#""status":"ok""#))
        #expect(try await newer.stop() == 0)
        #expect(!remains("socket"))
    }

    @Test("A file that is no socket is left alone, and a path that cannot be one is refused")
    func refused() async throws {
        try "precious".write(toFile: path, atomically: true, encoding: .utf8)
        let long = folder.file(String(repeating: "l", count: 120)).path
        for (path, sentence) in [
            (path, "is there and is no socket; it was left alone."), (long, "has more than 99 bytes."),
            (folder.file("nowhere/socket").path, "cannot be made: No such file or directory."),
        ] {
            let refused = try await run(["--store", "store", "--port", "0", "--unix", path], in: folder)
            #expect(refused.code == 1, "\(path)")
            #expect(refused.errors.contains(sentence) && refused.errors.contains("--unix"), "\(refused.errors)")
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test("With --host none a service has its socket alone, and needs no keys")
    func alone() async throws {
        let service = try await Service(in: folder, arguments: ["--host", "none", "--unix", path])
        #expect(service.port == 0)
        #expect(try ask(path).contains(#""status":"ok""#))
        #expect(try ask(path, "GET /v1/stats").hasPrefix("HTTP/1.1 200 "))
        let output = try String(contentsOf: folder.file("stdout"), encoding: .utf8)
        #expect(output.contains("unix:\(path) serves the store"), "\(output)")
        #expect(try await service.stop() == 0)
        let nowhere = try await run(["--store", "store", "--host", "none"], in: folder)
        #expect(nowhere.code == 1 && nowhere.errors.contains("--unix"), "\(nowhere.errors)")
        let check = try await run(["config", "check", "--store", "store", "--host", "none"], in: folder)
        #expect(check.code != 0, "\(check.errors)")
    }

    @Test("A socket needs a key where the service needs one")
    func keys() async throws {
        let made = try await run(["keys", "add", "--store", "store", "--name", "n"], in: folder)
        #expect(made.code == 0)
        let service = try await Service(in: folder, arguments: ["--unix", path])
        #expect(try ask(path, "GET /v1/stats").hasPrefix("HTTP/1.1 401 "))
        #expect(try await service.stop() == 0)
    }
}
