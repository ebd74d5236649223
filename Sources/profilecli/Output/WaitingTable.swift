internal import ProfileLog
internal import ProfileLogNativeAPI

/// How long items have waited, list by list, for people.
struct WaitingTable {
    private let times: JSONObject
    private let least: UInt64

    /// Shows `times` if at least `least` items wait.
    init(_ times: JSONObject, least: UInt64) {
        self.times = times
        self.least = least
    }

    /// An empty line and the table; nothing if too few wait.
    func lines() -> [String] {
        let total = times.object("all").count("count") + times.object("queue").count("count")
        guard total >= least else { return [] }
        var table = Table("WAITING FOR", "#COUNT", "SHORTEST!", "MEDIAN!", "90 %!", "LONGEST!")
        var lists = PendingKind.allCases.map { (Name($0.key), $0.word) }
        lists.removeAll { times.object($0.0).count("count") == 0 }
        if lists.count == 1 { lists = [] }  // it would repeat the line above it
        for (key, title) in [("all", "a launch")] + lists + [("queue", "being sent")] as [(Name, String)] {
            let times = times.object(key)
            let count = times.count("count")
            guard count > 0 else { continue }
            table.add(
                key == "all" || key == "queue" ? title : "  \(title)", Number.grouped(count),
                Phrase.span(times["shortest"]), Phrase.span(times["median"]), Phrase.span(times["p90"]),
                Phrase.span(times["longest"]))
        }
        return [""] + table.lines()
    }
}
