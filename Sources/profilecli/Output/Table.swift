internal import ProfileLog

/// Rows under headings, aligned by display width and fitted to the terminal. Tables are for people, not a contract.
/// In a narrow terminal each row becomes a block with a line for each cell.
struct Table {
    /// The columns of the widest cell where no terminal sets a limit. JSON has everything.
    static let widestCell = 200
    /// The least columns of a cell of text among others, and of a number's title.
    private static let (narrowestText, narrowestTitle) = (10, 5)

    struct Column {
        var title: String
        /// Tells whether its cells are numbers, which end at the same column.
        var isNumber = false
        /// Tells whether its cells may be cut when the terminal is narrow.
        var isFlexible = true
    }

    enum Form {
        case columns(Layout)
        case blocks
    }

    /// Columns side by side, by their numbers.
    struct Layout: Equatable {
        var shown: [Int]
        var widths: [Int]

        var total: Int { shown.reduce(0) { $0 + widths[$1] } + 2 * (shown.count - 1) }
    }

    private let columns: [Column]
    private(set) var rows: [[String]] = []

    /// Makes a table; a title that begins with `#` is a number's, one that ends in `!` is never cut.
    init(_ titles: String...) { self.init(titles: titles) }

    private init(titles: [String]) {
        columns = titles.map { title in
            let (isNumber, isFixed) = (title.hasPrefix("#"), title.hasSuffix("!"))
            let text = title.dropFirst(isNumber ? 1 : 0).dropLast(isFixed ? 1 : 0)
            return Column(title: String(text), isNumber: isNumber, isFlexible: !isNumber && !isFixed)
        }
    }

    /// Makes a table with a row for each of `items`.
    init<Item>(_ titles: String..., of items: [Item], cells: (Item) -> [String]) {
        self.init(titles: titles)
        rows = items.map { cells($0).map(\.oneLine) }
    }

    mutating func add(_ cells: String...) { rows.append(cells.map(\.oneLine)) }

    /// The table on one page; nothing without a row.
    func linesIfAny() -> [String] { rows.isEmpty ? [] : lines() }

    /// The lines of the table, without empty columns: at most `width` wide; if that is nil, cells of `widestCell`.
    /// `form` is how earlier rows were printed: a second heading comes only if a column appears or becomes wider.
    func lines(
        width: Int? = Terminal.outputWidth, isStyled: Bool = Terminal.hasColours, continuing form: inout Form?
    ) -> [String] {
        let rows = self.rows.map { row in row.map { DisplayWidth.cut($0, to: width ?? Self.widestCell) } }
        let above: Layout? = if case .columns(let layout) = form { layout } else { nil }
        guard above != nil || form == nil, let layout = arrange(rows, width, below: above) else {
            let blocks = rows.map { block($0, width ?? .max, isStyled) }.joined(separator: [""])
            defer { form = .blocks }
            return form == nil ? Array(blocks) : [""] + blocks
        }
        form = .columns(layout)
        let lines = ([columns.map(\.title)] + rows).map { DisplayWidth.cut(line($0, layout), to: width ?? .max) }
        return (layout == above ? [] : [Style.bold(lines[0], if: isStyled)]) + lines.dropFirst()
    }

    /// As the other one, for a table of one page.
    func lines(width: Int? = Terminal.outputWidth, isStyled: Bool = Terminal.hasColours) -> [String] {
        var form: Form?
        return lines(width: width, isStyled: isStyled, continuing: &form)
    }

    /// A row as lines of its own, each a title and a cell.
    private func block(_ cells: [String], _ width: Int, _ isStyled: Bool) -> [String] {
        let titles = columns.map { DisplayWidth.of($0.title) }.max() ?? 0
        return zip(columns, cells).filter { !$0.1.isEmpty }.map { column, cell in
            let title = DisplayWidth.cut(DisplayWidth.pad(column.title, to: titles + 2), to: width)
            return Style.bold(title, if: isStyled) + DisplayWidth.cut(cell, to: max(0, width - titles - 2))
        }
    }

