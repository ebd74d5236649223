internal import ProfileLogRequests

/// A map from rows of another shape to events: which column holds the user, the time, and so on (docs/import.md).
package struct ImportMap: Sendable {
    /// The columns that it reads, each once: the others are numbers of these.
    var columns: [String] = []
    /// The names of the columns of a table without a header.
    package var header: [String]?
    /// Tells whether the first record is a header although `header` names the columns.
    package var skipsHeader = false
    /// The separator of the fields of a table; nil if the header tells.
    package var delimiter: Delimiter?
    /// Texts that mean that there is no value.
    var missing: Set<String> = []
    var user = Source()
    var time: Source?
    var recorded: Source?
    var id: Source?
    var entries: [Entry] = []

    /// The source of a value.
    struct Source: Sendable {
        /// The columns; the first that has a value counts.
        var columns: [Int] = []
        /// The value without one, or without columns.
        var fallback: AttributeValue?
        var type = Kind.any
        /// The sign before the decimals of numbers: the other sign groups digits. Nil if the map does not say.
        var decimalSign: Character?
        var form = TimeForm()
    }

    /// The type that the text of a column is taken for.
    enum Kind: String, CaseIterable, Sendable {
        /// A number, a truth value or text, as it reads.
        case any, text, number, integer, bool, time, json
    }

    /// Properties or attributes.
    enum Bag: Sendable {
        /// Members in ascending order of their names.
        case named([(name: Name, source: Source)])
        /// The members of the object in this column, without those that are read elsewhere.
        case members(of: Int, except: Set<Name>)
        /// Every column that is not read elsewhere.
        case rest
    }

    /// The entry of a row, if it fits.
    struct Entry: Sendable {
        /// The texts of columns of which each must have one.
        var when: [(column: Int, texts: Set<String>)] = []
        var event: Source?
        var product: Source?
        var price = Source(type: .number)
        var quantity: Source?
        var currency = Source()
        /// Properties of the event or the purchase.
        var properties: Bag?
        var attributes: Bag?
        var userAttributes: [(attribute: StandardAttribute, source: Source)] = []
    }

    /// The separator of the fields of a table.
    package enum Delimiter: Hashable, Sendable {
        case byte(UInt8)
        /// One or more blanks or tabs.
        case blanks

        /// `;`, `tab`, `space`.
        package init?(_ text: String) {
            switch text {
            case "tab", "\t", "\\t": self = .byte(0x09)
            case "space", " ": self = .blanks
            default:
                guard let byte = text.utf8.first, text.utf8.count == 1, 0x21..<0x7F ~= byte, byte != 0x22 else {
                    return nil
                }
                self = .byte(byte)
            }
        }
    }
}

