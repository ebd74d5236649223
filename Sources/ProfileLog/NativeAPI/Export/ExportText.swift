internal import ProfileLogRequests
internal import Synchronization

/// Writes rows of an export as lines: JSON Lines, or CSV as in RFC 4180.
///
/// In CSV the first line has the names of the columns, lines end with CR LF, and text with a comma, a quote or a line
/// end is in quotes. Null is nothing, and an empty text is `""`.
package struct RowLines: Sendable {
    package enum Format: String, Sendable, CaseIterable { case jsonl, csv }

    package let table: ExportTable
    package let format: Format

    package init(_ table: ExportTable, _ format: Format) { (self.table, self.format) = (table, format) }

    /// Bytes before the rows.
    package var header: [UInt8] {
        format == .jsonl ? [] : Array((table.columns.map(\.name).joined(separator: ",") + "\r\n").utf8)
    }

    package func write(_ row: AttributeValue, to bytes: inout [UInt8]) {
        switch format {
        case .jsonl:
            var writer = JSONWriter(appendingTo: bytes)
            bytes = []
            writer.value(row)
            writer.endLine()
            bytes = writer.bytes
        case .csv:
            for (index, cell) in table.cells(of: row).enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(cell, to: &bytes)
            }
            bytes += [0x0D, 0x0A]
        }
    }

    private static func write(_ cell: AttributeValue, to bytes: inout [UInt8]) {
        switch cell {
        case .null: break
        case .string(let text):
            let isQuoted = text.isEmpty || text.utf8.contains { [0x22, 0x2C, 0x0D, 0x0A].contains($0) }
            guard isQuoted else {
                bytes += text.utf8
                return
            }
            bytes.append(0x22)
            for byte in text.utf8 {
                if byte == 0x22 { bytes.append(0x22) }
                bytes.append(byte)
            }
            bytes.append(0x22)
        default:
            var writer = JSONWriter(appendingTo: bytes)
            bytes = []
            writer.value(cell)
            bytes = writer.bytes
        }
    }
}

/// An export as one text, read a page at a time while it is sent.
final class ExportText: APIAnswer.Stream {
    typealias Format = RowLines.Format

    private let lines: RowLines
    private let log: EventLog
    private let state: Mutex<State>

    private struct State {
        var reader: ExportReader
        var isBegun = false
    }

    private static let rowsAtOnce = 500

    init(_ reader: ExportReader, of log: EventLog, _ format: Format) {
        self.log = log
        lines = RowLines(reader.table, format)
        state = Mutex(State(reader: reader))
    }

    var mediaType: String { lines.format == .csv ? "text/csv; charset=utf-8; header=present" : "application/jsonl" }

    func next() throws -> [UInt8]? {
        try state.withLock { state in
            var bytes: [UInt8] = state.isBegun ? [] : lines.header
            state.isBegun = true
            while bytes.isEmpty {
                if state.reader.isAtEnd { return nil }
                var json = JSONWriter()
                json.beginArray()
                try log.withReader { log in _ = try state.reader.read(limit: Self.rowsAtOnce, log, to: &json) }
                json.endArray()
                guard case .array(let rows) = try JSON.parse(json.bytes, maxDepth: 100) else { return nil }
                for row in rows { lines.write(row, to: &bytes) }
            }
            return bytes
        }
    }
}

extension RowLines.Format {
    /// Reads the parameter `format`.
    init(parameter text: String) throws {
        guard let format = Self(rawValue: text) else {
            throw APIError.invalid(
                "format", "must be jsonl or csv", remedy: "`profilecli export --format sqlite` writes SQLite.")
        }
        self = format
    }
}
