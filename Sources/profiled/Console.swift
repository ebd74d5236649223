internal import Foundation
internal import Logging
internal import ProfileLog

/// Standard output and standard error. All text goes through here, and a line of it holds nothing that must not be
/// printed: a name that a client chose cannot write into a terminal.
enum Console {
    /// Writes `lines` to standard output.
    static func print(_ lines: String...) throws { try FileHandle.standardOutput.write(contentsOf: data(lines)) }

    /// Prints rows of as many cells each, the first of which is the heading.
    static func printTable(_ rows: [[String]]) throws {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            let cells = zip(row.dropLast(), widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            try print((cells + row.suffix(1)).joined(separator: "  "))
        }
    }

    /// Writes `lines` to standard error, if that can be written.
    static func note(_ lines: String...) { try? FileHandle.standardError.write(contentsOf: data(lines)) }

    private static func data(_ lines: [String]) -> Data { Data(lines.map { $0.printable() + "\n" }.joined().utf8) }
}

/// Hands messages on to a log for people, with everything that must not be printed made visible.
struct PrintableLogHandler: LogHandler {
    private var inner: any LogHandler

    init(_ inner: any LogHandler) { self.inner = inner }

    var logLevel: Logger.Level {
        get { inner.logLevel }
        set { inner.logLevel = newValue }
    }
    var metadata: Logger.Metadata {
        get { inner.metadata }
        set { inner.metadata = newValue.mapValues(Self.printable) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { inner[metadataKey: key] }
        set { inner[metadataKey: key] = newValue.map(Self.printable) }
    }

    func log(event: LogEvent) {
        var event = event
        event.message = "\(event.message.description.printable())"
        event.metadata = event.metadata?.mapValues(Self.printable)
        inner.log(event: event)
    }

    private static func printable(_ value: Logger.Metadata.Value) -> Logger.Metadata.Value {
        .string(value.description.printable())
    }
}
