internal import ProfileLog

/// The times of a column, as short as the terminal asks for: first without what all have in common (the zone), then without
/// seconds, and at last without the year.
struct ShortTimes {
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
