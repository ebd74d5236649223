internal import Foundation
internal import ProfileLog
internal import ProfileLogAPI

/// Facts in JSON Lines, as `profilecli export` writes and `profilecli import` reads them, that a store holds before it serves.
struct Fixtures: Sendable {
    private static let linesPerAppend = 1_000
    /// What some editors begin a file in UTF-8 with.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let path: String
    private let bytes: Data

    /// Reads the file at once, so that one that cannot be read stops the start.
    init(path: String) throws(StartFailure) {
        self.path = path
        do {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            self.bytes = bytes.starts(with: Self.byteOrderMark) ? bytes.dropFirst(Self.byteOrderMark.count) : bytes
        } catch {
            throw StartFailure(
                "The fixtures \(path) cannot be read.", remedy: "Name a file of JSON Lines with --fixtures.")
        }
    }

    /// Stores all of the facts, or as many of the thousands before the first line at fault. What a store holds already under the
    /// file's name is passed over.
    func load(into log: EventLog) throws {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        var number = 1
        let name = URL(fileURLWithPath: path).lastPathComponent
        while !lines.isEmpty {
            var builder = log.prepare()
            let first = number
            /// The number of each event's line.
            var numbers: [Int] = []
            for line in lines.prefix(Self.linesPerAppend) {
                try add(line, number, to: &builder)
                if builder.count > numbers.count { numbers.append(number) }
                number += 1
            }
            lines = lines.dropFirst(Self.linesPerAppend)
            guard builder.count > 0 else { continue }
            let append = try builder.finish(idempotencyKey: "fixtures:\(name):\(first)")
            do throws(AppendError) {
                _ = try log.commit(append)
            } catch .keyReused {
                throw StartFailure(
                    "The store holds other fixtures from a file \(name), with other lines from \(first) on.",
                    remedy: "Take an empty store (--ephemeral), or give the file another name.")
            } catch {
                guard let item = try append.item(refusedBy: log, error) else { throw error }
                throw refused(numbers[item], error)
            }
        }
    }

    /// Adds the event of `line`, if it has one.
    private func add(_ line: Data, _ number: Int, to builder: inout AppendBuilder) throws {
        if line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { return }
        do {
            let line = try line.withUnsafeBytes { try ImportLine($0) }
            if let fact = line.fact { try builder.add(fact.event, fact.context, to: fact.user) }
        } catch let refusal as ImportLine.Refusal {
            throw failure(number, refusal.reason, Self.remedy(refusal.remedy))
        } catch let AppendError.invalid(place, reason) {
            throw failure(
                number, "\(place.prefix(1).lowercased())\(place.dropFirst()) \(reason)", Self.remedy(.correct))
        }
    }

    private static func remedy(_ remedy: ImportLine.Remedy) -> String {
        switch remedy {
        case .correct: "Correct it; `profilecli import --help` tells what a line may be."
        case .correctOrUpdate: "Correct it, or start the newer profiled that belongs to the profilecli that wrote it."
        case .exportAgain: "Export the store again with the newer profilecli, and start the newer profiled with that."
        case .takeOut: "Take it out: an export with \(ExportedLine.kindOptions) has no such lines."
        }
    }

    /// Tells of a line that the log refused.
    private func refused(_ line: Int, _ error: AppendError) -> StartFailure {
        let fact = error.description.replacing("; nothing was stored.", with: ".")
        let remedy =
            switch error {
            case .pendingFull: "Take out some of what is saved on this device."
            default: "Correct it or take it out."
            }
        return failure(line, String(fact.dropLast()), remedy)
    }

    private func failure(_ line: Int, _ reason: String, _ remedy: String) -> StartFailure {
        StartFailure("Line \(line) of the fixtures \(path) cannot be stored: \(reason).", remedy: remedy)
    }
}
