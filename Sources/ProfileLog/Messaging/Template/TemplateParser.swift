/// Reads the text of a template from left to right, once.
struct TemplateParser {
    private let scalars: [Unicode.Scalar]
    private var next = 0
    /// The place of `counted`.
    private var place = Template.Spot()
    private var counted = 0
    /// Variables that the text has assigned so far.
    private var variables: Set<Name> = []
    /// Tells whether the last bracket said that white space after it does not count.
    private var trimsNext = false

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// All of the text.
    mutating func template() throws(TemplateError) -> [Template.Node] {
        try block(of: nil, depth: 0).nodes
    }

    // MARK: - Blocks

    /// A tag that is open, and the tags that may end its block.
    private struct Opening {
        var tag: Tag
        var spot: Template.Spot
        var closers: Set<Tag>
    }

    private enum Tag: String, CaseIterable {
        case `if`, elsif, `else`, endif, assign, `for`, endfor
        case abort = "abort_message"
    }

    private mutating func block(
        of opening: Opening?, depth: Int
    ) throws(TemplateError) -> (nodes: [Template.Node], closer: Tag?) {
        guard depth <= Template.maxDepth else {
            throw TemplateError(
                spot(), "blocks are nested deeper than \(Template.maxDepth)", remedy: "Take a level out.")
        }
        var nodes: [Template.Node] = []
        while let bracket = text(into: &nodes) {
            let spot = spot()
            next += 2
            if peek() == "-" { next += 1 }
            if bracket == .placeholder {
                nodes.append(.output(try expression()))
                try close(.placeholder, opened: spot)
            } else if let closer = try tag(at: spot, in: opening, depth, &nodes) {
                return (nodes, closer)
            }
        }
        if let opening {
            let end = opening.tag == .for ? "endfor" : "endif"
            throw TemplateError(
                opening.spot, "`\(opening.tag.rawValue)` has no end", remedy: "Add `{% \(end) %}`.")
        }
        return (nodes, nil)
    }

    /// Reads one tag, after its bracket; returns it if it ends the block of `opening`.
    private mutating func tag(
        at spot: Template.Spot, in opening: Opening?, _ depth: Int, _ nodes: inout [Template.Node]
    ) throws(TemplateError) -> Tag? {
        skipBlanks()
        let wordSpot = self.spot()
        let word = word()
        guard let tag = Tag(rawValue: word) else {
            if word.isEmpty {
                throw TemplateError(wordSpot, "there is no tag", remedy: "Write its name after `{%`.")
            }
            throw .unknown(word, "is no tag", among: Tag.allCases.map(\.rawValue), at: wordSpot)
        }
        switch tag {
        case .elsif, .else, .endif, .endfor:
            guard let opening, opening.closers.contains(tag) else {
                throw TemplateError(
                    wordSpot, "`\(word)` is outside its block",
                    remedy: opening.map { "The open tag is `\($0.tag.rawValue)` in line \($0.spot.line)." }
                        ?? "Take it out, or open the block before it.")
            }
            // A condition follows `elsif`, and its reader closes the tag.
            if tag != .elsif { try close(.tag, opened: spot) }
            return tag
        case .if: nodes.append(try branches(opened: spot, depth))
        case .for: nodes.append(try loop(opened: spot, depth))
        case .assign:
            let variable = try newVariable()
            try expect("=")
            let value = try expression()
            try close(.tag, opened: spot)
            variables.insert(variable)
            nodes.append(.assign(variable, value))
        case .abort:
            try expect("(")
            skipBlanks()
            var reason: String?
            if peek() == "'" || peek() == "\"" { reason = try literalText() }
            try expect(")")
            try close(.tag, opened: spot)
            nodes.append(.abort(reason: reason))
        }
        return nil
    }

    private mutating func branches(opened spot: Template.Spot, _ depth: Int) throws(TemplateError) -> Template.Node {
        var branches: [Template.Branch] = []
        var condition: Template.Condition? = try self.condition()
        try close(.tag, opened: spot)
        while true {
            let closers: Set<Tag> = condition == nil ? [.endif] : [.elsif, .else, .endif]
            let (nodes, closer) = try block(of: Opening(tag: .if, spot: spot, closers: closers), depth: depth + 1)
            branches.append(Template.Branch(condition: condition, nodes: nodes))
            guard closer != .endif else { return .branches(branches) }
            condition = nil
            if closer == .elsif {
                condition = try self.condition()
                try close(.tag, opened: spot)
            }
        }
    }

