internal import Foundation
internal import NIOCore

/// Whether a service could listen on an address: asked before it makes a store. Who takes the port in between is met by the server.
enum PortCheck {
    /// Throws what stands against it. A host that is not known is for the server to tell.
    static func run(host: String, port: Int) throws(IOError) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let address = found?.pointee else { return }
        defer { freeaddrinfo(found) }
        let socket = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
        guard socket >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        defer { close(socket) }
        // As the server does, or a port that was just left would still be taken.
        var isOn: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        guard bind(socket, address.ai_addr, address.ai_addrlen) == 0 else {
            throw IOError(errnoCode: errno, reason: "bind")
        }
    }
}
