internal import Foundation
internal import NIOCore

/// Checks that a service could listen on an address, before it makes a store. If another program takes the port after
/// the check, the server fails to bind it.
enum PortCheck {
    static func run(host: String, port: Int) throws {
        // The same address that the server binds.
        let address = try SocketAddress.makeAddressResolvingHost(host, port: port)
        let socket = socket(address.protocol.rawValue, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        defer { close(socket) }
        // With the server's options: a port that was just closed is free, and `::` includes IPv4.
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
