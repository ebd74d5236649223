import Foundation
import Testing

/// A connection that sends any bytes, for what no client library would send.
final class RawConnection: Sendable {
    private let socket: Int32

    /// Connects to `service`, from another address of this machine if one is named. A read gives up after half a
    /// minute.
    convenience init(_ service: Service, from source: String? = nil) throws {
        try self.init(port: service.port, from: source)
    }

    init(port: Int, from source: String? = nil) throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(socket >= 0)
        if let source {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr(source)
            let code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(code == 0)
        }
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(code == 0)
    }

    /// Connects to the unix socket at `path`.
    init(unix path: String) throws {
        socket = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(socket >= 0)
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(code == 0)
    }

    deinit { close(socket) }

    /// Sends what the service takes of it; it may close at any time.
    func send(_ bytes: some Sequence<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    func send(_ text: String) { send(text.utf8) }

    /// A request with a body and a `Content-Length`, which may be a lie.
    func post(_ path: String, _ body: String, length: Int? = nil, headers: String = "") {
        send(
            "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(length ?? body.utf8.count)\r\n\(headers)\r\n\(body)")
    }

    /// Sends a byte now and then until the service has closed the connection; false if it takes them for 20 seconds.
    func dripsUntilClosed() async throws -> Bool {
        for _ in 0..<400 {
            if Foundation.send(socket, " ", 1, Int32(MSG_NOSIGNAL)) <= 0 { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    /// Sends bytes until the service has closed the connection, or has had so many; how many it took.
    func takes(atMost limit: Int) -> Int {
        let bytes = [UInt8](repeating: 0x20, count: 1 << 16)
        var taken = 0
        while taken < limit {
            let count = Foundation.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            if count <= 0 { break }
            taken += count
        }
        return taken
    }

    /// Sends `text` again and again, and reads nothing, until the service has closed the connection; false if it takes
    /// nothing for 20 seconds.
    func sendsUntilClosed(_ text: String) -> Bool {
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let bytes = Array(text.utf8)
        while true {
            // A part of one is as good: the next one makes a request that is refused.
            if Foundation.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) <= 0 { return errno != EAGAIN }
        }
    }

    /// Says that nothing more will be sent.
    func finish() { shutdown(socket, Int32(SHUT_WR)) }

    /// Reads until `isEnough` says so, or the service closes, or half a minute passes.
    func read(until isEnough: (String) -> Bool = { _ in false }) -> String {
        var received: [UInt8] = []
        // Heartbeats would keep a wait for what never comes alive.
        let deadline = ContinuousClock.now + .seconds(30)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isEnough(String(decoding: received, as: UTF8.self)) {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count <= 0 || ContinuousClock.now > deadline { break }
            received += buffer[..<count]
        }
        return String(decoding: received, as: UTF8.self)
    }

    /// All that comes, if the service then closes the connection; nil if it still has it open after 20 seconds of
    /// silence. `pause` is in seconds, after each part.
    func readToEnd(pause: TimeInterval = 0) -> String? {
        readBytesToEnd(pause: pause).map { String(decoding: $0, as: UTF8.self) }
    }

    /// As ``readToEnd(pause:)``, for what is no text.
    func readBytesToEnd(pause: TimeInterval = 0) -> [UInt8]? {
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0 { return nil }
            if count == 0 { return received }
            received += buffer[..<count]
            if pause > 0 { Thread.sleep(forTimeInterval: pause) }
        }
    }

    /// As `readToEnd`, some 1.5 MB a second, on a thread of its own: other tests may keep all threads of tasks busy for
    /// longer than the service waits.
    func readSlowly() async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.readToEnd(pause: 0.04)) }
        }
    }

    /// Reads until a piece of text has come so often.
    func read(until text: String, times: Int = 1) -> String {
        read { $0.components(separatedBy: text).count > times }
    }
}
