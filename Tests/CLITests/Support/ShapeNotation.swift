import ProfileLog
import ProfileLogRequests
import TestSupport

/// The way in which docs/json.md writes a shape: `{id: text, note?: text, rows: [Event], sums: {*: number}}`.
extension AnswerShape {
    /// The shape on one line; a shape with a name is its name.
    var notation: String {
        switch self {
        case .text: "text"
        case .integer: "integer"
        case .number: "number"
        case .boolean: "boolean"
        case .time: "time"
        case .any: "any"
        case .array(let element): "[\(element.notation)]"
        case .map(let value): "{*: \(value.notation)}"
        case .object(let members):
            "{\(members.map { "\($0.name)\($0.isRequired ? "" : "?"): \($0.shape.notation)" }.joined(separator: ", "))}"
        case .orNull(let shape): "\(shape.notation) or null"
        case .either(let shapes): shapes.map(\.notation).joined(separator: " or ")
        case .named(let name, _): name
        }
    }

    /// The shapes with a name in this one, each before those that it holds.
    var named: [(name: String, shape: AnswerShape)] {
        switch self {
        case .text, .integer, .number, .boolean, .time, .any: []
        case .array(let shape), .map(let shape), .orNull(let shape): shape.named
        case .object(let members): members.flatMap(\.shape.named)
        case .either(let shapes): shapes.flatMap(\.named)
        case .named(let name, let shape): [(name, shape)] + shape.named
        }
    }

    /// Every member with `?` in this shape, also inside, without those of shapes with a name.
    var optionalMembers: Set<String> {
        switch self {
        case .text, .integer, .number, .boolean, .time, .any, .named: []
        case .array(let shape), .map(let shape), .orNull(let shape): shape.optionalMembers
        case .either(let shapes): shapes.reduce(into: []) { $0.formUnion($1.optionalMembers) }
        case .object(let members):
            members.reduce(into: []) { names, member in
                if !member.isRequired { names.insert(member.name) }
                names.formUnion(member.shape.optionalMembers)
            }
        }
    }

    /// The part of the answer that is a line: `users[]`, `settings.messages`, `without faults, samples`; nil if the
    /// shape has no such part.
    func part(_ path: String) -> AnswerShape? {
        if path.hasPrefix("without ") {
            let names = Set(path.dropFirst("without ".count).split(separator: ", ").map(String.init))
            return .object(members.filter { !names.contains($0.name) })
        }
        return path.split(separator: ".").reduce(self as AnswerShape?) { shape, step in
            guard let shape else { return nil }
            if case .either(let shapes) = shape {
                return shapes.lazy.compactMap { $0.part(String(step)) }.first
            }
            let name = step.hasSuffix("[]") ? step.dropLast(2) : step
            let member = shape.members.first { $0.name == name }?.shape
            if name == step { return member }
            guard case .array(let element)? = member else { return nil }
            return element
        }
    }
}

/// Reads the notation of a shape. Joins objects at `&`.
struct ShapeParser {
    struct Failure: Error { let rest: String }

    /// The shapes that have a name.
    let names: [String: AnswerShape]
    private var rest: Substring

    static func parse(_ text: String, names: [String: AnswerShape]) throws -> AnswerShape {
        var parser = ShapeParser(names: names, rest: text[...])
        let shape = try parser.shape()
        if !parser.rest.isEmpty { throw Failure(rest: String(parser.rest)) }
        return shape
    }

    private mutating func take(_ word: String) -> Bool {
        rest = rest.drop { $0.isWhitespace }
        guard rest.hasPrefix(word) else { return false }
        rest = rest.dropFirst(word.count).drop { $0.isWhitespace }
        return true
    }

    private mutating func name() throws -> String {
        let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "*" }
        if name.isEmpty { throw Failure(rest: String(rest)) }
        rest = rest.dropFirst(name.count)
        return String(name)
    }

    private mutating func shape() throws -> AnswerShape {
        var shapes = [try one()]
        var isNullable = false
        while take("or ") {
            if take("null") { isNullable = true } else { shapes.append(try one()) }
        }
        while take("&") { shapes[0] = shapes[0] + (try one()) }
        let shape = shapes.count == 1 ? shapes[0] : .either(shapes)
        return isNullable ? .orNull(shape) : shape
    }

    private mutating func one() throws -> AnswerShape {
        if take("[") {
            let element = try shape()
            guard take("]") else { throw Failure(rest: String(rest)) }
            return .array(element)
        }
        guard take("{") else {
            let name = try name()
            let simple: [String: AnswerShape] = [
                "text": .text, "integer": .integer, "number": .number, "boolean": .boolean, "time": .time, "any": .any,
            ]
            guard let shape = simple[name] ?? names[name] else { throw Failure(rest: name) }
            return shape
        }
        var object: AnswerShape = [:]
        while !take("}") {
            let key = try name() + (take("?") ? "?" : "")
            guard take(":") else { throw Failure(rest: String(rest)) }
            let value = try shape()
            if key == "*" {
                guard take("}") else { throw Failure(rest: String(rest)) }
                return .map(value)
            }
            object = object + .members([key], value)
            _ = take(",")
        }
        return object
    }
}
