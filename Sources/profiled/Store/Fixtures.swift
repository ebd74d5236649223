internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// A file of JSON Lines, as for `profilecli import`, that is stored before the service starts.
struct Fixtures: Sendable {
    /// Bytes after which a chunk ends before its 1,000 lines. With another number stored fixtures are not recognised.
    private static let bytesPerChunk: UInt64 = 24 << 20

    private let path: String
    private let bytes: Data
    /// Identifies them in the store.
    private var name: String { URL(fileURLWithPath: path).lastPathComponent }

    /// Reads the file at once: if it cannot be read, the start fails.
    init(path: String) throws(StartError) {
        self.path = path
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw StartError(unreadable: "The fixtures", path, remedy: "Name a file of JSON Lines with --fixtures.")
        }
        self.bytes = bytes
    }

    /// Stores all chunks before the first bad line. Skips what the store already holds under the file's name.
    func load(into log: EventLog) throws {
        var options = ImportOptions()
        options.times = ImportTimes(now: log.options.now())
        var chunker = ImportChunker(name: "fixtures:\(name)", bytesPerChunk: Self.bytesPerChunk, options) {
            log.prepare()
        }
        do {
            try bytes.withUnsafeBytes { bytes in
                for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                    try store(chunker.add(UnsafeRawBufferPointer(rebasing: line)), in: log)
                }
            }
            try store(chunker.finish(), in: log)
        } catch let refusal as ImportLineError {
            throw failure(refusal.line, refusal.reason, Self.remedy(refusal.remedy))
        }
    }

    private func store(_ chunk: ImportChunk?, in log: EventLog) throws {
        guard let chunk, chunk.events > 0 else { return }
        do {
            var tally = ImportTally()
            try tally.store([chunk], in: log)
        } catch let refused as ChunkRefusal {
            throw try failure(refused, in: log)
        }
    }

    private static func remedy(_ remedy: ImportLine.Remedy) -> String {
        switch remedy {
        case .correct, .timeUnit, .anyTime: "Correct it; `profilecli import --help` tells what a line may be."
        case .correctOrUpdate: "Correct it, or start the newer profiled that belongs to the profilecli that wrote it."
        case .exportAgain:
            "Export the store again with the newer profilecli, under the same name, and start the newer profiled "
                + "with that."
        case .takeOut:
            "Remove it, and all later lines of such kinds. For an empty store, an export with "
                + "\(ExportedLine.kindOptions) has no such lines."
        case .setApart: "Put \(ImportChunker.linesPerChunk) empty lines before it: so many are stored together."
        }
    }

    private func failure(_ refused: ChunkRefusal, in log: EventLog) throws -> StartError {
        let (chunk, error) = (refused.chunk, refused.error)
        if case .keyReused = error {
            return StartError(
                "The store holds other fixtures from a file \(name), with other lines from \(chunk.firstLine) on.",
                remedy: "If this is another file, give it another name. If it is the same one, undo the change in the "
                    + "lines from \(chunk.firstLine) on, or use an empty store: under another name, stored lines would "
                    + "be stored again.")
        }
        guard let line = try chunk.line(refusedBy: log, error) else { throw error }
        let isFull = if case .pendingFull = error { true } else { false }
        return failure(
            line, String(error.fact.dropLast()),
            isFull ? "Remove some of what is saved on this device." : "Correct it or remove it.")
    }

    private func failure(_ line: Int, _ reason: String, _ remedy: String) -> StartError {
        StartError("Line \(line) of the fixtures \(path) cannot be stored: \(reason).", remedy: remedy)
    }
}
