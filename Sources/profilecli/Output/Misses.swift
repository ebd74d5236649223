internal import ProfileLog

/// The member `misses` of an answer: what came near, and why it had no effect.
enum Misses {
    /// A table below `title`; nothing without misses.
    static func lines(_ answer: JSONObject, _ title: String) -> [String] {
        let misses = answer.objects("misses")
        if misses.isEmpty { return [] }
        let table = Table("#POSITION", "WHEN!", "WHAT!", "FROM", "WHY NOT", "LOOK", of: misses) { miss in
            [
                miss["position"].cell, Phrase.time(miss["at"]), Phrase.kind(miss), Phrase.origin(miss),
                miss["reason"].cell, miss["look"].cell,
            ]
        }
        return [title] + table.lines()
    }
}
