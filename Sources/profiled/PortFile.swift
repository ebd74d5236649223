internal import Foundation

/// The file that tells other programs on which port the service listens: empty while it starts, gone when it has ended.
struct PortFile: Sendable {
    private let path: String

    /// Makes the file at once, so that one that cannot be written stops the start.
    init(path: String) throws {
        self.path = path
        guard FileManager.default.createFile(atPath: path, contents: Data()) else {
            throw StartFailure(
                "The port file \(path) cannot be written.",
                remedy: "Name one in a folder that exists and that you may write in.")
        }
    }

    /// Writes `port` and a line feed, whole or not at all.
    func write(_ port: Int) throws(StartFailure) {
        do {
            try Data("\(port)\n".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw StartFailure("The port file \(path) cannot be written.", remedy: "Check the disk and the folder.")
        }
    }

    /// Removes the file.
    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
