internal import ProfileLog

/// Prints a long list page by page: a table with one heading, or objects one a line.
struct Pages {
    private let isJSON: Bool
    private let makeTable: ([JSONObject]) -> Table
    private var form: Table.Form?
    /// Rows printed so far.
    private(set) var count = 0

    /// `makeTable` makes the table of a page.
    init(isJSON: Bool, _ makeTable: @escaping ([JSONObject]) -> Table) {
        self.isJSON = isJSON
        self.makeTable = makeTable
    }

    /// Prints a page.
    mutating func print(_ page: [JSONObject]) throws {
        if page.isEmpty { return }
        count += page.count
        if isJSON {
            var writer = JSONWriter()
            for object in page {
                writer.value(object.value)
                writer.endLine()
            }
            return try Output.write(writer.bytes)
        }
        try Output.print(makeTable(page).lines(continuing: &form))
    }

    /// The table of events that `history` and `tail` print.
    static func events(isJSON: Bool, withUser: Bool) -> Pages {
        Pages(isJSON: isJSON) { page in
            var table =
                withUser
                ? Table("#POS", "USER", "HAPPENED!", "KIND!", "WHAT", "FROM")
                : Table("#VER", "#POS", "HAPPENED!", "KIND!", "WHAT", "FROM")
            let width = Terminal.outputWidth
            let times = ShortTimes(page.map { $0["occurred_at"] }, width: width)
            // An empty column is not printed; what happened needs the room more than its source.
            let hasOrigin = width.map { $0 >= 70 } ?? true
            for event in page {
                let (time, kind) = (times.text(event["occurred_at"]), Phrase.kind(event))
                let (what, from) = (Phrase.content(event), hasOrigin ? Phrase.origin(event) : "")
                if withUser {
                    table.add(event["position"].cell, event["user"].cell, time, kind, what, from)
                } else {
                    table.add(event["version"].cell, event["position"].cell, time, kind, what, from)
                }
            }
            return table
        }
    }
}

/// The times of a column, as short as the terminal needs: first without their common zone, then without seconds, and
/// last without the year.
private struct ShortTimes {
    private let dropsZone: Bool
    private let dropsSeconds: Bool
    private let dropsYear: Bool

    /// - Parameter width: columns of the terminal; nil where nothing needs to be short.
    init(_ times: [AttributeValue], width: Int?) {
        let width = width ?? .max
        let texts = times.map(Phrase.time)
        dropsZone = width < 100 && texts.allSatisfy { $0.hasSuffix("Z") }
        dropsSeconds = width < 90
        dropsYear = width < 75 && Set(texts.map { $0.prefix(4) }).count <= 1
    }

    /// `2026-01-31 23:59:59Z` to `01-31 23:59`.
    func text(_ time: AttributeValue) -> String {
        let text = Phrase.time(time)
        guard text.utf8.count >= 20 else { return text }
        let zone = dropsZone ? "" : text.dropFirst(19)
        let moment = text.prefix(dropsSeconds ? 16 : 19)
        return String(dropsYear ? moment.dropFirst(5) : moment) + zone
    }
}