/// Rows of another shape, each read as lines of an import by a map.
package struct ImportRows: Sendable {
    /// The values of a row: lines in short forms, all under its ID.
    struct Row {
        var id: String?
        var lines: [[AttributeValue.Member]]
    }

    private let map: ImportMap
    /// The delimiter of a table, and for each column of the map its place; nil for lines of JSON.
    private let table: (delimiter: ImportMap.Delimiter, header: [String], places: [Int])?
    /// The path of each column in lines of JSON.
    private let paths: [[Name]]
    /// Places of a table, or keys of an object, that the map reads.
    private let read: Set<String>

    /// Rows that are objects of JSON.
    package init(objects map: ImportMap) {
        self.map = map
        table = nil
        paths = map.columns.map { $0.split(separator: ".").map { Name(String($0)) } }
        read = Set(map.columns)
    }

    /// Rows of a table with the columns `header`. Throws for a column of the map that it lacks.
    package init(table map: ImportMap, header: [String], _ delimiter: ImportMap.Delimiter) throws(ImportMapError) {
        var seen: Set<String> = []
        if let twice = header.first(where: { !$0.isEmpty && !seen.insert($0).inserted }) {
            throw ImportMapError(twice: twice)
        }
        var places: [Int] = []
        for column in map.columns {
            guard let place = header.firstIndex(of: column) else {
                throw ImportMapError(missing: column, among: header)
            }
            places.append(place)
        }
        self.map = map
        table = (delimiter, header, places)
        paths = []
        read = Set(map.columns)
    }

    /// Tells whether a record of a table has as many fields as its header. Some writers end each row with a delimiter.
    package func hasFieldsOfHeader(_ record: UnsafeRawBufferPointer) -> Bool {
        guard let table else { return true }
        let fields = CSVRecord.fields(record, table.delimiter)
        return fields.count >= table.header.count && fields.dropFirst(table.header.count).allSatisfy(\.isEmpty)
    }

    /// The row as lines; nil if no entry of the map fits.
    func read(_ text: UnsafeRawBufferPointer) throws(ImportLine.Refusal) -> Row? {
        try Reading(self, text).row()
    }

    /// One row that is being read.
    private struct Reading {
        let rows: ImportRows
        var fields: [String] = []
        var object = AttributeValue.null

        private var map: ImportMap { rows.map }

        init(_ rows: ImportRows, _ text: UnsafeRawBufferPointer) throws(ImportLine.Refusal) {
            self.rows = rows
            if let table = rows.table {
                guard CSVRecord.isText(text) else {
                    throw .init("it is no text in UTF-8: convert the file, as with `iconv -f latin1 -t utf8`")
                }
                fields = CSVRecord.fields(text, table.delimiter)
                // Some writers end each row with a delimiter.
                guard fields.dropFirst(table.header.count).allSatisfy(\.isEmpty) else {
                    throw .init("it has \(fields.count) fields, and the header has \(table.header.count)")
                }
                fields = Array(fields.prefix(table.header.count))
                // A row that is cut short would lack values without a word.
                guard fields.count == table.header.count else {
                    throw .init("it has only \(fields.count) of \(table.header.count) fields")
                }
                return
            }
            do throws(JSONError) {
                object = try JSON.parse(text)
            } catch {
                throw .init("it is no valid JSON at byte \(error.offset): \(error.kind)")
            }
            guard case .object = object else { throw .init("it is no JSON object") }
        }

        // MARK: - Values

        /// The value of a column as it is; nil if it has none.
        private func raw(_ column: Int) -> AttributeValue? {
            if let table = rows.table { return raw(field: table.places[column]) }
            // A key may have dots.
            let whole = object[Name(map.columns[column])]
            var value = whole ?? object
            if whole == nil {
                for key in rows.paths[column] {
                    guard let next = value[key] else { return nil }
                    value = next
                }
            }
            switch value {
            case .null: return nil
            case .string(let text) where text.isEmpty || map.missing.contains(text): return nil
            default: return value
            }
        }

        private func raw(field: Int) -> AttributeValue? {
            let text = fields[field]
            return text.isEmpty || !map.missing.isEmpty && map.missing.contains(text) ? nil : .string(text)
        }

        private func value(_ source: ImportMap.Source) throws(ImportLine.Refusal) -> AttributeValue? {
            for column in source.columns {
                guard let raw = raw(column) else { continue }
                guard let value = Self.value(raw, source, isCell: rows.table != nil) else {
                    let isUnclear = source.type == .number && source.decimalSign == nil && raw.hasComma
                    throw .init(
                        "`\(map.columns[column])` is no \(source.type.words)"
                            + (isUnclear ? "; `decimal` of the map can say what its commas are" : ""))
                }
                return value
            }
            return source.fallback
        }

        private func text(_ source: ImportMap.Source, _ what: String) throws(ImportLine.Refusal) -> AttributeValue {
            switch try value(source) {
            case .string(let text): return .string(text)
            case .int(let number): return .string("\(number)")
            case .bool(let flag): return .string("\(flag)")
            case .double(let number): return .string("\(number)")
            case nil: throw .init("it has no \(what): \(names(source)) is empty")
            default: throw .init("\(names(source)) must be text: it is the \(what)")
            }
        }

        private func names(_ source: ImportMap.Source) -> String {
            source.columns.map { "`\(map.columns[$0])`" }.joined(separator: " or ")
        }

        /// `raw` as the source says; nil if it is something else.
        static func value(
            _ raw: AttributeValue, _ source: ImportMap.Source, isCell: Bool
        ) -> AttributeValue? {
            switch (source.type, raw) {
            case (.any, .string(let text)) where isCell: return CellText.value(text)
            case (.any, _): return raw
            case (.text, .string): return raw
            case (.text, .array), (.text, .object): return nil
            case (.text, _): return .string(raw.json)
            case (.number, .int), (.number, .double), (.integer, .int), (.bool, .bool): return raw
            case (.number, .string(let text)): return CellText.amount(text, decimalSign: source.decimalSign)
            case (.integer, .string(let text)):
                return Int64(text.trimmed).map { .int($0) }
                    ?? Double(text).flatMap { Int64(exactly: $0) }.map { .int($0) }
            case (.integer, .double(let number)): return Int64(exactly: number).map { .int($0) }
            case (.bool, .string(let text)): return CellText.flag(text)
            case (.bool, .int(let number)) where 0...1 ~= number: return .bool(number == 1)
            case (.time, _):
                guard let text = source.form.text(raw), let time = OccurredAt(iso8601: text) else { return nil }
                return AttributeValue.object([.init("$time", .string(Timestamp.text(time)))])
            case (.json, .string(let text)): return try? JSON.parse(Array(text.utf8))
            case (.json, _): return raw
            default: return nil
            }
        }

        private func time(_ source: ImportMap.Source?) throws(ImportLine.Refusal) -> AttributeValue? {
            guard let source else { return nil }
            for column in source.columns {
                guard let raw = raw(column) else { continue }
                guard let text = source.form.text(raw) else {
                    throw .init("`\(map.columns[column])` is no time in the map's `format`, or else ISO 8601")
                }
                return .string(text)
            }
            return source.fallback
        }

        private func members(_ bag: ImportMap.Bag?) throws(ImportLine.Refusal) -> [AttributeValue.Member]? {
            switch bag {
            case nil: return nil
            case .named(let sources)?:
                var members: [AttributeValue.Member] = []
                members.reserveCapacity(sources.count)
                for (name, source) in sources {
                    if let value = try value(source) { members.append(.init(name, value)) }
                }
                return members
            case .members(let column, let except)?:
                guard var raw = raw(column) else { return [] }
                if case .string(let text) = raw, let object = try? JSON.parse(Array(text.utf8)) { raw = object }
                guard case .object(let members) = raw else {
                    throw .init("`\(map.columns[column])` is no JSON object")
                }
                return members.filter { $0.value != .null && !except.contains($0.key) }
            case .rest?:
                guard let table = rows.table else {
                    guard case .object(let members) = object else { return [] }
                    return members.filter { $0.value != .null && !rows.read.contains($0.key.text) }
                }
                var members: [AttributeValue.Member] = []
                // A column without a name is the number of the row, as some writers have it.
                for (place, name) in table.header.enumerated() where !name.isEmpty && !rows.read.contains(name) {
                    guard case .string(let text)? = raw(field: place) else { continue }
                    members.append(.init(Name(name), CellText.value(text)))
                }
                return members.sorted { $0.key < $1.key }
            }
        }

        // MARK: - Lines

        func row() throws(ImportLine.Refusal) -> Row? {
            guard let entry = map.entries.first(where: fits) else { return nil }
            let user = try text(map.user, "user")
            let (time, recorded) = (try time(map.time), try time(map.recorded))
            var row = Row(id: nil, lines: [])
            if let id = map.id, case .string(let text) = try text(id, "ID") { row.id = text }
            func add(_ kind: String, _ parts: [AttributeValue.Member]) {
                var members = parts + [.init("kind", .string(kind)), .init("user", user)]
                if let time { members.append(.init("time", time)) }
                if let recorded { members.append(.init("recorded_at", recorded)) }
                members.sort { $0.key < $1.key }
                row.lines.append(members)
            }
            let properties =
                try members(entry.properties).flatMap { $0.isEmpty ? nil : $0 }
                .map { [AttributeValue.Member("properties", .object($0))] } ?? []
            if let event = entry.event {
                add("custom_event", properties + [.init("name", try text(event, "name of the event"))])
            }
            if let product = entry.product {
                var parts: [AttributeValue.Member] = entry.event == nil ? properties : []
                parts.append(.init("product_id", try text(product, "product")))
                parts.append(.init("currency", try text(entry.currency, "currency")))
                guard let price = try value(entry.price) else {
                    throw .init("it has no price: \(names(entry.price)) is empty")
                }
                for (price, quantity) in try purchases(price, entry.quantity.flatMap(value)) {
                    let quantity = quantity.map { [AttributeValue.Member("quantity", $0)] } ?? []
                    add("purchase", parts + [.init("price", price)] + quantity)
                }
            }
            if let attributes = try members(entry.attributes), !attributes.isEmpty {
                add("custom_attribute", [.init("attributes", .object(attributes))])
            }
            for (attribute, source) in entry.userAttributes {
                guard let value = try value(source) else { continue }
                add("user_attribute", [.init("attribute", .string(attribute.name)), .init("value", value)])
            }
            return row
        }

        /// The purchases that a row is: of 100 pieces at most each, and at a negative price if the pieces are negative,
        /// as those of a return are.
        private func purchases(
            _ price: AttributeValue, _ quantity: AttributeValue?
        ) throws(ImportLine.Refusal) -> [(price: AttributeValue, quantity: AttributeValue?)] {
            guard case .int(let count)? = quantity, !(0...100 ~= count) else { return [(price, quantity)] }
            guard count.magnitude <= Self.mostPieces else {
                throw .init("its quantity is beyond \(Self.mostPieces) either way")
            }
            let price = count < 0 ? price.negated : price
            let pieces = Int64(count.magnitude)
            let full = Array(repeating: (price, AttributeValue?.some(.int(100))), count: Int(pieces / 100))
            return pieces % 100 == 0 ? full : full + [(price, .int(pieces % 100))]
        }

        private static let mostPieces = 100_000

        private func fits(_ entry: ImportMap.Entry) -> Bool {
            entry.when.allSatisfy { column, texts in
                switch raw(column) {
                case .string(let text)?: texts.contains(text)
                case .int(let number)?: texts.contains("\(number)")
                case .bool(let flag)?: texts.contains("\(flag)")
                default: false
                }
            }
        }
    }
}

