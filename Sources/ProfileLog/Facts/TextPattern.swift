/// A regular expression that a client sends, in a message, an audience or a container: a search by Unicode scalars, in
/// any case of letters unless it is `.exact` (spec/device 5.1).
///
///     try TextPattern("rock|pop$").isFound(in: "K-Pop")
///
/// It may run under the write lock, so a search has a bound: all alternatives advance together, and each step of the
/// pattern is taken at most once for each character, also in `(a+)+$`. `Regex` backtracks: there `.*.*.*x` takes
/// seconds for 255 characters.
///
/// A pattern has text, `.`, `^`, `$`, classes, groups, alternatives and repetitions, and the escapes `\d`, `\w`, `\s`,
/// `\b`, their opposites, `\A`, `\z`, `\n`, `\r`, `\t`, `\f`.
package struct TextPattern: Hashable, Sendable {
    private let program: [Step]
    private let isLong: Bool

    /// The search of a pattern, with the place that it finds.
    package enum Search: Sendable {
        /// Letters in any case, in the first 255 characters.
        case anyCase
        /// Letters as they are, in the first 4,096 characters: the tag manager's.
        case exact
        /// Letters in any case, in the first 4,096 characters.
        case anyCaseInLongText
    }

    /// Steps that a search takes for each character, at most.
    package var steps: Int { program.count }

    /// Characters of a pattern, and of the text that is searched; what follows in the text is not looked at.
    static let maxCharacters = 255
    /// Characters of a long text that are searched.
    package static let maxLongCharacters = 4_096
    /// The most that `{n}`, `{n,}` and `{n,m}` ask for.
    fileprivate static let maxCount = 64
    /// Steps of a pattern whose `{n}` are written out.
    fileprivate static let maxSteps = 1_024

    /// The reason why a pattern is refused: `reason` without a subject.
    package struct PatternError: Error, Hashable {
        package let reason: String
        package let remedy: String

        fileprivate static let noExpression = PatternError(
            reason: "is no regular expression", remedy: "Correct the pattern.")
    }

    fileprivate enum Step: Hashable {
        case scalar(ScalarSet)
        case start, end
        case boundary(Bool)
        case split(Int, Int)
        case found
    }

    package init(_ pattern: String, _ search: Search = .anyCase) throws(PatternError) {
        guard !pattern.isEmpty, !pattern.isLonger(than: Self.maxCharacters) else {
            throw PatternError(
                reason: "has no characters, or more than \(Self.maxCharacters)", remedy: "Give a shorter pattern.")
        }
        isLong = search != .anyCase
        var parser = PatternParser(rest: pattern.unicodeScalars[...], isExact: search == .exact)
        let node = try parser.whole()
        guard node.steps < Self.maxSteps else {
            throw PatternError(
                reason: "is longer than \(Self.maxSteps) characters when its `{n}` are written out",
                remedy: "Repeat less.")
        }
        var program: [Step] = []
        node.add(to: &program)
        self.program = program + [.found]
    }

    package func isFound(in text: String) -> Bool {
        let scalars = Array(text.unicodeScalars.prefix(isLong ? Self.maxLongCharacters : Self.maxCharacters))
        var taken = [Int](repeating: -1, count: program.count)
        var reached: [Int] = []
        for index in 0...scalars.count {
            var open = reached + [0]
            reached = []
            while let step = open.popLast() {
                if taken[step] == index { continue }
                taken[step] = index
                switch program[step] {
                case .found: return true
                case .split(let first, let second): open += [first, second]
                case .start: if index == 0 { open.append(step + 1) }
                case .end: if index == scalars.count { open.append(step + 1) }
                case .boundary(let isWanted):
                    let before = index > 0 && ScalarSet.isWord(scalars[index - 1])
                    let after = index < scalars.count && ScalarSet.isWord(scalars[index])
                    if (before != after) == isWanted { open.append(step + 1) }
                case .scalar(let set):
                    if index < scalars.count, set.contains(scalars[index]) { reached.append(step + 1) }
                }
            }
        }
        return false
    }
}

/// Unicode scalars, in any case unless it is exact.
private struct ScalarSet: Hashable {
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    var kinds: [Kind] = []
    var isNegated = false
    var isExact = false

