internal import ProfileLog

/// A user's events over time: a row for each device and what happened on it, a column for each span.
///
///     jane, 25 events, a column is 7 h
///                     2026-01-03                    2026-01-31
///     phone  saved    · :    ·                  ·
///            launch    ▪  ▪                  ▪
///     server logged   ▪    ·   · :               ·
///     · 1  : 2  + 3-4  ▪ 5-8  ■ 9-16  █ more events in a column
struct Timeline {
    private var events: [(at: Timestamp, place: String, what: What)] = []

    /// The subject of a row, in the order of the rows.
    private enum What: Int, CaseIterable {
        case identity, saved, launch, flush, logged, message, other

        init(_ kind: EventKind?) {
            switch kind?.role {
            case .identity, .device(.userChanged), .device(.userLoggedOut): self = .identity
            case .content(_, .saved): self = .saved
            case .content: self = .logged
            case .device(.launched): self = .launch
            case .outcome: self = .flush
            case .message: self = .message
            case .device, .note, nil: self = .other
            }
        }

        var title: String { self == .flush ? "flushed" : "\(self)" }
    }

    /// The least columns of the time, in a terminal however narrow, and all of them where there is none.
    private static let (leastColumns, standardWidth) = (10, 100)
    private static let marks: [Character] = [" ", "·", ":", "+", "▪", "■", "█"]

    mutating func add(_ event: JSONObject) {
        guard let time = event["occurred_at"].text.flatMap({ OccurredAt(iso8601: $0) }) else { return }
        let kind = event["kind"].text.flatMap { EventKind(name: $0) }
        events.append((time.timestamp, event["device"].text ?? event["source"].text ?? "", What(kind)))
    }

    /// The timeline in `width` columns.
    func lines(width: Int? = Terminal.outputWidth, isStyled: Bool = Terminal.hasColours) -> [String] {
        guard let first = events.map(\.at).min(), let last = events.map(\.at).max() else { return [] }
        let rows = self.rows
        let place = rows.map { DisplayWidth.of($0.place.oneLine) }.max() ?? 0
        let title = rows.map { DisplayWidth.of($0.what.title) }.max() ?? 0
        let width = width ?? Self.standardWidth
        let placeWidth = min(place, max(4, width / 4))
        let columns = max(Self.leastColumns, width - placeWidth - title - 2)
        let span = max(1, last.rawValue - first.rawValue)
        func column(_ time: Timestamp) -> Int {
            min(columns - 1, Int(Double(time.rawValue - first.rawValue) / Double(span) * Double(columns)))
        }
        let margin = String(repeating: " ", count: placeWidth + title + 2)
        var lines = [Self.heading(events.count, first, last, columns)]
        lines.append(Style.bold(margin + Self.scale(first, last, columns), if: isStyled))
        var earlier: String?
        for row in rows {
            var counts = [Int](repeating: 0, count: columns)
            for event in events where event.place == row.place && event.what == row.what {
                counts[column(event.at)] += 1
            }
            let name = row.place == earlier ? "" : DisplayWidth.cut(row.place.oneLine, to: placeWidth)
            let head = DisplayWidth.pad(name, to: placeWidth + 1) + DisplayWidth.pad(row.what.title, to: title + 1)
            let marks = String(counts.map(Self.mark))
            lines.append(head + String(marks.reversed().drop { $0 == " " }.reversed()))
            earlier = row.place
        }
        lines.append(Self.legend)
        return lines.map { DisplayWidth.of($0) > width && !isStyled ? DisplayWidth.cut($0, to: width) : $0 }
    }

    /// The places in the order of their first event, each with what happened there.
    private var rows: [(place: String, what: What)] {
        var places: [String] = []
        var found: Set<String> = []
        for event in events.sorted(by: { $0.at < $1.at }) where found.insert(event.place).inserted {
            places.append(event.place)
        }
        return places.flatMap { place in
            What.allCases.filter { what in events.contains { $0.place == place && $0.what == what } }
                .map { (place, $0) }
        }
    }

    private static func heading(_ count: Int, _ first: Timestamp, _ last: Timestamp, _ columns: Int) -> String {
        let span = Duration.microseconds(last.rawValue - first.rawValue)
        return "\(Number.counted(UInt64(count), "event")) in \(DurationText.compact(span)); "
            + "a column is \(DurationText.compact(span / columns))"
    }

    /// The first and the last time, as far as there is room.
    private static func scale(_ first: Timestamp, _ last: Timestamp, _ columns: Int) -> String {
        let texts = [first, last].map { Phrase.time(.string($0.rfc3339())) }
        // A cut time has no zone, so that it does not look like a time that can be typed.
        for length in [Int.max, 19, 16, 10] {
            let (left, right) = (texts[0].prefix(length), texts[1].prefix(length))
            let space = columns - left.count - right.count
            if space >= 2 { return left + String(repeating: " ", count: space) + right }
        }
        return String(texts[0].prefix(10))
    }

    /// The meaning of each mark. Short enough for the narrowest terminal but for its last words.
    private static let legend: String = {
        let counts = ["1", "2", "3-4", "5-8", "9-16", "more events in a column"]
        return zip(marks.dropFirst(), counts).map { "\($0) \($1)" }.joined(separator: "  ")
    }()

    /// More ink for more events: 1, 2, 3 to 4, 5 to 8, 9 to 16, more.
    private static func mark(_ count: Int) -> Character {
        if count <= 2 { return marks[count] }
        let power = Int.bitWidth - (count - 1).leadingZeroBitCount
        return marks[min(marks.count - 1, power + 1)]
    }
}
