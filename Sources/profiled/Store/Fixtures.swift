internal import Foundation
internal import ProfileLog
internal import ProfileLogAPI

/// Facts in JSON Lines, as `profilecli export` writes and `profilecli import` reads them, that a store holds before it serves.
struct Fixtures: Sendable {
    /// Bytes behind which a chunk ends that has fewer lines than others: an append holds some more, and a line may take more there than as
    /// text. What was stored when a chunk was 1,000 lines in any case is known again up to so many bytes.
    private static let bytesPerChunk: UInt64 = 24 << 20

    private let path: String
    private let bytes: Data
    /// By which the store knows them again.
    private var name: String { URL(fileURLWithPath: path).lastPathComponent }

    /// Reads the file at once, so that one that cannot be read stops the start.
    init(path: String) throws(StartFailure) {
        self.path = path
        do {
            bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw StartFailure(
                "The fixtures \(path) cannot be read.", remedy: "Name a file of JSON Lines with --fixtures.")
        }
    }

    /// Stores all of the facts, or as many of the chunks before the first line at fault. What a store holds already under the
    /// file's name is passed over.
    func load(into log: EventLog) throws {
        var chunker = ImportChunker(name: "fixtures:\(name)", bytesPerChunk: Self.bytesPerChunk) { log.prepare() }
        do {
            try bytes.withUnsafeBytes { bytes in
                for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                    try store(chunker.add(UnsafeRawBufferPointer(rebasing: line)), in: log)
                }
            }
            try store(chunker.finish(), in: log)
        } catch let refusal as ImportRefusal {
            throw failure(refusal.line, refusal.reason, Self.remedy(refusal.remedy))
        }
    }

    private func store(_ chunk: ImportChunk?, in log: EventLog) throws {
        guard let chunk, chunk.events > 0 else { return }
        do {
            var tally = ImportTally()
            try tally.count(chunk, log.commit([chunk.append])[0], in: log)
        } catch let refused as RefusedChunk {
            throw try failure(refused, in: log)
        }
    }

    private static func remedy(_ remedy: ImportLine.Remedy) -> String {
        switch remedy {
        case .correct: "Correct it; `profilecli import --help` tells what a line may be."
        case .correctOrUpdate: "Correct it, or start the newer profiled that belongs to the profilecli that wrote it."
        case .exportAgain:
            "Export the store again with the newer profilecli, under the same name, and start the newer profiled "
                + "with that."
        case .takeOut:
            "Take it out, and all of such kinds behind it. For an empty store, an export with \(ExportedLine.kindOptions) "
                + "has no such lines."
        case .setApart: "Put \(ImportChunker.linesPerChunk) empty lines before it: so many are stored together."
        }
    }

    /// Tells of a chunk that the log refused.
    private func failure(_ refused: RefusedChunk, in log: EventLog) throws -> StartFailure {
        let (chunk, error) = (refused.chunk, refused.error)
        if case .keyReused = error {
            return StartFailure(
                "The store holds other fixtures from a file \(name), with other lines from \(chunk.firstLine) on.",
                remedy: "If this is another file, give it another name. If it is the same one, undo the change in the "
                    + "lines from \(chunk.firstLine) on, or take an empty store: under another name, what is stored would "
                    + "be stored a second time.")
        }
        guard let line = try chunk.line(refusedBy: log, error) else { throw error }
        let remedy =
            switch error {
            case .pendingFull: "Take out some of what is saved on this device."
            default: "Correct it or take it out."
            }
        return failure(line, String(error.fact.dropLast()), remedy)
    }

    private func failure(_ line: Int, _ reason: String, _ remedy: String) -> StartFailure {
        StartFailure("Line \(line) of the fixtures \(path) cannot be stored: \(reason).", remedy: remedy)
    }
}