    private mutating func loop(opened spot: Template.Spot, _ depth: Int) throws(TemplateError) -> Template.Node {
        let variable = try newVariable()
        skipBlanks()
        let place = self.spot()
        guard word() == "in" else {
            throw TemplateError(place, "`in` is missing", remedy: "Write `{% for item in list %}`.")
        }
        let sequence = try sequence()
        try close(.tag, opened: spot)
        let isNew = variables.insert(variable).inserted
        let opening = Opening(tag: .for, spot: spot, closers: [.endfor])
        let nodes = try block(of: opening, depth: depth + 1).nodes
        if isNew { variables.remove(variable) }
        return .loop(variable: variable, over: sequence, nodes)
    }

    private mutating func sequence() throws(TemplateError) -> Template.Sequence {
        skipBlanks()
        let place = spot()
        if peek() == "(" {
            next += 1
            let first = try operand()
            try expect(".")
            try expect(".")
            let last = try operand()
            try expect(")")
            if case (.literal(.int(let first)), .literal(.int(let last))) = (first, last),
                Double(last) - Double(first) >= Double(Template.maxSteps)
            {
                throw TemplateError(
                    place, "the loop takes more than \(Template.maxSteps) steps",
                    remedy: "Write bounds that are closer.")
            }
            return .numbers(from: first, through: last, place)
        }
        guard case .reference(let reference) = try operand() else {
            throw TemplateError(
                place, "nothing to go through", remedy: "Name a value that is an array, or write `(1..3)`.")
        }
        return .elements(reference)
    }

    private mutating func newVariable() throws(TemplateError) -> Name {
        skipBlanks()
        let place = spot()
        let word = word()
        guard !word.isEmpty else {
            throw TemplateError(place, "the name of a variable is missing", remedy: "Write it in letters.")
        }
        return Name(word)
    }

    // MARK: - Conditions

    private mutating func condition() throws(TemplateError) -> Template.Condition {
        var condition = Template.Condition(comparisons: [try comparison()], joints: [])
        while true {
            skipBlanks()
            let start = next
            switch word() {
            case "and": condition.joints.append(.and)
            case "or": condition.joints.append(.or)
            default:
                next = start
                return condition
            }
            condition.comparisons.append(try comparison())
        }
    }

    private mutating func comparison() throws(TemplateError) -> Template.Comparison {
        skipBlanks()
        let place = spot()
        let left = try operand()
        skipBlanks()
        let start = next
        if word() == Template.Comparator.contains.rawValue {
            return Template.Comparison(left: left, comparator: .contains, right: try operand(), spot: place)
        }
        next = start
        guard let comparator = Template.Comparator.symbols.first(where: { follows($0.rawValue) }) else {
            return Template.Comparison(left: left, spot: place)
        }
        next += comparator.rawValue.utf8.count
        let right = try operand()
        return Template.Comparison(left: left, comparator: comparator, right: right, spot: place)
    }

    // MARK: - Values

    private mutating func expression() throws(TemplateError) -> Template.Expression {
        skipBlanks()
        let place = spot()
        var expression = Template.Expression(operand: try operand(), filters: [], spot: place)
        while true {
            skipBlanks()
            guard peek() == "|" else { return expression }
            next += 1
            expression.filters.append(try filter())
        }
    }

    private mutating func filter() throws(TemplateError) -> Template.Filter {
        skipBlanks()
        let place = spot()
        let word = word()
        guard let kind = Template.Filter.Kind(rawValue: word) else {
            let kinds = Template.Filter.Kind.allCases.map(\.rawValue)
            if word.isEmpty {
                throw TemplateError(
                    place, "the name of a filter is missing", remedy: "There are \(kinds.joined(separator: ", ")).")
            }
            throw .unknown(word, "is no filter", among: kinds, at: place)
        }
        skipBlanks()
        guard kind.hasArgument == (peek() == ":") else {
            throw TemplateError(
                place, kind.hasArgument ? "`\(word)` lacks its value" : "`\(word)` takes no value",
                remedy: kind.hasArgument ? "Write `\(word): value`." : "Take it out.")
        }
        guard kind.hasArgument else { return Template.Filter(kind: kind, argument: nil, spot: place) }
        next += 1
        let argument = try operand()
        if kind == .date, case .literal(.string(let format)) = argument, let error = DateFormat.error(in: format) {
            throw TemplateError(place, error, remedy: DateFormat.remedy)
        }
        return Template.Filter(kind: kind, argument: argument, spot: place)
    }

