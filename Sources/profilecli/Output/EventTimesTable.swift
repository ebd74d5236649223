internal import ProfileLog

/// The table of `history --times`, made of the columns of an answer.
enum EventTimesTable {
    struct Row {
        let position: AttributeValue
        let version: AttributeValue
        /// Times in RFC 3339.
        let recorded: AttributeValue
        let happened: AttributeValue
        let user: String
        let kind: String
        let name: String
        let device: String
        /// The outcome, with the position of the event that decided it.
        let outcome: String
    }

    static func rows(_ times: JSONObject) -> [Row] {
        let users = times.objects("users").map { $0["user"].cell }
        let kinds = times["kinds"].elements.map(\.cell)
        let names = times["names"].elements.map(\.cell)
        let devices = times["devices"].elements.map(\.cell)
        let outcomes = times["outcomes"].elements.map(\.cell)
        let (versions, user) = (times["version"].elements, times["user"].elements)
        let (kind, name, device) = (times["kind"].elements, times["name"].elements, times["device"].elements)
        let (recorded, occurred) = (times["recorded_ms"].elements, times["occurred_ms"].elements)
        let (outcome, decided) = (times["outcome"].elements, times["decided_by"].elements)
        return times["position"].elements.enumerated().map { index, position in
            let place = decided[index].integer.map { " @\($0)" } ?? ""
            let state = text(outcome[index], in: outcomes)
            let own = name[index].elements.isEmpty ? [name[index]] : name[index].elements
            return Row(
                position: position, version: versions[index], recorded: time(recorded[index]),
                happened: time(occurred[index]), user: text(user[index], in: users),
                kind: EventKind(name: text(kind[index], in: kinds))?.words ?? text(kind[index], in: kinds),
                name: own.map { text($0, in: names) }.joined(separator: ", "),
                device: text(device[index], in: devices), outcome: state.isEmpty ? "" : state + place)
        }
    }

    private static func text(_ number: AttributeValue, in list: [String]) -> String {
        guard let index = number.integer, list.indices.contains(Int(index)) else { return "" }
        return list[Int(index)]
    }

    private static func time(_ milliseconds: AttributeValue) -> AttributeValue {
        guard let number = milliseconds.integer else { return .null }
        return .string(Timestamp(rawValue: number * 1_000).rfc3339())
    }

    static func table(_ rows: [Row], withUser: Bool) -> Table {
        let times = ShortTimes(rows.flatMap { [$0.recorded, $0.happened] }, width: Terminal.outputWidth)
        return Table(
            withUser ? "#POS" : "#VER", withUser ? "USER" : "#POS", "RECORDED!", "HAPPENED!", "KIND!", "NAME", "DEVICE",
            "OUTCOME", of: rows
        ) { row in
            [
                withUser ? row.position.cell : row.version.cell, withUser ? row.user : row.position.cell,
                times.text(row.recorded), times.text(row.happened), row.kind, row.name, row.device, row.outcome,
            ]
        }
    }
}
