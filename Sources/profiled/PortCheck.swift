internal import Foundation
internal import NIOCore

/// Whether a service could listen on an address: asked before it makes a store. Who takes the port in between is met by the server.
enum PortCheck {
    /// Throws what stands against it.
    static func run(host: String, port: Int) throws {
        // The one that the server binds.
        let address = try SocketAddress.makeAddressResolvingHost(host, port: port)
        let socket = socket(address.protocol.rawValue, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        defer { close(socket) }
        // As the server does: a port that was just left is free, and one that IPv4 alone has is taken, whatever the system's default.
        set(SO_REUSEADDR, of: SOL_SOCKET, to: 1, on: socket)
        if address.protocol == .inet6 { set(IPV6_V6ONLY, of: Int32(IPPROTO_IPV6), to: 0, on: socket) }
        guard address.withSockAddr({ bind(socket, $0, socklen_t($1)) }) == 0 else {
            throw IOError(errnoCode: errno, reason: "bind")
        }
    }

    private static func set(_ option: Int32, of level: Int32, to value: Int32, on socket: Int32) {
        var value = value
        setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
