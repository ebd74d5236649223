/// Names in the order in which a mistyped one may have meant them: the close ones, nearest first, then the others as
/// they were.
package struct NearestNames {
    /// Words that are a few letters away, or begin as the typed one does: `categories` for `category`.
    package let close: [String]
    /// All of them, the close ones first.
    package let all: [String]

    /// The question whether the closest one was meant, with it between two of `quote`; nil if none is close.
    package func question(_ quote: String = "`") -> String? {
        close.first.map { "Did you mean \(quote)\($0)\(quote)?" }
    }

    /// The question, if there is one, and then all names after `words`: `Did you mean cat? Write one of cat, dog.`
    package func remedy(_ words: String, _ quote: String = "") -> String {
        let list = "\(words) \(all.joined(separator: ", "))."
        return question(quote).map { "\($0) \(list)" } ?? list
    }

    /// The number of letters of a word that are compared.
    private static let letters = 40
    /// The number of names beyond which only those two letters away are close: the cost grows with both.
    private static let manyNames = 2_000

    /// - Parameter most: how many letters away a close one is at most, whatever its length.
    package init(to typed: String, among names: [String], within most: Int = .max) {
        let typed = Array(typed.lowercased().unicodeScalars.prefix(Self.letters))
        let limit = min(max(1, typed.count / 3), most, names.count > Self.manyNames ? 2 : .max)
        var comparison = Comparison(with: typed, limit: limit)
        var close: [(place: Int, distance: Int)] = []
        for (place, name) in names.enumerated() {
            let name = Array(name.lowercased().unicodeScalars.prefix(typed.count + limit + 1))
            if let distance = comparison.distance(to: name) {
                close.append((place, distance))
            } else if most == .max, Self.beginAlike(typed, name) {
                close.append((place, limit + max(1, abs(name.count - typed.count))))
            }
        }
        close.sort { $0.distance < $1.distance }
        self.close = close.map { names[$0.place] }
        let places = Set(close.map(\.place))
        all = self.close + names.indices.lazy.filter { !places.contains($0) }.map { names[$0] }
    }

    /// Tells whether three quarters of `typed`, and four letters at least, are the beginning of `name`.
    private static func beginAlike(_ typed: [Unicode.Scalar], _ name: [Unicode.Scalar]) -> Bool {
        let common = zip(typed, name).prefix { $0 == $1 }.count
        return common >= 4 && common * 4 >= typed.count * 3
    }

    /// Compares names with one word, in the same memory.
    private struct Comparison {
        let typed: [Unicode.Scalar]
        let limit: Int
        private var (before, last, next): ([Int], [Int], [Int])

        init(with typed: [Unicode.Scalar], limit: Int) {
            (self.typed, self.limit) = (typed, limit)
            let row = Array(repeating: 0, count: typed.count + limit + 2)
            (before, last, next) = (row, row, row)
        }

        /// Returns the number of letters that must be inserted, deleted, replaced, or exchanged with the next to make
        /// one of the other (optimal string alignment); nil if they are more than `limit`. Cells that are farther from
        /// the diagonal are not looked at.
        mutating func distance(to name: [Unicode.Scalar]) -> Int? {
            guard abs(name.count - typed.count) <= limit else { return nil }
            guard !name.isEmpty, !typed.isEmpty else { return max(name.count, typed.count) }
            let far = limit + 1
            for column in 0...name.count { last[column] = min(column, far) }
            for index in typed.indices {
                let from = max(0, index - limit)
                let to = min(name.count - 1, index + limit)
                next[from] = from == 0 ? min(index + 1, far) : far
                var least = next[from]
                for other in from..<max(from, to + 1) {
                    let isSame = typed[index] == name[other]
                    var value = min(last[other] + (isSame ? 0 : 1), last[other + 1] + 1, next[other] + 1)
                    if index > 0, other > 0, typed[index] == name[other - 1], typed[index - 1] == name[other] {
                        value = min(value, before[other - 1] + 1)
                    }
                    next[other + 1] = value
                    least = min(least, value)
                }
                if to + 2 <= name.count { next[to + 2] = far }
                swap(&before, &last)
                swap(&last, &next)
                // An exchange comes from the row before.
                if least > far { return nil }
            }
            return last[name.count] <= limit ? last[name.count] : nil
        }
    }
}