extension AttributeValue {
    fileprivate var hasComma: Bool { if case .string(let text) = self { text.utf8.contains(0x2C) } else { false } }

    fileprivate var negated: AttributeValue {
        switch self {
        case .int(let number) where number != .min: .int(-number)
        case .double(let number): .double(-number)
        default: self
        }
    }
}

extension ImportMap.Kind {
    fileprivate var words: String {
        switch self {
        case .any: "value"
        case .text: "text"
        case .number: "number"
        case .integer: "whole number"
        case .bool: "truth value"
        case .time: "time in the format that the map names"
        case .json: "JSON"
        }
    }
}

extension Timestamp {
    fileprivate static func text(_ time: OccurredAt) -> String {
        time.timestamp.rfc3339(utcOffsetMinutes: time.utcOffsetMinutes)
    }
}

/// The kind of text in a cell.
enum CellText {
    /// A number in its plain form, `true` or `false`, and else text: `007`, `+1` and `1e5` are text.
    static func value(_ text: String) -> AttributeValue {
        guard let first = text.utf8.first else { return .string(text) }
        switch first {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            return isPlainNumber(text) ? number(text) ?? .string(text) : .string(text)
        case UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "f"), UInt8(ascii: "F"):
            return text.utf8.count <= 5 ? flag(text) ?? .string(text) : .string(text)
        default: return .string(text)
        }
    }

    /// Digits without a leading zero, with a point and more digits or without.
    private static func isPlainNumber(_ text: String) -> Bool {
        var digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard let first = digits.popFirst(), 48...57 ~= first else { return false }
        if first == 48, let next = digits.first, next != UInt8(ascii: ".") { return false }
        var points = 0
        for byte in digits {
            if byte == UInt8(ascii: ".") { points += 1 } else if !(48...57 ~= byte) { return false }
        }
        return points == 0 ? text.utf8.count <= 19 : points == 1 && digits.last != UInt8(ascii: ".")
    }

    /// A number with grouped digits, or next to the sign of a currency: `1.234,50`, `$1,234.50`. `decimalSign`
    /// separates its decimals. Without one, a comma groups digits where a point follows it, and else is unclear.
    static func amount(_ text: String, decimalSign: Character?) -> AttributeValue? {
        if let plain = number(text), decimalSign != "," { return plain }
        var signs = text.filter { !" \u{A0}\u{202F}'".contains($0) }
        signs.removeAll { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory == .currencySymbol } }
        switch decimalSign {
        case ",": signs = String(signs.filter { $0 != "." }.map { $0 == "," ? "." : $0 })
        case ".": signs.removeAll { $0 == "," }
        default:
            if let comma = signs.lastIndex(of: ",") {
                guard let point = signs.firstIndex(of: "."), comma < point else { return nil }
                signs.removeAll { $0 == "," }
            }
        }
        return number(signs)
    }

    private static func number(_ text: String) -> AttributeValue? {
        if let integer = Int64(text) { return .int(integer) }
        guard let number = Double(text), number.isFinite else { return nil }
        return .double(number)
    }

    static func flag(_ text: String) -> AttributeValue? {
        switch text {
        case "true", "True", "TRUE", "1": .bool(true)
        case "false", "False", "FALSE", "0": .bool(false)
        default: nil
        }
    }
}

