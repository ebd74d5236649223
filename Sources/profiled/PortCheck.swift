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
        // As the server does, or a port that was just left would still be taken.
        var isOn: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        guard address.withSockAddr({ bind(socket, $0, socklen_t($1)) }) == 0 else {
            throw IOError(errnoCode: errno, reason: "bind")
        }
    }
}
