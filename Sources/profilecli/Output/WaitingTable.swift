internal import ProfileLog
internal import ProfileLogAPI

/// How long items have waited, list by list, for people.
struct WaitingTable {
    private let times: JSONObject
    private let least: Int64

    /// Shows `times` if at least so many items wait.
    init(_ times: JSONObject, least: Int64) {
        self.times = times
        self.least = least
    }

    /// The table below an empty line; nothing if too few wait.
    func lines() -> [String] {
        let total = ["all", "queue"].reduce(Int64(0)) { $0 + (times.object($1)["count"].integer ?? 0) }
        guard total >= least else { return [] }
        var table = Table("WAITING FOR", "#COUNT", "SHORTEST!", "MEDIAN!", "90 %!", "LONGEST!")
        var lists = PendingKind.allCases.map { (Name($0.key), $0.word) }
        lists.removeAll { (times.object($0.0)["count"].integer ?? 0) == 0 }
        if lists.count == 1 { lists = [] }  // it would repeat the line above it
        for (key, title) in [("all", "a launch")] + lists + [("queue", "being sent")] as [(Name, String)] {
            let times = times.object(key)
            guard let count = times["count"].integer, count > 0 else { continue }
            table.add(
                key == "all" || key == "queue" ? title : "  \(title)", Number.grouped(Int(count)),
                Phrase.span(times["shortest"]), Phrase.span(times["median"]), Phrase.span(times["p90"]),
                Phrase.span(times["longest"]))
        }
        return [""] + table.lines()
    }
}
