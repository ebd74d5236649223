internal import Foundation
internal import ProfileLogNativeAPI

/// A file that a command line or a scenario names; `-` is standard input.
enum NamedFile {
    /// The bytes of the file at `path`, without the mark that some editors begin UTF-8 with. `remedy` if it cannot be
    /// read.
    static func bytes(_ path: String, atMost mostBytes: Int, remedy: String) throws(CommandError) -> [UInt8] {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, remedy) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= mostBytes {
            let count = block.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path, remedy) }
            if count == 0 { break }
            bytes += block[..<count]
        }
        guard bytes.count <= mostBytes else {
            throw CommandError(
                "\(shown(path)) is larger than \(Number.grouped(mostBytes)) bytes.",
                remedy: "Split it, or name another one.", status: .usage)
        }
        let mark = ImportChunker.byteOrderMark
        return bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
    }

    /// The file as messages call it.
    static func shown(_ path: String) -> String { path == "-" ? "Standard input" : "The file \(path.oneLine)" }

    /// A failure that says by `errno` why the file cannot be read.
    static func unreadable(_ path: String, _ remedy: String) -> CommandError {
        CommandError(
            "\(shown(path)) cannot be read: \(String(cString: strerror(errno))).", remedy: remedy, status: .usage)
    }
}
