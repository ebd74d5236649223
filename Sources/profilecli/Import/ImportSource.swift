internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// The input of an import: lines, or by a map the rows of a table or of another shape of JSON.
struct ImportSource: Sendable {
    var map: ImportMap?
    var delimiter: ImportMap.Delimiter?

    /// Reads records one by one, in the shape that the first of them shows.
    struct Records {
        let reader: LineReader
        private let delimiter: ImportMap.Delimiter?
        private(set) var rows: ImportRows?
        /// The lines before the first record, as a header: how many, and their bytes.
        private(set) var header: (lines: Int, bytes: Int) = (0, 0)

        init(_ source: ImportSource, _ input: InputFile) throws {
            reader = LineReader(input)
            guard let map = source.map else {
                delimiter = nil
                return
            }
            var bytes: [UInt8] = []
            var lines = 0
            // Blank lines before a header belong to no row.
            while try reader.withNextLine({ bytes = Array($0) }) {
                lines += 1
                if lines == 1, bytes.starts(with: ImportChunker.byteOrderMark) {
                    bytes.removeFirst(ImportChunker.byteOrderMark.count)
                }
                if bytes.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) { break }
                header.lines += 1
                header.bytes += bytes.count + 1
                lines = 0
                bytes = []
            }
            try Self.refuseOther(bytes, input.name)
            if bytes.first(where: { $0 != 0x20 && $0 != 0x09 }) == UInt8(ascii: "{") {
                delimiter = nil
                rows = ImportRows(objects: map)
                reader.takeBack(bytes.count)
                return
            }
            let told = CSVRecord.delimiter(toldBy: bytes)
            if told != nil {
                header.lines += 1
                header.bytes += bytes.count + 1
                bytes = []
                _ = try reader.withNextLine { bytes = Array($0) }
            }
            let separator =
                source.delimiter ?? map.delimiter ?? told ?? bytes.withUnsafeBytes(CSVRecord.delimiter(ofHeader:))
            delimiter = separator
            guard !bytes.isEmpty else { return }
            var names = map.header
            if names == nil || map.skipsHeader {
                // A name of a column may have a line feed in quotes.
                var quotes = CSVRecord.Quotes(separator)
                var count = 1
                while !bytes.withUnsafeBytes({ quotes.isClosed(after: $0) }) {
                    var more: [UInt8] = []
                    guard try reader.withNextLine({ more = Array($0) }) else { break }
                    bytes += [0x0A] + more
                    count += 1
                    quotes = CSVRecord.Quotes(separator)
                }
                header.lines += count
                header.bytes += bytes.count + 1
                names = names ?? bytes.withUnsafeBytes { CSVRecord.fields($0, separator) }
            } else {
                reader.takeBack(bytes.count)
            }
            do throws(ImportMapError) {
                rows = try ImportRows(table: map, header: names ?? [], separator)
            } catch {
                throw CommandError(error.message, remedy: error.remedy, status: .usage)
            }
        }

        /// Refuses a file that begins with `line`, if it is neither a table nor lines of JSON.
        static func refuseOther(_ line: [UInt8], _ name: String) throws(CommandError) {
            if line.first(where: { $0 != 0x20 && $0 != 0x09 }) == UInt8(ascii: "[") {
                throw CommandError(
                    "\(name) is one JSON array, and not an object a line.",
                    remedy: "Let `jq -c '.[]' \(Shell.quoted(name))` write its elements as lines.", status: .usage)
            }
            guard line.withUnsafeBytes(CSVRecord.isText) else {
                throw CommandError(
                    "\(name) is no text in UTF-8.",
                    remedy: "Convert it, as with `iconv -f latin1 -t utf8`; save a spreadsheet as CSV in UTF-8.",
                    status: .usage)
            }
        }

        /// Calls `body` with the next record and the number of its lines, or with the next line and why it begins no
        /// record. False at the end.
        func withNext(_ body: (UnsafeRawBufferPointer, Int, _ error: String?) throws -> Void) throws -> Bool {
            guard let delimiter else { return try reader.withNextLine { try body($0, 1, nil) } }
            var quotes = CSVRecord.Quotes(delimiter)
            return try reader.withNext(
                isWhole: { quotes.isClosed(after: $0) },
                isRecord: { quotes.areClear && (rows?.hasFieldsOfHeader($0) ?? true) }
            ) { record, lines in
                try body(record, max(1, lines), lines > 0 ? nil : Self.openQuote)
            }
        }

        private static let openQuote =
            "a quote that opens in it is not closed in its record; a quote inside of a field is written twice"
    }
}
