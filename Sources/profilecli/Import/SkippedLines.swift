internal import Foundation
internal import ProfileLog
internal import Synchronization

/// The file that names the lines which an import skipped: one JSON object for each, with `line`, `reason` and `text`.
final class SkippedLines: Sendable {
    let path: String
    private let descriptor: Int32
    private let waiting = Mutex<[UInt8]>([])

    private static let bytesTogether = 1 << 16

    /// Makes the file, for its owner only, or empties it. It must not be the input.
    init(_ path: String, besides input: InputFile) throws {
        self.path = path
        guard !input.isSame(as: path) else {
            throw CommandError(
                "--skip-invalid names the file that is imported.", remedy: "Name another file, which is written.",
                status: .usage)
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw OutputFile.unwritable(path) }
    }

    deinit { close(descriptor) }

    func add(line: Int, reason: String, text: UnsafeRawBufferPointer) throws {
        let object = JSONWriter.object { json in
            json.member("line", line)
            json.member("reason", .string(reason))
            json.member("text", .string(String(decoding: text, as: UTF8.self)))
        }
        let full = waiting.withLock { waiting -> [UInt8] in
            waiting += Array((object + "\n").utf8)
            if waiting.count < Self.bytesTogether { return [] }
            defer { waiting = [] }
            return waiting
        }
        try Output.write(full, to: descriptor)
    }

    /// Writes what waits.
    func finish() throws {
        let rest = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        try Output.write(rest, to: descriptor)
    }
}
