internal import ProfileLog
internal import ProfileLogNativeAPI

/// The expectation of an answer: a part of it, with the lines of the file that say so.
///
/// Of an object each named member is compared, and others are ignored; `null` means that there is no value. A list has
/// the same elements in the same order; `{$contains: [...]}` has at least these, in this order. Numbers have the same
/// type: `1` is not `1.0`. Times are the same moment, however they are written.
struct Expected: Sendable {
    let line: Int
    let form: Form

    indirect enum Form: Sendable {
        case value(AttributeValue)
        case object([(key: Name, value: Expected)])
        case list([Expected])
        case contains([Expected])
    }

    init(line: Int, form: Form) {
        self.line = line
        self.form = form
    }

    init(_ node: YAMLNode) throws(YAMLFileError) {
        line = node.spot.line
        if node.isList {
            form = .list(try Self.elements(node))
        } else if node.isMapping {
            let members = try node.members()
            if members.count == 1, let member = members.first, member.key == "$contains" {
                form = .contains(try Self.elements(member.value))
                return
            }
            var parts: [(key: Name, value: Expected)] = []
            for (key, value) in members { parts.append((key, try Expected(value))) }
            form = .object(parts)
        } else {
            form = .value(try node.json())
        }
    }

    private static func elements(_ node: YAMLNode) throws(YAMLFileError) -> [Expected] {
        var elements: [Expected] = []
        for element in try node.elements() { elements.append(try Expected(element)) }
        return elements
    }

    /// The same as JSON, for messages.
    var value: AttributeValue {
        switch form {
        case .value(let value): value
        case .object(let members):
            .object(sorting: members.map { .init($0.key, $0.value.value) }) ?? .null
        case .list(let elements): .array(elements.map(\.value))
        case .contains(let elements): .object([.init("$contains", .array(elements.map(\.value)))])
        }
    }
}

/// A place at which an answer is not as expected.
struct Difference: Sendable {
    /// The line of the scenario file.
    let line: Int
    /// As in `custom_events[0].count`.
    let place: String
    let expected: String
    let actual: String
}

extension Expected {
    private static let nothing = "(none)"

    /// Returns the places at which `actual` differs; nil is a missing member.
    func differences(from actual: AttributeValue?, at place: String = "") -> [Difference] {
        switch form {
        case .value(let value): return Self.isSame(value, actual) ? [] : [difference(actual, place)]
        case .object(let members):
            guard case .object? = actual else { return [difference(actual, place)] }
            return members.flatMap { key, value in
                value.differences(from: actual?[key], at: place.isEmpty ? key.text : "\(place).\(key.text)")
            }
        case .list(let elements):
            guard case .array(let found)? = actual else { return [difference(actual, place)] }
            let both = zip(elements, found).enumerated().flatMap { index, pair in
                pair.0.differences(from: pair.1, at: "\(place)[\(index)]")
            }
            let missing = elements.enumerated().dropFirst(found.count).map { index, element in
                element.difference(nil, "\(place)[\(index)]")
            }
            let unexpected = found.enumerated().dropFirst(elements.count).map { index, value in
                Difference(line: line, place: "\(place)[\(index)]", expected: Self.nothing, actual: value.shown)
            }
            return both + missing + unexpected
        case .contains(let elements):
            guard case .array(let found)? = actual else { return [difference(actual, place)] }
            var rest = found[...]
            for element in elements {
                guard let match = rest.firstIndex(where: { element.differences(from: $0).isEmpty }) else {
                    let after = rest.count == found.count ? "" : " after the one before"
                    return [
                        Difference(
                            line: element.line, place: place, expected: element.value.shown,
                            actual: "none of \(Number.counted(UInt64(rest.count), "element"))\(after)")
                    ]
                }
                rest = rest[(match + 1)...]
            }
            return []
        }
    }

    private func difference(_ actual: AttributeValue?, _ place: String) -> Difference {
        Difference(
            line: line, place: place, expected: value == .null ? Self.nothing : value.shown,
            actual: actual.map(\.shown) ?? Self.nothing)
    }

    private static func isSame(_ expected: AttributeValue, _ actual: AttributeValue?) -> Bool {
        if expected == actual ?? .null { return true }
        guard let left = expected.text, let right = actual?.text, let moment = OccurredAt(iso8601: left) else {
            return false
        }
        return moment.timestamp == OccurredAt(iso8601: right)?.timestamp
    }
}

extension AttributeValue {
    /// The value as JSON; plain text without quotation marks unless it reads as another value.
    fileprivate var shown: String {
        guard let text else { return json }
        let isPlain = (try? JSON.parse(text)) == nil && !text.isEmpty && text.first != "("
        return isPlain && text.allSatisfy { !$0.isNewline } ? text : json
    }
}
