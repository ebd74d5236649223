internal import Foundation
internal import ProfileLog

/// The file that tells other programs on which port the service listens: empty while it starts, removed when it ends,
/// and locked against other services.
struct PortFile: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Makes the file at once: if it cannot be written, the start fails.
    init(path: String) throws(StartFailure) {
        self.path = path
        var locked = try Self.locked(path)
        // A service that ended at this moment has removed the file that was opened.
        while !Self.isThere(path, locked) {
            close(locked)
            locked = try Self.locked(path)
        }
        descriptor = locked
        guard ftruncate(descriptor, 0) == 0 else { throw Self.unwritable(path) }
    }

    private static func locked(_ path: String) throws(StartFailure) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw unwritable(path) }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            close(descriptor)
            throw StartFailure(
                "The port file \(path) is in use by another service.",
                remedy: "Name another file, or stop that service.")
        }
        return descriptor
    }

    private static func isThere(_ path: String, _ descriptor: Int32) -> Bool {
        FileIdentity(path).map { $0 == FileIdentity(descriptor: descriptor) } ?? false
    }

    private static func unwritable(
        _ path: String, remedy: String = "Name a file in a folder that exists and that you may write to."
    ) -> StartFailure { StartFailure("The port file \(path) cannot be written.", remedy: remedy) }

    func write(_ port: Int) throws(StartFailure) {
        let text = Array("\(port)\n".utf8)
        guard Foundation.write(descriptor, text, text.count) == text.count else {
            throw Self.unwritable(path, remedy: "Check the disk and the folder.")
        }
    }

    /// Removes the file, unless another file is at its path now.
    func remove() {
        if Self.isThere(path, descriptor) { unlink(path) }
        close(descriptor)
    }
}