    enum Kind: Hashable {
        case digit(Bool), word(Bool), space(Bool), newline

        func contains(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .digit(let isWanted): (scalar.properties.generalCategory == .decimalNumber) == isWanted
            case .word(let isWanted): ScalarSet.isWord(scalar) == isWanted
            case .space(let isWanted): scalar.properties.isWhitespace == isWanted
            case .newline: ("\n"..."\r").contains(scalar) || ["\u{85}", "\u{2028}", "\u{2029}"].contains(scalar)
            }
        }
    }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let isListed = kinds.contains { $0.contains(scalar) } || ranges.contains { $0.contains(scalar) }
        if isListed || isExact || ranges.isEmpty { return isListed != isNegated }
        let properties = scalar.properties
        let isOtherCase = [properties.lowercaseMapping, properties.uppercaseMapping].contains { mapped in
            guard let other = mapped.unicodeScalars.first, mapped.unicodeScalars.count == 1 else { return false }
            return ranges.contains { $0.contains(other) }
        }
        return isOtherCase != isNegated
    }

    static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .decimalNumber, .connectorPunctuation, .nonspacingMark, .spacingMark, .enclosingMark: return true
        default: return properties.isAlphabetic
        }
    }
}

private indirect enum PatternNode {
    case step(TextPattern.Step)
    case sequence([PatternNode])
    case either(PatternNode, PatternNode)
    /// `most` is nil if there is no bound.
    case repeated(PatternNode, least: Int, most: Int?)

    /// The number of steps that it becomes; too many are counted as `maxSteps`.
    var steps: Int {
        let steps =
            switch self {
            case .step: 1
            case .sequence(let nodes): nodes.reduce(0) { $0 + $1.steps }
            case .either(let first, let second): first.steps + second.steps + 2
            case .repeated(let node, let least, let most): (node.steps + 2) * max(least + 1, most ?? 0)
            }
        return min(steps, TextPattern.maxSteps)
    }

    func add(to program: inout [TextPattern.Step]) {
        switch self {
        case .step(let step): program.append(step)
        case .sequence(let nodes): for node in nodes { node.add(to: &program) }
        case .either(let first, let second):
            let split = program.count
            program.append(.found)
            first.add(to: &program)
            let jump = program.count
            program.append(.found)
            second.add(to: &program)
            program[split] = .split(split + 1, jump + 1)
            program[jump] = .split(program.count, program.count)
        case .repeated(let node, let least, let most):
            for _ in 0..<least { node.add(to: &program) }
            var splits: [Int] = []
            for _ in least..<(most ?? least + 1) {
                splits.append(program.count)
                program.append(.found)
                node.add(to: &program)
            }
            if most == nil, let split = splits.first { program.append(.split(split, split)) }
            for split in splits { program[split] = .split(split + 1, program.count) }
        }
    }
}

/// Reads a pattern, and refuses what `TextPattern` does not allow.
private struct PatternParser {
    var rest: Substring.UnicodeScalarView
    let isExact: Bool

    mutating func whole() throws(TextPattern.PatternError) -> PatternNode {
        let node = try alternatives()
        guard rest.isEmpty else { throw .noExpression }
        return node
    }

    private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func alternatives() throws(TextPattern.PatternError) -> PatternNode {
        var nodes = [try sequence()]
        while skip("|") { nodes.append(try sequence()) }
        return nodes.dropLast().reversed().reduce(nodes[nodes.count - 1]) { .either($1, $0) }
    }

    private mutating func sequence() throws(TextPattern.PatternError) -> PatternNode {
        var nodes: [PatternNode] = []
        while let next = rest.first, next != "|", next != ")" { nodes.append(try element()) }
        return .sequence(nodes)
    }

    private mutating func element() throws(TextPattern.PatternError) -> PatternNode {
        let node = try atom()
        guard let (least, most) = try repetition() else { return node }
        if case .step(.scalar) = node {} else if case .step = node { throw .noExpression }
        _ = skip("?")  // whether it takes much or little, the same texts match
        if let next = rest.first, "*+?{".unicodeScalars.contains(next) { throw .noExpression }
        return .repeated(node, least: least, most: most)
    }

