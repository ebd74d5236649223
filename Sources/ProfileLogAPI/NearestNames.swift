/// Names in the order in which a mistyped one may have meant them: the close ones, nearest first, then the others as they were.
package struct NearestNames {
    /// Those that are a few letters away.
    package let close: [String]
    /// All of them, the close ones first.
    package let all: [String]

    package init(to typed: String, among names: [String]) {
        // More letters than the longest name has are no slip, and would only cost time.
        let typed = Array(typed.lowercased().unicodeScalars.prefix(40))
        let limit = max(1, typed.count / 3)
        let distances = names.map { (name: $0, distance: Self.distance(typed, Array($0.unicodeScalars))) }
        let close = distances.filter { $0.distance <= limit }.sorted { $0.distance < $1.distance }.map(\.name)
        self.close = close
        all = close + names.filter { !close.contains($0) }
    }

    /// How many letters must be put in, left out or replaced to make one of the other (Levenshtein).
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for other in right.indices {
                let replaced = diagonal + (letter == right[other] ? 0 : 1)
                diagonal = row[other + 1]
                row[other + 1] = min(replaced, diagonal + 1, row[other] + 1)
            }
        }
        return row[right.count]
    }
}
