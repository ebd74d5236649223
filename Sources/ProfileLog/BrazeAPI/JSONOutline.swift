internal import ProfileLogRequests

/// Where the parts of JSON arrays and objects begin and end, by brackets, commas and strings alone.
///
/// What is in the parts is not looked at: it may be anything between brackets that match. Any bytes are taken, in time
/// and memory proportional to their number.
struct JSONOutline {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The members of the object that is all of `range`, in their order; nil if it is no object.
    func members(of range: Range<Int>) -> [(key: Name, value: Range<Int>)]? {
        guard let parts = parts(of: range, brackets: ("{", "}")) else { return nil }
        var members: [(key: Name, value: Range<Int>)] = []
        for part in parts {
            guard let (key, value) = keyAndValue(of: part), case .string(let name)? = try? JSON.parse(Array(bytes[key]))
            else { return nil }
            members.append((Name(name), value))
        }
        return members
    }

    /// The elements of the array that is all of `range`; nil if it is none.
    func elements(of range: Range<Int>) -> [Range<Int>]? { parts(of: range, brackets: ("[", "]")) }

    /// What the commas part inside the `brackets` that are all of `range`; nil if they are not, or do not match.
    private func parts(of range: Range<Int>, brackets: (open: Unicode.Scalar, close: Unicode.Scalar)) -> [Range<Int>]? {
        let range = trimmed(range)
        guard range.count >= 2, bytes[range.lowerBound] == UInt8(ascii: brackets.open),
            bytes[range.upperBound - 1] == UInt8(ascii: brackets.close)
        else { return nil }
        let inside = range.lowerBound + 1..<range.upperBound - 1
        if trimmed(inside).isEmpty { return [] }
        var parts: [Range<Int>] = []
        var open: [UInt8] = []
        var begin = inside.lowerBound
        var next = begin
        while next < inside.upperBound {
            let byte = bytes[next]
            switch byte {
            case UInt8(ascii: "\""):
                guard let end = endOfString(at: next, in: inside) else { return nil }
                next = end
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(byte)
            // In ASCII a closing bracket is two after the opening one.
            case UInt8(ascii: "}"), UInt8(ascii: "]"): if open.popLast() != byte - 2 { return nil }
            case UInt8(ascii: ",") where open.isEmpty:
                parts.append(trimmed(begin..<next))
                begin = next + 1
            default: break
            }
            next += 1
        }
        parts.append(trimmed(begin..<inside.upperBound))
        return open.isEmpty ? parts : nil
    }

    /// The key with its quotation marks, and the value, of a part of an object; nil if it is none.
    private func keyAndValue(of member: Range<Int>) -> (key: Range<Int>, value: Range<Int>)? {
        guard let first = member.first, bytes[first] == UInt8(ascii: "\""),
            let end = endOfString(at: first, in: member), let colon = trimmed(end..<member.upperBound).first,
            bytes[colon] == UInt8(ascii: ":")
        else { return nil }
        return (first..<end, trimmed(colon + 1..<member.upperBound))
    }

    /// After the string that begins at `start`; nil if it does not end.
    private func endOfString(at start: Int, in range: Range<Int>) -> Int? {
        var next = start + 1
        while next < range.upperBound {
            switch bytes[next] {
            case UInt8(ascii: "\""): return next + 1
            case UInt8(ascii: "\\"): next += 2
            default: next += 1
            }
        }
        return nil
    }

    /// Without white space at both ends.
    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var range = range
        while let first = range.first, Self.isBlank(bytes[first]) { range.removeFirst() }
        while let last = range.last, Self.isBlank(bytes[last]) { range.removeLast() }
        return range
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}

/// The objects of a track request, each parsed alone: for a body in which one of them has a value that cannot be read.
struct ObjectwiseReading {
    private(set) var arrays: [(TrackArray, [TrackBody.Element])] = []

    /// Reads a body that is JSON. Nil if something outside of the objects cannot be read: then it is refused as a
    /// whole.
    init?(_ bytes: [UInt8], maxDepth: Int) {
        let outline = JSONOutline(bytes)
        guard let members = outline.members(of: bytes.indices) else { return nil }
        var found: [TrackArray: [TrackBody.Element]] = [:]
        var keys: Set<Name> = []
        for (key, value) in members {
            guard keys.insert(key).inserted else { return nil }
            guard let array = TrackArray(rawValue: key.text) else {
                guard (try? JSON.parse(Array(bytes[value]), maxDepth: maxDepth - 1)) != nil else { return nil }
                continue
            }
            if bytes[value].elementsEqual("null".utf8) { continue }
            guard let elements = outline.objects(of: value) else { return nil }
            found[array] = []
            for element in elements {
                do throws(JSONError) {
                    // It is in an object and an array, and the parser counts from the element.
                    found[array]?.append(.success(try JSON.parse(Array(bytes[element]), maxDepth: maxDepth - 2)))
                } catch {
                    guard error.isAboutAValue else { return nil }
                    found[array]?.append(.failure(.object(error.kind.description, kept: error.kind.nameless)))
                }
            }
        }
        arrays = TrackArray.allCases.compactMap { array in found[array].map { (array, $0) } }
    }
}

extension JSONOutline {
    /// The objects of one of the three arrays; an object without an array around it is one.
    func objects(of range: Range<Int>) -> [Range<Int>]? {
        elements(of: range) ?? (members(of: range) == nil ? nil : [range])
    }
}

extension JSONError.Kind {
    /// What is wrong, without a key that the sender chose; nil if the description has none.
    fileprivate var nameless: String? {
        if case .duplicateKey = self { "a key stands twice in one object" } else { nil }
    }
}

extension JSONError {
    /// Whether the text is well-formed as far as it was read, and has a value that we cannot keep.
    var isAboutAValue: Bool {
        switch kind {
        case .integerTooLarge, .numberTooLarge, .loneSurrogate, .duplicateKey, .tooDeep: true
        default: false
        }
    }
}
