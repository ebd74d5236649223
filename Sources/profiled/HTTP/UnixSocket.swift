internal import CoreFoundation
internal import Foundation
internal import Synchronization

/// The file of a unix socket: each process that may write to it can connect.
///
/// It is bound under another name, and gets its own by `rename` when its mode is right. So no client meets a
/// socket that is open to all, or one without a listener.
final class UnixSocket: Sendable {
    /// The user and the group of the service.
    private static let mode: mode_t = 0o660
    private static let firstEnd = ".new"
    /// The limit of NIO.
    private static let mostBytes = 103

    /// The path to listen on first.
    let firstPath: String
    private let path: String
    /// The file that has the name; nil before it has it.
    private let file = Mutex<FileStamp?>(nil)

    /// Throws if the name is taken: by a program that listens, or by a file that is no socket. A socket without
    /// a listener is left by a service that was killed.
    init(path: String) throws(StartError) {
        self.path = path
        firstPath = path + Self.firstEnd
        guard firstPath.utf8.count <= Self.mostBytes else {
            throw StartError(
                "The path of the socket has more than \(Self.mostBytes - Self.firstEnd.utf8.count) bytes.",
                remedy: "Name a shorter one with --unix, as /run/profilelog/socket.")
        }
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw Self.failure(path, errno)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw StartError(
                "\(path) is there and is no socket; it was left alone.",
                remedy: "Name another file with --unix, or move it away.")
        }
        guard Self.isStale(path) else {
            throw StartError(
                "Another program listens on the socket \(path).",
                remedy: "Stop that program, or name another file with --unix.")
        }
    }

    /// Gives the socket that listens on ``firstPath`` its mode and its name.
    func publish() throws(StartError) {
        guard chmod(firstPath, Self.mode) == 0, let stamp = FileStamp(path: firstPath), rename(firstPath, path) == 0
        else { throw Self.failure(path, errno) }
        file.withLock { $0 = stamp }
    }

    /// Removes the file, if the name is still that of this socket.
    func remove() {
        guard let stamp = file.withLock({ $0 }) else {
            unlink(firstPath)
            return
        }
        if FileStamp(path: path) == stamp { unlink(path) }
    }

    static func failure(_ path: String, _ code: Int32?) -> StartError {
        let reason = code.map { ": \(String(cString: strerror($0)))" } ?? ""
        return StartError(
            "The socket \(path) cannot be made\(reason).",
            remedy: "Name a file with --unix in a folder that exists and that this user may write to.")
    }

    /// Tells whether no program listens on a socket.
    private static func isStale(_ path: String) -> Bool {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return code != 0 && errno == ECONNREFUSED
    }
}