    private func line(_ cells: [String], _ layout: Layout) -> String {
        var line = ""
        for index in layout.shown {
            let width = layout.widths[index]
            let isLast = index == layout.shown.last
            if columns[index].isNumber {
                line += DisplayWidth.pad(DisplayWidth.cut(cells[index], to: width), to: width, atEnd: false)
            } else {
                // The last column may take the rest of the line.
                line += isLast ? cells[index] : DisplayWidth.pad(DisplayWidth.cut(cells[index], to: width), to: width)
            }
            if !isLast { line += "  " }
        }
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    // MARK: - Widths

    /// The layout `above` if the rows fit into it, else a wider one; nil if columns would be too narrow to read.
    private func arrange(_ rows: [[String]], _ width: Int?, below above: Layout?) -> Layout? {
        var shown = columns.indices.filter { column in column == 0 || self.rows.contains { !$0[column].isEmpty } }
        var widths = columns.map { DisplayWidth.of($0.title) }
        for row in rows {
            for index in columns.indices { widths[index] = max(widths[index], DisplayWidth.of(row[index])) }
        }
        guard let above else { return fit(Layout(shown: shown, widths: widths), rows, width) }
        shown = Set(shown).union(above.shown).sorted()
        let hasRoom = width.map { above.total < $0 } ?? true
        let grown = shown.filter { column in
            let isFree = column == shown.last && !columns[column].isNumber
            return widths[column] > above.widths[column] && !isFree && (hasRoom || !columns[column].isFlexible)
        }
        if shown == above.shown, grown.isEmpty { return above }
        for index in columns.indices { widths[index] = max(widths[index], above.widths[index]) }
        for index in grown where columns[index].isNumber { widths[index] += 2 }
        guard var layout = fit(Layout(shown: shown, widths: widths), rows, width) else { return nil }
        if let width, let text = grown.first(where: { columns[$0].isFlexible }) {
            layout.widths[text] += max(0, width - layout.total)
        }
        return layout
    }

    /// `layout` with the widest columns cut until all fit; nil if more than two would be too narrow to read.
    private func fit(_ layout: Layout, _ rows: [[String]], _ width: Int?) -> Layout? {
        guard let width else { return layout }
        var layout = layout
        // First flexible columns become narrower, then titles of numbers, then, of two columns, all but numbers.
        let numbers = columns.indices.map { column in rows.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
        var mayGive: [(Int, Int) -> Bool] = [
            { columns[$0].isFlexible && $1 > Self.narrowestText },
            { columns[$0].isNumber && $1 > max(Self.narrowestTitle, numbers[$0]) },
        ]
        if layout.shown.count <= 2 { mayGive.append { !columns[$0].isNumber && $1 > 4 } }
        for mayGive in mayGive {
            while layout.total > width {
                let giving = layout.shown.filter { mayGive($0, layout.widths[$0]) }
                guard let widest = giving.max(by: { layout.widths[$0] < layout.widths[$1] }) else { break }
                layout.widths[widest] -= 1
            }
        }
        return layout.total <= width || layout.shown.count <= 2 ? layout : nil
    }
}

/// Prints a long list page by page: a table with one heading, or objects one a line.
struct Pages {
    private let isJSON: Bool
    private let makeTable: ([JSONObject]) -> Table
    private var form: Table.Form?
    private(set) var count = 0

    init(isJSON: Bool, _ makeTable: @escaping ([JSONObject]) -> Table) {
        (self.isJSON, self.makeTable) = (isJSON, makeTable)
    }

    mutating func print(_ page: [JSONObject]) throws {
        if page.isEmpty { return }
        count += page.count
        if isJSON {
            var writer = JSONWriter()
            for object in page {
                writer.value(object.value)
                writer.endLine()
            }
            return try Output.write(lines: writer.bytes)
        }
        try Output.print(makeTable(page).lines(continuing: &form))
    }

    /// Prints the list `key` of the answers at `path`, up to the limit. `next` is the query that follows an item, and
    /// `scanned` the one that follows an answer that may be short although more follow, as its `scanned` or `cursor`
    /// says.
    mutating func print(
        _ key: Name, of path: String, by connection: any Connection, _ query: Parameters = [],
        from first: Parameters = [], _ limit: LimitOption? = nil, scanned: ((JSONObject) -> Parameters)? = nil,
        next: (JSONObject) -> Parameters
    ) async throws {
        let damaged = try await Self.forEach(
            key, of: path, by: connection, query, from: first, limit, scanned: scanned, next: next
        ) { items, _ in try print(items) }
        try damaged.report()
    }

    /// Lends the pages of the list `key` of the answers at `path`, up to the limit, each with its answer. Returns
    /// what was damaged in them: to be reported when all is printed.
    static func forEach(
        _ key: Name, of path: String, by connection: any Connection, _ query: Parameters, from first: Parameters = [],
        _ limit: LimitOption? = nil, scanned: ((JSONObject) -> Parameters)? = nil, next: (JSONObject) -> Parameters,
        _ body: ([JSONObject], JSONObject) throws -> Void
    ) async throws -> Damaged {
        var (range, count) = (first, 0)
        var damaged = Damaged()
        while count < limit?.limit ?? .max {
            let wanted = min(1_000, (limit?.limit ?? .max) - count)
            let answer = try await connection.get(
                path, query + range + [("limit", "\(wanted)")], notes: count == 0)
            let items = answer.objects(key)
            count += items.count
            damaged.take(answer)
            try body(items, answer)
            guard answer.flag("more") else { break }
            if let scanned, answer["scanned"] != .null || answer["cursor"] != .null {
                range = scanned(answer)
            } else {
                guard let last = items.last else { break }
                range = next(last)
            }
        }
        return damaged
    }

    /// The events that `history` and `tail` print.
    static func events(isJSON: Bool, withUser: Bool) -> Pages {
        Pages(isJSON: isJSON) { Self.table(ofEvents: $0, withUser: withUser) }
    }

    static func table(ofEvents page: [JSONObject], withUser: Bool) -> Table {
        let (titles, keys): ([String], [Name]) =
            withUser ? (["#POS", "USER"], ["position", "user"]) : (["#VER", "#POS"], ["version", "position"])
        let width = Terminal.outputWidth
        let times = ShortTimes(page.map { $0["occurred_at"] }, width: width)
        // An empty column is not printed; what happened needs the room more than its source.
        let hasOrigin = width.map { $0 >= 70 } ?? true
        return Table(titles[0], titles[1], "HAPPENED!", "KIND!", "WHAT", "FROM", of: page) { event in
            [
                event[keys[0]].cell, event[keys[1]].cell, times.text(event["occurred_at"]), Phrase.kind(event),
                Phrase.content(event), hasOrigin ? Phrase.origin(event) : "",
            ]
        }
    }
}

/// The times of a column, shorter in a narrow terminal: without their fractions and common zone, then seconds, then the
/// year. A cut time has no zone, so that it does not look like a time that can be typed.
struct ShortTimes {
    private let dropsFraction: Bool
    private let dropsZone: Bool
    private let dropsSeconds: Bool
    private let dropsYear: Bool

    /// - Parameter width: columns of the terminal; nil where nothing needs to be short.
    init(_ times: [AttributeValue], width: Int?) {
        let width = width ?? .max
        dropsFraction = width < 100
        dropsZone = width < 100 && times.allSatisfy { Phrase.time($0).hasSuffix("Z") }
        dropsSeconds = width < 90
        dropsYear = width < 75 && Set(times.map { Phrase.time($0).prefix(4) }).count <= 1
    }

    /// `2026-01-31 23:59:59.250Z` to `01-31 23:59`.
    func text(_ time: AttributeValue) -> String {
        let text = Phrase.time(time)
        guard text.utf8.count >= 20, dropsFraction else { return text }
        let zone = dropsZone ? "" : text.dropFirst(19).drop { $0 == "." || $0.isNumber }
        let moment = text.prefix(dropsSeconds ? 16 : 19)
        return String(dropsYear ? moment.dropFirst(5) : moment) + zone
    }
}