    private mutating func repetition() throws(TextPattern.PatternError) -> (least: Int, most: Int?)? {
        if skip("*") { return (0, nil) }
        if skip("+") { return (1, nil) }
        if skip("?") { return (0, 1) }
        guard skip("{") else { return nil }
        let least = try count()
        guard skip(",") else {
            guard skip("}") else { throw .noExpression }
            return (least, least)
        }
        if skip("}") { return (least, nil) }
        let most = try count()
        guard skip("}"), least <= most else { throw .noExpression }
        return (least, most)
    }

    private mutating func count() throws(TextPattern.PatternError) -> Int {
        let digits = rest.prefix { ("0"..."9").contains($0) }
        rest = rest[digits.endIndex...]
        guard !digits.isEmpty else { throw .noExpression }
        guard let count = Int(String(digits)), count <= TextPattern.maxCount else {
            throw TextPattern.PatternError(
                reason: "repeats more than \(TextPattern.maxCount) times", remedy: "Give a smaller count, or `*`.")
        }
        return count
    }

    private mutating func atom() throws(TextPattern.PatternError) -> PatternNode {
        guard let scalar = rest.popFirst() else { throw .noExpression }
        switch scalar {
        case "(":
            if skip("?"), !skip(":") {
                throw TextPattern.PatternError(
                    reason: "has a group of a kind that is not supported, as look-around",
                    remedy: "Use `(…)` or `(?:…)`.")
            }
            let node = try alternatives()
            guard skip(")") else { throw .noExpression }
            return .sequence([node])
        case "[": return .step(.scalar(try set()))
        case ".": return .step(.scalar(ScalarSet(kinds: [.newline], isNegated: true)))
        case "^": return .step(.start)
        case "$": return .step(.end)
        case "\\":
            switch rest.first {
            case "b", "B", "A", "z":
                let letter = rest.removeFirst()
                return .step(letter == "A" ? .start : letter == "z" ? .end : .boundary(letter == "b"))
            default:
                var set = ScalarSet(isExact: isExact)
                if let scalar = try escape(&set) { set.ranges = [scalar...scalar] }
                return .step(.scalar(set))
            }
        case "*", "+", "?", "{": throw .noExpression
        default: return .step(.scalar(ScalarSet(ranges: [scalar...scalar], isExact: isExact)))
        }
    }

    /// Reads the rest of an escape, after its backslash: the scalar that it means, or nil if `set` got a kind.
    private mutating func escape(_ set: inout ScalarSet) throws(TextPattern.PatternError) -> Unicode.Scalar? {
        guard let letter = rest.popFirst() else { throw .noExpression }
        switch letter {
        case "d", "D": set.kinds.append(.digit(letter == "d"))
        case "w", "W": set.kinds.append(.word(letter == "w"))
        case "s", "S": set.kinds.append(.space(letter == "s"))
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "f": return "\u{C}"
        case "a"..."z", "A"..."Z", "0"..."9":
            throw TextPattern.PatternError(
                reason: "has a back-reference, or an escape that is not supported",
                remedy: #"The escapes are \d, \w, \s, \b, \D, \W, \S, \B, \A, \z, \n, \r, \t and \f."#)
        default: return letter
        }
        return nil
    }

    private mutating func set() throws(TextPattern.PatternError) -> ScalarSet {
        var set = ScalarSet(isNegated: skip("^"), isExact: isExact)
        if rest.first == "]" { throw .noExpression }
        while !skip("]") {
            guard let first = try member(&set) else { continue }
            var last = first
            if rest.first == "-", rest.dropFirst().first != "]" {
                rest.removeFirst()
                guard let end = try member(&set), first <= end else { throw .noExpression }
                last = end
            }
            set.ranges.append(first...last)
        }
        return set
    }

    private mutating func member(_ set: inout ScalarSet) throws(TextPattern.PatternError) -> Unicode.Scalar? {
        guard let scalar = rest.popFirst() else { throw .noExpression }
        if scalar == "[" {
            throw TextPattern.PatternError(reason: "has a class within a class", remedy: #"Write `\[` for the sign."#)
        }
        return scalar == "\\" ? try escape(&set) : scalar
    }
}
