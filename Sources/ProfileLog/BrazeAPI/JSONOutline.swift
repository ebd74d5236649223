internal import ProfileLogRequests

/// Where the parts of JSON arrays and objects are, in bytes that are JSON (``JSONSyntax``). The values in them are not
/// parsed.
struct JSONOutline {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The members of the object at `range`, in their order; nil if it is no object, or a key cannot be read.
    func members(of range: Range<Int>) -> [(key: Name, value: Range<Int>)]? {
        var syntax = JSONSyntax(bytes, from: range.lowerBound)
        return try? syntax.readParts("{", "}") { syntax throws(JSONError) in
            let key = try syntax.readKey()
            guard case .string(let name) = try JSON.parse(Array(bytes[key])) else { return nil }
            return (Name(name), try syntax.readValue())
        }
    }

    /// The elements of the array at `range`; nil if it is no array.
    func elements(of range: Range<Int>) -> [Range<Int>]? {
        var syntax = JSONSyntax(bytes, from: range.lowerBound)
        return try? syntax.readParts("[", "]") { syntax throws(JSONError) in try syntax.readValue() }
    }
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
        if case .duplicateKey = self { "a key is twice in one object" } else { nil }
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
