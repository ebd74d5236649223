/// Rows under headings, aligned by display width and fitted to the terminal. Tables are for people, not a contract.
///
/// Where a terminal is too narrow for columns, each row becomes a block with a line for each cell.
struct Table {
    /// The columns of the widest cell where no terminal sets a limit. JSON has everything.
    static let widestCell = 200
    /// The least columns of a cell of text among others, and of a number's title.
    private static let (narrowestText, narrowestTitle) = (10, 5)

    /// One column.
    struct Column {
        /// Its heading.
        var title: String
        /// Whether its cells are numbers, which end at the same column.
        var isNumber = false
        /// Whether its cells may be cut when the terminal is narrow.
        var isFlexible = true
    }

    /// How rows are printed.
    enum Form {
        case columns(Layout)
        case blocks
    }

    /// Columns side by side, by their numbers.
    struct Layout: Equatable {
        /// Those that are not empty.
        var shown: [Int]
        /// How wide each is, shown or not.
        var widths: [Int]

        /// How wide they are together.
        var total: Int { shown.reduce(0) { $0 + widths[$1] } + 2 * (shown.count - 1) }
    }

    private let columns: [Column]
    private(set) var rows: [[String]] = []

    /// Makes a table; a title that begins with `#` is a number's, one that ends in `!` is never cut.
    init(_ titles: String...) {
        columns = titles.map { title in
            let isNumber = title.hasPrefix("#")
            let isFixed = title.hasSuffix("!")
            let text = title.dropFirst(isNumber ? 1 : 0).dropLast(isFixed ? 1 : 0)
            return Column(title: String(text), isNumber: isNumber, isFlexible: !isNumber && !isFixed)
        }
    }

    /// Adds a row with a cell for each column.
    mutating func add(_ cells: String...) { rows.append(cells.map(DisplayWidth.oneLine)) }

    /// The lines of the table, without empty columns: none is wider than `width`, and where that is nil, no cell is
    /// wider than `widestCell`.
    ///
    /// - Parameter form: how earlier rows of the same table were printed: these follow it, with a second heading only
    ///   if a column appears or becomes wider. On return, how these were printed.
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

    /// The layout `above`, if these rows fit into it; else one with the room that they and later rows need. Nil if
    /// columns would be too narrow to read.
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

    /// `layout` with the widest flexible columns cut until all that are shown fit. Nil if they would be too narrow to
    /// read; two columns never are.
    private func fit(_ layout: Layout, _ rows: [[String]], _ width: Int?) -> Layout? {
        guard let width else { return layout }
        var layout = layout
        // Flexible columns give first, then the titles of numbers; of two columns, at last, all but the numbers
        // themselves.
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
