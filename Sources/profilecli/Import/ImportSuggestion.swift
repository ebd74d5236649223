internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// A map for a file, guessed from the names of its columns and its first rows, as text to be corrected.
struct ImportSuggestion {
    /// The columns in the order of the file, with some of their texts.
    private var columns: [(name: String, texts: [String])] = []
    /// The objects of JSON: columns that hold objects.
    private var objects: [String] = []
    private let isTable: Bool
    private let delimiter: ImportMap.Delimiter?
    private let file: String

    private static let rowsRead = 1_000
    private static let textsKept = 200

    init(_ input: InputFile, file: String, delimiter: ImportMap.Delimiter?) throws {
        self.file = file
        let reader = LineReader(input)
        var header: [UInt8] = []
        while header.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) {
            guard try reader.withNextLine({ header = Array($0) }) else { break }
            if header.starts(with: ImportChunker.byteOrderMark) {
                header.removeFirst(ImportChunker.byteOrderMark.count)
            }
        }
        guard !header.isEmpty else {
            throw CommandError("\(input.name) is empty.", remedy: "Name a file with a header or lines of JSON.")
        }
        try ImportSource.Records.refuseOther(header, input.name)
        isTable = header.first != UInt8(ascii: "{")
        if isTable {
            let told = CSVRecord.delimiter(toldBy: header)
            if told != nil { _ = try reader.withNextLine { header = Array($0) } }
            let separator = delimiter ?? told ?? header.withUnsafeBytes(CSVRecord.delimiter(ofHeader:))
            self.delimiter = delimiter
            columns = header.withUnsafeBytes { CSVRecord.fields($0, separator) }.map { ($0, []) }
            for _ in 0..<Self.rowsRead {
                var quotes = CSVRecord.Quotes(separator)
                let goesOn = try reader.withNext(isWhole: { quotes.isClosed(after: $0) }) { record, _ in
                    let fields = CSVRecord.fields(record, separator)
                    for (place, text) in zip(columns.indices, fields) { note(text, place) }
                }
                if !goesOn { break }
            }
        } else {
            self.delimiter = nil
            take(header)
            for _ in 0..<Self.rowsRead {
                guard try reader.withNextLine({ take(Array($0)) }) else { break }
            }
        }
    }

    private mutating func note(_ text: String, _ place: Int) {
        if !text.isEmpty, columns[place].texts.count < Self.textsKept { columns[place].texts.append(text) }
    }

    private mutating func take(_ line: [UInt8]) {
        guard let object = try? JSON.parse(line) else { return }
        for member in object.members {
            let name = member.key.text
            if case .object(let inner) = member.value {
                if !objects.contains(name) { objects.append(name) }
                for part in inner { take("\(name).\(part.key.text)", part.value) }
            } else {
                take(name, member.value)
            }
        }
    }

    private mutating func take(_ name: String, _ value: AttributeValue) {
        let place = columns.firstIndex { $0.name == name } ?? columns.count
        if place == columns.count { columns.append((name, [])) }
        note(value.cell, place)
    }

    // MARK: - Guesses

    private static let users = [
        "userid", "customerid", "distinctid", "externalid", "visitorid", "memberid", "clientid", "accountid", "buyerid",
        "personid", "user", "customer", "custid", "uid", "email", "domainuserid", "anonymousid", "userpseudoid",
    ]
    private static let times = [
        "eventtime", "timestamp", "originaltimestamp", "occurredat", "createdat", "orderdate", "invoicedate",
        "paidat", "purchasedate", "orderpurchasetimestamp", "derivedtstamp", "collectortstamp", "dvcecreatedtstamp",
        "eventtimestamp", "datetime", "time", "date", "ts", "day",
    ]
    private static let names = ["event", "eventname", "eventtype", "action", "activity", "behavior"]
    private static let ids = ["messageid", "insertid", "eventid", "uuid", "dedupid"]
    private static let prices = [
        "price", "unitprice", "amount", "revenue", "orderamount", "total", "totalprice", "value",
    ]
    private static let products = [
        "productid", "product", "sku", "itemid", "item", "stockcode", "productname", "orderid", "invoiceno", "invoice",
    ]
    private static let quantities = ["quantity", "qty", "units"]
    private static let purchaseWords: Set<String> = [
        "purchase", "purchased", "transaction", "buy", "order", "ordercompleted", "orderplaced",
    ]

    /// Letters and digits of the last part of a name.
    private static func bare(_ name: String) -> String {
        let last = name.split(separator: ".").last.map(String.init) ?? name
        return last.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    /// The columns of which the names are among `words`, in the order of the words.
    private func found(_ words: [String]) -> [String] {
        words.flatMap { word in
            columns.filter { Self.bare($0.name) == word }.map(\.name)
                .sorted { $0.utf8.count { $0 == 0x2E } < $1.utf8.count { $0 == 0x2E } }
        }
    }

    private func texts(_ column: String) -> [String] { columns.first { $0.name == column }?.texts ?? [] }

    /// The map, with comments where it has to be looked at.
    func lines() -> [String] {
        var lines = ["# A map for \(file.oneLine), guessed from its first rows: look at it before you use it."]
        if case .byte(let byte)? = delimiter {
            lines.append("delimiter: \(byte == 9 ? "tab" : "\"\(Character(Unicode.Scalar(byte)))\"")")
        } else if delimiter != nil {
            lines.append("delimiter: space")
        }
        var users = Array(found(Self.users).prefix(1))
        // Someone who has no ID yet has an anonymous one.
        if let anonymous = found(["anonymousid", "userpseudoid", "domainuserid"]).first, users != [anonymous] {
            users.append(anonymous)
        }
        lines.append("user: \(users.isEmpty ? "COLUMN   # whose row it is" : Self.list(users))")
        let time = found(Self.times).first
        lines.append(
            time.map { "time: \(form(of: $0))" } ?? "# time: COLUMN   # when it happened; else, when it is imported")
        // An ID that occurs twice in the first rows may be that of an order with several lines.
        let id = found(Self.ids).first { Set(texts($0)).count == texts($0).count || Self.bare($0) != "uuid" }
        lines.append(
            id.map { "id: \(Self.quoted($0))   # a row whose ID was stored before is skipped" }
                ?? "# id: COLUMN   # a row whose ID was stored before is skipped")
        return lines + entries()
    }

    private func entries() -> [String] {
        let event = found(Self.names).first
        let price = found(Self.prices).first
        let product = found(Self.products).first
        let properties = ["properties", "event_properties"].first(where: objects.contains) ?? "\"*\""
        if let type = columns.first(where: { $0.name == "type" }), let event, Set(type.texts).contains("identify") {
            let traits = objects.contains("traits") ? "traits" : objects.contains("context") ? "context" : "\"*\""
            let views = ["page", "screen"].filter(Set(type.texts).contains)
            return [
                "rows:", "  - when: {type: track}", "    event: \(Self.quoted(event))", "    properties: \(properties)",
                "  - when: {type: identify}", "    attributes: \(traits)",
            ] + standardAttributes(in: traits).map { "    " + $0 }
                + views.flatMap {
                    [
                        "  # - when: {type: \($0)}", "  #   event: {value: \($0) viewed}",
                        "  #   properties: \(properties)",
                    ]
                }
        }
        guard let event else {
            guard let price else {
                return ["attributes: \"*\"   # every other column; or event: and properties:"]
                    + standardAttributes(in: "\"*\"")
            }
            return ["purchase:"] + purchase(price, product).map { "  " + $0 }
        }
        let words = Set(texts(event)).filter { Self.purchaseWords.contains(Self.bare($0)) }.sorted()
        guard let price, let product, !words.isEmpty else {
            return ["event: \(Self.quoted(event))", "properties: \(properties)"]
        }
        return ["rows:", "  - when: {\(Self.quoted(event)): \(Self.list(words))}", "    purchase:"]
            + purchase(price, product).map { "      " + $0 }
            + ["  - event: \(Self.quoted(event))", "    properties: \(properties)"]
    }

    /// The columns of an object, or of a table, that are standard attributes and not the user.
    private func standardAttributes(in object: String) -> [String] {
        let found = [("email", "email"), ("firstname", "first_name"), ("lastname", "last_name")].compactMap {
            (bare, attribute) -> String? in
            let column = columns.first { column in
                let isThere = object == "\"*\"" ? !column.name.contains(".") : column.name.hasPrefix(object + ".")
                return isThere && Self.bare(column.name) == bare && self.found(Self.users).first != column.name
            }
            return column.map { "\(attribute): \(Self.quoted($0.name))" }
        }
        return found.isEmpty ? [] : ["user_attributes: {\(found.joined(separator: ", "))}"]
    }

    private func purchase(_ price: String, _ product: String?) -> [String] {
        let currency = found(["currency", "currencycode"]).first
        // An amount is for the whole row, a price for one piece.
        let isTotal = !["price", "unitprice"].contains(Self.bare(price))
        let quantity = isTotal ? nil : found(Self.quantities).first
        let hasComma = texts(price).contains {
            $0.contains(",") && !($0.split(separator: ",").last ?? "").contains(".")
        }
        return [
            product.map { "product: \(Self.quoted($0))" } ?? "product: {value: order}   # the same for each row",
            hasComma ? "price: {column: \(Self.quoted(price)), decimal: \",\"}" : "price: \(Self.quoted(price))",
        ] + (quantity.map { ["quantity: \(Self.quoted($0))"] } ?? []) + [
            currency.map { "currency: \(Self.quoted($0))" } ?? "currency: {value: USD}   # of every row",
            "properties: \"*\"",
        ]
    }

    /// The column of times, with their form if it is not the standard one.
    private func form(of column: String) -> String {
        let texts = texts(column)
        guard let first = texts.first else { return Self.quoted(column) }
        if texts.allSatisfy({ Double($0) != nil && $0.utf8.count != 8 && $0.utf8.count >= 9 }) {
            return "{column: \(Self.quoted(column)), format: epoch}"
        }
        if texts.allSatisfy({ $0.utf8.count == 8 && $0.utf8.allSatisfy { 48...57 ~= $0 } }) {
            return "{column: \(Self.quoted(column)), format: yyyymmdd}"
        }
        let separators = first.filter { "/.-".contains($0) }
        guard let sign = separators.first, let parts = Self.dayParts(texts, sign) else {
            let format = Self.format(of: texts)
            return format.map { "{column: \(Self.quoted(column)), format: \"\($0)\"}" } ?? Self.quoted(column)
        }
        let hasTime = first.contains(":")
        let clock = !hasTime ? "" : first.filter { $0 == ":" }.count == 2 ? " hh:mm:ss" : " hh:mm"
        let half = first.lowercased().hasSuffix("am") || first.lowercased().hasSuffix("pm") ? " am" : ""
        func text(_ order: [String]) -> String { "\"\(order.joined(separator: String(sign)))\(clock)\(half)\"" }
        let (day, month) = (parts.first > 12, parts.second > 12)
        let column = Self.quoted(column)
        let year = parts.yearDigits == 4 ? "yyyy" : "yy"
        if day { return "{column: \(column), format: \(text(["dd", "mm", year]))}" }
        if month { return "{column: \(column), format: \(text(["mm", "dd", year]))}" }
        return "{column: \(column), format: CHOOSE}   # \(text(["dd", "mm", year])) or \(text(["mm", "dd", year])): "
            + "the first rows fit both"
    }

    /// The pattern of times that is unambiguous and not ISO 8601, if it fits all of them.
    private static func format(of texts: [String]) -> String? {
        if texts.allSatisfy({ OccurredAt(iso8601: $0) != nil }) { return nil }
        let days = [
            "yyyy/mm/dd", "yyyy.mm.dd", "dd-mmm-yy", "dd-mmm-yyyy", "dd mmm yyyy", "mmm dd, yyyy", "mmm dd yyyy",
        ]
        let clocks = ["", " hh:mm", " hh:mm:ss", " hh:mm:ss.sss", " hh:mm am", " hh:mm:ss am"]
        return days.lazy.flatMap { day in clocks.lazy.map { day + $0 } }.first { pattern in
            guard let form = TimeForm(format: pattern) else { return false }
            return texts.allSatisfy { form.text(.string($0)) != nil }
        }
    }

    /// The largest first and second number of days as in 31/12/2026; nil if they are other texts.
    private static func dayParts(_ texts: [String], _ sign: Character) -> (first: Int, second: Int, yearDigits: Int)? {
        var (first, second, digits) = (0, 0, 4)
        for text in texts {
            let day = text.split(separator: " ").first ?? ""
            let parts = day.split(separator: sign)
            guard parts.count == 3, parts[0].count <= 2, parts[1].count <= 2, [2, 4].contains(parts[2].count),
                let one = Int(parts[0]), let two = Int(parts[1])
            else { return nil }
            (first, second, digits) = (max(first, one), max(second, two), parts[2].count)
        }
        return (first, second, digits)
    }

    private static func list(_ names: [String]) -> String {
        names.count == 1 ? quoted(names[0]) : "[\(names.map(quoted).joined(separator: ", "))]"
    }

    /// The name as YAML takes it.
    private static func quoted(_ name: String) -> String {
        let isPlain =
            name.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || "0"..."9" ~= $0 || "_. -$".unicodeScalars.contains($0)
            } && name.first?.isLetter == true && !["true", "false", "null"].contains(name) && name.last != " "
        return isPlain ? name : AttributeValue.string(name).json
    }
}