extension String {
    fileprivate var trimmed: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}

/// A record of a table (RFC 4180).
package enum CSVRecord {
    /// Tells whether `record` is text in UTF-8: a table in another encoding, or another kind of file, is not.
    package static func isText(_ record: UnsafeRawBufferPointer) -> Bool {
        if record.allSatisfy({ 0 < $0 && $0 < 0x80 }) { return true }
        return !record.contains(0) && String(validating: record, as: UTF8.self) != nil
    }

    /// The fields of `record`, without its line end. A field in quotes may have delimiters, line ends and doubled
    /// quotes.
    package static func fields(_ record: UnsafeRawBufferPointer, _ delimiter: ImportMap.Delimiter) -> [String] {
        var bytes = record[...]
        if bytes.last == 0x0D { bytes = bytes.dropLast() }
        guard case .byte(let separator) = delimiter else {
            return bytes.split { $0 == 0x20 || $0 == 0x09 }.map { String(decoding: $0, as: UTF8.self) }
        }
        var fields: [String] = []
        var next = bytes.startIndex
        let end = bytes.endIndex
        while true {
            if next < end, record[next] == 0x22 {
                next = readQuoted(record, next + 1, end, to: &fields)
                // What follows the closing quote belongs to the field, as some writers have it.
                let begin = next
                while next < end, record[next] != separator { next += 1 }
                if next > begin { fields[fields.count - 1] += String(decoding: record[begin..<next], as: UTF8.self) }
            } else {
                let begin = next
                while next < end, record[next] != separator { next += 1 }
                fields.append(String(decoding: UnsafeRawBufferPointer(rebasing: record[begin..<next]), as: UTF8.self))
            }
            if next >= end { return fields }
            next += 1
        }
    }

    private static func readQuoted(
        _ record: UnsafeRawBufferPointer, _ begin: Int, _ end: Int, to fields: inout [String]
    ) -> Int {
        var text: [UInt8] = []
        var next = begin
        while next < end {
            if record[next] == 0x22 {
                guard next + 1 < end, record[next + 1] == 0x22 else {
                    next += 1
                    break
                }
                next += 1
            }
            text.append(record[next])
            next += 1
        }
        fields.append(String(decoding: text, as: UTF8.self))
        return next
    }

    /// Reads a first line as `sep=;`, which is there for spreadsheets; nil for other lines.
    package static func delimiter(toldBy line: [UInt8]) -> ImportMap.Delimiter? {
        let text = line.last == 0x0D ? line.dropLast() : line[...]
        guard text.count == 5, let sign = text.last, text.starts(with: "sep=".utf8) else { return nil }
        return .byte(sign)
    }

    /// Finds the separator of the fields of a header: of comma, semicolon, tab and bar the one that occurs most.
    package static func delimiter(ofHeader record: UnsafeRawBufferPointer) -> ImportMap.Delimiter {
        var counts: [UInt8: Int] = [:]
        var isQuoted = false
        for byte in record {
            if byte == 0x22 { isQuoted.toggle() } else if !isQuoted { counts[byte, default: 0] += 1 }
        }
        let candidates = ",;\t|".utf8
        return .byte(candidates.max { counts[$0, default: 0] < counts[$1, default: 0] } ?? 0x2C)
    }

    /// The quotes of a record so far. They tell whether it goes on after a line that ends here: one of them is open.
    package struct Quotes {
        private var isOpen = false
        private var isFieldStart = true
        private var mayClose = false
        private let separator: UInt8
        /// Tells whether a separator or the end follows each closing quote. Where it does not, an earlier quote was
        /// perhaps a sign of its field, and no opening one.
        package private(set) var areClear = true

        package init(_ delimiter: ImportMap.Delimiter) {
            separator = if case .byte(let byte) = delimiter { byte } else { 0x20 }
        }

        /// Takes the next line of the record, and says whether the record ends with it.
        package mutating func isClosed(after line: UnsafeRawBufferPointer) -> Bool {
            if !isOpen, !line.contains(0x22) { return true }
            for byte in line {
                if isOpen {
                    if mayClose {
                        mayClose = false
                        if byte == 0x22 { continue }
                        if byte != separator, byte != 0x0D { areClear = false }
                        isOpen = false
                        isFieldStart = byte == separator
                    } else {
                        mayClose = byte == 0x22
                    }
                } else if isFieldStart, byte == 0x22 {
                    isOpen = true
                    isFieldStart = false
                } else {
                    isFieldStart = byte == separator
                }
            }
            if mayClose { (isOpen, mayClose) = (false, false) }
            return !isOpen
        }
    }

}

/// The reason why a map does not fit a file.
package struct ImportMapError: Error {
    /// The error, in a sentence.
    package let message: String
    /// The next step.
    package let remedy: String

    fileprivate init(missing column: String, among header: [String]) {
        message = "The file has no column `\(column)`, which the map reads."
        let guess =
            NearestNames(to: column, among: header).question() ?? "Its columns are \(header.joined(separator: ", "))."
        remedy = "\(guess) A constant is written as `{value: …}`."
    }

    fileprivate init(twice column: String) {
        message = "The header names the column `\(column)` twice."
        remedy = "Name all columns in the map, with `columns: […]` and `skip_header: true`."
    }
}
