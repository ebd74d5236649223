internal import Foundation

/// The file that tells other programs on which port the service listens: empty while it starts, removed when it ends.
struct PortFile: Sendable {
    private let path: String

    /// Makes the file at once: if it cannot be written, the start fails.
    init(path: String) throws(StartError) {
        self.path = path
        try write("", remedy: "Name a file in a folder that exists and that you may write to.")
    }

    func write(_ port: Int) throws(StartError) { try write("\(port)\n", remedy: "Check the disk and the folder.") }

    private func write(_ text: String, remedy: String) throws(StartError) {
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        } catch {
            throw StartError("The port file \(path) cannot be written.", remedy: remedy)
        }
    }

    func remove() { unlink(path) }
}
