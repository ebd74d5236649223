/// Names in the order in which a mistyped one may have meant them: the close ones, nearest first, then the others as
/// they were.
package struct NearestNames {
    /// Words that are a few letters away, or begin as the typed one does: `categories` for `category`.
    package let close: [String]
    /// All of them, the close ones first.
    package let all: [String]

    /// - Parameter most: how many letters away a close one is at most, whatever its length.
    package init(to typed: String, among names: [String], within most: Int = .max) {
        // More letters than the longest name has are no slip, and would only cost time.
        let typed = Array(typed.lowercased().unicodeScalars.prefix(40))
        let limit = min(max(1, typed.count / 3), most)
        let distances = names.map { (name: $0, distance: Self.distance(typed, Array($0.lowercased().unicodeScalars))) }
        let close = distances.filter { $0.distance <= limit || most == .max && Self.beginAlike(typed, $0.name) }
            .sorted { $0.distance < $1.distance }.map(\.name)
        self.close = close
        all = close + names.filter { !close.contains($0) }
    }

    /// Tells whether three quarters of `typed`, and four letters at least, are the beginning of `name`.
    private static func beginAlike(_ typed: [Unicode.Scalar], _ name: String) -> Bool {
        let common = zip(typed, name.lowercased().unicodeScalars).prefix { $0 == $1 }.count
        return common >= 4 && common * 4 >= typed.count * 3
    }

    /// Returns the number of letters that must be inserted, deleted, replaced, or exchanged with the next to make one
    /// of the other (optimal string alignment).
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var (rowBefore, row) = ([Int](), Array(0...right.count))
        for (index, letter) in left.enumerated() {
            var next = [index + 1]
            for (other, counterpart) in right.enumerated() {
                var least = min(row[other] + (letter == counterpart ? 0 : 1), row[other + 1] + 1, next[other] + 1)
                if index > 0, other > 0, letter == right[other - 1], left[index - 1] == counterpart {
                    least = min(least, rowBefore[other - 1] + 1)
                }
                next.append(least)
            }
            (rowBefore, row) = (row, next)
        }
        return row[right.count]
    }
}