    private mutating func operand() throws(TemplateError) -> Template.Operand {
        skipBlanks()
        let place = spot()
        switch peek() {
        case "'", "\"": return .literal(.string(try literalText()))
        case "$": return .reference(try reference(at: place))
        case "{" where follows("{{"):
            next += 2
            skipBlanks()
            let reference = try reference(at: spot())
            try close(.placeholder, opened: place)
            return .reference(reference)
        case let sign? where sign == "-" || Self.isDigit(sign): return .literal(try number())
        default: break
        }
        let start = next
        switch word() {
        case "true": return .literal(.bool(true))
        case "false": return .literal(.bool(false))
        case "blank": return .blank
        case "nil", "null": return .absent
        case "": throw unexpected(at: place)
        default:
            next = start
            return .reference(try reference(at: place))
        }
    }

    private mutating func reference(at place: Template.Spot) throws(TemplateError) -> Template.Reference {
        let start = next
        let root = try root(at: place)
        var reference = Template.Reference(root: root, spot: place, text: "")
        while let key = try key(after: reference) { reference.path.append(key) }
        reference.text = TemplateError.shown(string(start..<next))
        return reference
    }

    private mutating func root(at place: Template.Spot) throws(TemplateError) -> Template.Reference.Root {
        if peek() == "$" {
            let name = try bracedName()
            guard let field = UserField(name) else {
                throw .unknown(name, "is no standard attribute", among: UserField.names, at: place)
            }
            return .user(field)
        }
        let word = word()
        guard follows(".$") else {
            guard variables.contains(Name(word)) else {
                if word.isEmpty { throw unexpected(at: place) }
                let known = variables.map(\.text).sorted()
                throw TemplateError(
                    place, "`\(TemplateError.shown(word))` has no value",
                    remedy: NearestNames(to: word, among: known).question()
                        ?? "Assign it before, or write `${\(TemplateError.shown(word))}` for an attribute.")
            }
            return .variable(Name(word))
        }
        next += 1
        let name = try bracedName()
        if word == "custom_attribute" { return .customAttribute(Name(name)) }
        if let source = PropertySource.allCases.first(where: { $0.names.contains(word) }) {
            return .property(source, Name(name))
        }
        guard word == "campaign" else {
            let known = ["custom_attribute"] + PropertySource.allCases.flatMap(\.names) + ["campaign"]
            throw .unknown(word, "means nothing before `.${…}`", among: known, at: place)
        }
        guard let fact = MessageFact(rawValue: name) else {
            throw .unknown(name, "is not known of a campaign", among: MessageFact.allCases.map(\.rawValue), at: place)
        }
        return .message(fact)
    }

    /// The name in `${name}`.
    private mutating func bracedName() throws(TemplateError) -> String {
        let place = spot()
        guard follows("${"), let end = scalars[next...].firstIndex(where: { $0 == "}" || $0 == "\n" }),
            scalars[end] == "}"
        else { throw TemplateError(place, "`${` has no end", remedy: "Close the name with `}`.") }
        let name = string(next + 2..<end)
        next = end + 1
        guard !name.isEmpty, !name.isLonger(than: Limits.charactersPerName) else {
            let limit = Limits.charactersPerName
            throw TemplateError(place, "`${…}` needs a name of 1 to \(limit) characters", remedy: "Write it there.")
        }
        return name
    }

    /// `.name`, `[0]` or `['name']`; nil if something else follows.
    private mutating func key(after reference: Template.Reference) throws(TemplateError) -> Template.Reference.Key? {
        let place = spot()
        if peek() == ".", let second, Self.isLetter(second) {
            next += 1
            let word = word()
            if reference.isText, Template.Reference.Fact(rawValue: word) == nil {
                let facts = Template.Reference.Fact.allCases.map(\.rawValue)
                throw .unknown(word, "is no member of text", among: facts, at: place)
            }
            return .member(Name(word))
        }
        guard peek() == "[" else { return nil }
        if reference.isText {
            throw TemplateError(
                place, "text has no elements", remedy: "Write `.first` or `.last`, or take the brackets out.")
        }
        next += 1
        let key: Template.Reference.Key
        switch try operand() {
        case .literal(.string(let text)): key = .quotedMember(Name(text))
        case .literal(.int(let index)): key = .element(Int(index))
        default:
            throw TemplateError(place, "is neither a number nor text", remedy: "Write `[0]` or `['name']`.")
        }
        try expect("]")
        return key
    }

