/// Rows under headings, aligned by display width and fitted to the terminal. Tables are for people and no contract.
///
/// Where a terminal is too narrow for columns, each row becomes a block with a line for each cell.
struct Table {
    /// Columns that a cell takes at most where no terminal sets a limit. JSON has everything.
    static let widestCell = 200
    /// Columns to which a cell of text may be cut beside others, and a number's title.
    private static let (narrowestText, narrowestTitle) = (10, 5)

    /// One column.
    struct Column {
        /// What stands above it.
        var title: String
        /// Whether its cells are numbers, which end at the same column.
        var isNumber = false
        /// Whether its cells may be cut when the terminal is narrow.
        var isFlexible = true
    }

    /// How rows stand.
    enum Form {
        case columns
        case blocks
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

    /// The lines of the table, without the columns in which nothing stands: none is wider than `width`, and where that is nil, no
    /// cell is wider than `widestCell`.
    ///
    /// - Parameter form: how rows of the same table stand above: theirs is kept, and there is no second heading. Then how these stand.
    func lines(
        width: Int? = Terminal.outputWidth, isStyled: Bool = Terminal.hasColours, continuing form: inout Form?
    ) -> [String] {
        let shown = columns.indices.filter { column in column == 0 || self.rows.contains { !$0[column].isEmpty } }
        let rows = self.rows.map { row in row.map { DisplayWidth.cut($0, to: width ?? Self.widestCell) } }
        let isContinued = form != nil
        guard form != .blocks, let widths = fit(rows, width, shown) else {
            form = .blocks
            let blocks = rows.map { block($0, width ?? .max, isStyled) }.joined(separator: [""])
            return isContinued ? [""] + blocks : Array(blocks)
        }
        form = .columns
        let lines = ([columns.map(\.title)] + rows).map { cells in
            DisplayWidth.cut(line(cells, widths, shown), to: width ?? .max)
        }
        return (isContinued ? [] : [Style.bold(lines[0], if: isStyled)]) + lines.dropFirst()
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

    private func line(_ cells: [String], _ widths: [Int], _ shown: [Int]) -> String {
        var line = ""
        for index in shown {
            let cell = DisplayWidth.cut(cells[index], to: widths[index])
            let isLast = index == shown.last
            if columns[index].isNumber {
                line += DisplayWidth.pad(cell, to: widths[index], atEnd: false)
            } else {
                line += isLast ? cell : DisplayWidth.pad(cell, to: widths[index])
            }
            if !isLast { line += "  " }
        }
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    /// The columns' widths: as wide as their cells, the widest flexible ones cut until all that are shown fit. Nil if they would be too
    /// narrow to be read; two columns never are.
    private func fit(_ rows: [[String]], _ width: Int?, _ shown: [Int]) -> [Int]? {
        var widths = columns.map { DisplayWidth.of($0.title) }
        for row in rows {
            for index in columns.indices { widths[index] = max(widths[index], DisplayWidth.of(row[index])) }
        }
        guard let width else { return widths }
        // Flexible columns give first, then the titles of numbers; of two columns, at last, all but the numbers themselves.
        let numbers = columns.indices.map { column in rows.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
        var mayGive: [(Int) -> Bool] = [
            { columns[$0].isFlexible && widths[$0] > Self.narrowestText },
            { columns[$0].isNumber && widths[$0] > max(Self.narrowestTitle, numbers[$0]) },
        ]
        if shown.count <= 2 { mayGive.append { !columns[$0].isNumber && widths[$0] > 4 } }
        for mayGive in mayGive {
            while true {
                if shown.reduce(0, { $0 + widths[$1] }) + 2 * (shown.count - 1) <= width { return widths }
                guard let widest = shown.filter(mayGive).max(by: { widths[$0] < widths[$1] }) else { break }
                widths[widest] -= 1
            }
        }
        return shown.count <= 2 ? widths : nil
    }
}
