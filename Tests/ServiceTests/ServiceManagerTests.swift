import Foundation
import TestSupport
import Testing

/// The socket of a service manager, as systemd has one.
private final class ManagerSocket: Sendable {
    private let descriptor: Int32

    /// Listens on `path`; with `@` before it, the socket is abstract.
    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(code == 0)
    }

    deinit { close(descriptor) }

    /// The next news that waits here; nil if there is none.
    private func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// Waits for news with the line `line`, and returns it; news before it are dropped.
    func news(with line: String) async throws -> String {
        var found: String?
        try await waitUntil(turns: 3_000) {
            while found == nil, let news = next() {
                if news.split(separator: "\n").contains(where: { $0.hasPrefix(line) }) { found = news }
            }
            return found != nil
        }
        return try #require(found, "no news \(line)")
    }
}

@Suite("What a service manager is told (sd_notify)")
struct ServiceManagerTests {
    @Test(
        "Ready with an address, reloading with a time and ready again, then stopping",
        arguments: [false, true])
    func news(isAbstract: Bool) async throws {
        let folder = try TemporaryFolder.made(prefix: "s")
        let place = (isAbstract ? "@profilelog" : "") + folder("n")
        let manager = try ManagerSocket(place)
        let service = try await Service(in: folder, arguments: [], environment: ["NOTIFY_SOCKET": place])
        #expect(try await manager.news(with: "STATUS=Opening").contains(service.store))
        let ready = try await manager.news(with: "READY=1")
        #expect(ready.contains("STATUS=http://127.0.0.1:\(service.port)/ serves the store \(service.store)."))
        service.signal(SIGHUP)
        let reloading = try await manager.news(with: "RELOADING=1")
        #expect(reloading.contains(/\nMONOTONIC_USEC=[0-9]+$/), "\(reloading)")
        _ = try await manager.news(with: "READY=1")
        #expect(try await service.stop() == 0)
        _ = try await manager.news(with: "STOPPING=1")
    }

    @Test("A start that fails is told with its reason, and a manager that has gone is no reason to end")
    func failure() async throws {
        let folder = try TemporaryFolder.made(prefix: "s")
        let manager = try ManagerSocket(folder("n"))
        let environment = ["NOTIFY_SOCKET": folder("n")]
        let failed = try await run(
            ["--store", "store", "--expect-store", "--port", "0"], in: folder, environment: environment)
        #expect(failed.code == 1)
        #expect(try await manager.news(with: "STATUS=There is no store").contains("--expect-store"))
        try FileManager.default.removeItem(atPath: folder("n"))
        let service = try await Service(in: folder, arguments: [], environment: environment)
        #expect(try await service.stop() == 0)
        #expect(!service.messages.contains("error"), "\(service.messages)")
    }

    /// The opening of a store works, without an end, until the file `$GO` is there.
    private static let working = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdlib.h>
        #include <unistd.h>

        int flock(int file, int operation) {
            const char *go = getenv("GO");
            int (*real)(int, int) = dlsym(RTLD_NEXT, "flock");
            while (go && access(go, F_OK) != 0) {}
            return real(file, operation);
        }
        """

    @Test("A start that works for long asks for more time, and is ready at its end")
    func longStart() async throws {
        let folder = try TemporaryFolder.made(prefix: "s")
        let manager = try ManagerSocket(folder("n"))
        let process = try Service.launch(
            ["--store", "store", "--port", "0"], in: folder.url,
            environment: Shim(Self.working).environment(["NOTIFY_SOCKET": folder("n"), "GO": folder("go")]))
        defer { process.signal(SIGKILL) }
        _ = try await manager.news(with: "EXTEND_TIMEOUT_USEC=30000000")
        try Data().write(to: folder.file("go"))
        _ = try await manager.news(with: "READY=1")
        process.signal(SIGTERM)
        #expect(try await Service.exitCode(of: process) == 0)
    }
}