    private mutating func literalText() throws(TemplateError) -> String {
        let place = spot()
        let quote = scalars[next]
        guard let end = scalars[(next + 1)...].firstIndex(of: quote) else {
            throw TemplateError(
                place, "the text has no end", remedy: "Close it with \(quote).")
        }
        defer { next = end + 1 }
        return string((next + 1)..<end)
    }

    private mutating func number() throws(TemplateError) -> AttributeValue {
        let place = spot()
        let start = next
        next += 1
        // A point is of the number if a digit follows: in `(1..3)` it is not.
        while let scalar = peek(), Self.isDigit(scalar) || scalar == "." && second.map(Self.isDigit) ?? false {
            next += 1
        }
        let text = string(start..<next)
        if let integer = Int64(text) { return .int(integer) }
        guard let double = Double(text), double.isFinite else {
            throw TemplateError(
                place, "`\(TemplateError.shown(text))` is no number", remedy: "Write one as in 12 or 1.5.")
        }
        return .double(double)
    }

    // MARK: - Text

    private enum Bracket: Hashable { case placeholder, tag }

    /// Appends the text before the next bracket; returns the bracket, nil at the end.
    private mutating func text(into nodes: inout [Template.Node]) -> Bracket? {
        let start = next
        var bracket: Bracket?
        while next < scalars.count {
            if scalars[next] == "{", let second, second == "{" || second == "%" {
                bracket = second == "{" ? .placeholder : .tag
                break
            }
            next += 1
        }
        var text = scalars[start..<next]
        if trimsNext { text = text.drop(while: Self.isBlank) }
        if bracket != nil, next + 2 < scalars.count, scalars[next + 2] == "-" {
            while let last = text.last, Self.isBlank(last) { text.removeLast() }
        }
        trimsNext = false
        if !text.isEmpty { nodes.append(.text(String(String.UnicodeScalarView(text)))) }
        return bracket
    }

    /// Reads the closing bracket.
    private mutating func close(_ bracket: Bracket, opened: Template.Spot) throws(TemplateError) {
        skipBlanks()
        let (begin, end) = bracket == .placeholder ? ("{{", "}}") : ("{%", "%}")
        if follows("-" + end) {
            trimsNext = true
            next += 1
        }
        guard follows(end) else {
            if next >= scalars.count {
                throw TemplateError(opened, "`\(begin)` has no end", remedy: "Close it with `\(end)`.")
            }
            throw TemplateError(
                spot(), "unexpected text before `\(end)`", remedy: "Close `\(begin)` with `\(end)` here.")
        }
        next += 2
    }

    private mutating func expect(_ scalar: Unicode.Scalar) throws(TemplateError) {
        skipBlanks()
        guard peek() == scalar else {
            throw TemplateError(
                spot(), "`\(scalar)` is missing", remedy: "Write it here.")
        }
        next += 1
    }

    private mutating func unexpected(at place: Template.Spot) -> TemplateError {
        TemplateError(
            place, next >= scalars.count ? "the text ends before a value" : "no value begins here",
            remedy: "Write `${name}`, `custom_attribute.${name}`, 'text' or a number.")
    }

    private func peek() -> Unicode.Scalar? { next < scalars.count ? scalars[next] : nil }

    /// The scalar after the next one.
    private var second: Unicode.Scalar? { next + 1 < scalars.count ? scalars[next + 1] : nil }

    private func follows(_ text: String) -> Bool { scalars[next...].starts(with: text.unicodeScalars) }

    private func string(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }

    private mutating func skipBlanks() {
        while let scalar = peek(), Self.isBlank(scalar) { next += 1 }
    }

    /// The word that begins here; empty if none does. A hyphen before a closing bracket belongs to the bracket.
    private mutating func word() -> String {
        let start = next
        guard let first = peek(), Self.isLetter(first) else { return "" }
        while let scalar = peek(), Self.isLetter(scalar) || Self.isDigit(scalar) || scalar == "-" && !endsHere {
            next += 1
        }
        return string(start..<next)
    }

    private var endsHere: Bool { follows("-}}") || follows("-%}") }

    /// Returns the place of `next`.
    private mutating func spot() -> Template.Spot {
        if next < counted { (place, counted) = (Template.Spot(), 0) }
        for scalar in scalars[counted..<next] {
            place.column += 1
            if scalar == "\n" { place = Template.Spot(line: place.line + 1, column: 1) }
        }
        counted = next
        return place
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "_": true
        default: false
        }
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { "0"..."9" ~= scalar }
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || "\t"..."\r" ~= scalar }
}
