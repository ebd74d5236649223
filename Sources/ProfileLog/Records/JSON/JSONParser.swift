/// Reads one JSON document: a cursor over borrowed bytes, and the members of the objects that are still open.
///
/// The bytes must outlive the parser. Use `JSON.parse`.
struct JSONParser: ~Copyable {
    let start: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    /// The first byte not yet read.
    var next: UnsafePointer<UInt8>
    private let maxDepth: Int
    private let mode: Mode
    private var openMembers = JSONMemberStack()
    /// The first value since the last look that is JSON and cannot be kept; not in `strict` mode.
    private var firstError: JSONError?
    /// Errors of each element of the member that is being read, in `objectwise` mode.
    private var elementErrors: [JSONError?] = []
    /// Errors in the elements of each member of the whole input, in `objectwise` mode.
    private(set) var errors: [Name: [JSONError?]] = [:]

    enum Mode {
        case strict
        /// A value that cannot be kept inside an element of a member of the whole input is an error of that element
        /// only.
        case objectwise
        /// Members stay in the order of the text, and what cannot be kept does not matter.
        case inSentOrder
    }

    /// The deepest value that is read although it is too deep to be kept.
    private static let hardMaxDepth = 200

    init(_ bytes: UnsafeRawBufferPointer, maxDepth: Int, _ mode: Mode = .strict) throws(JSONError) {
        guard let base = bytes.baseAddress else { throw JSONError(.unexpectedEnd, at: 0) }
        start = base.assumingMemoryBound(to: UInt8.self)
        next = start
        end = start + bytes.count
        self.maxDepth = maxDepth
        self.mode = mode
    }

    /// The value that is the whole input.
    mutating func document() throws(JSONError) -> AttributeValue {
        skipWhitespace()
        let result = try value(depth: 0)
        skipWhitespace()
        guard next == end else { throw error(.trailingContent) }
        return result
    }

    /// The value that begins at `next`, inside `depth` arrays and objects.
    private mutating func value(depth: Int) throws(JSONError) -> AttributeValue {
        guard next < end else { throw error(.unexpectedEnd) }
        switch next.pointee {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default: throw error(.unexpectedByte)
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> AttributeValue {
        if depth > maxDepth { try refuseDepth(depth) }
        next += 1
        skipWhitespace()
        if next < end, next.pointee == UInt8(ascii: "}") {
            next += 1
            return .object([])
        }
        let first = openMembers.count
        while true {
            guard next < end else { throw error(.unexpectedEnd) }
            guard next.pointee == UInt8(ascii: "\"") else { throw error(.unexpectedByte) }
            let keyStart = next
            let key = try string()
            if depth == 1, let firstError { throw firstError }
            let prefix = JSONMemberStack.orderPrefix(of: key, writtenAt: keyStart + 1, upTo: next - 1)
            skipWhitespace()
            guard next < end else { throw error(.unexpectedEnd) }
            guard next.pointee == UInt8(ascii: ":") else { throw error(.unexpectedByte) }
            next += 1
            skipWhitespace()
            let member = AttributeValue.Member(Name(key), try value(depth: depth))
            if mode == .objectwise, depth == 1 { try noteErrors(of: member) }
            openMembers.push(.init(member: member, prefix: prefix, offset: keyStart - start))
            if try closes(with: UInt8(ascii: "}")) { return .object(try members(from: first, depth: depth)) }
        }
    }

    private mutating func members(from first: Int, depth: Int) throws(JSONError) -> [AttributeValue.Member] {
        if mode == .strict || mode == .objectwise && depth == 1 { return try openMembers.pop(from: first) }
        do {
            return try openMembers.pop(from: first, isSorted: mode == .objectwise)
        } catch {
            firstError = firstError ?? error
            return []
        }
    }

    /// Notes the values that cannot be kept in a member of the whole input: an element has its own error, and all else
    /// throws.
    private mutating func noteErrors(of member: AttributeValue.Member) throws(JSONError) {
        switch member.value {
        case .array: break
        case .object: elementErrors = [firstError.take()]
        default: if let firstError { throw firstError }
        }
        errors[member.key] = elementErrors
        elementErrors = []
    }

    private mutating func array(depth: Int) throws(JSONError) -> AttributeValue {
        if depth > maxDepth { try refuseDepth(depth) }
        next += 1
        skipWhitespace()
        var elements: [AttributeValue] = []
        if next < end, next.pointee == UInt8(ascii: "]") {
            next += 1
            return .array(elements)
        }
        while true {
            elements.append(try value(depth: depth))
            if mode == .objectwise, depth == 2 { elementErrors.append(firstError.take()) }
            if try closes(with: UInt8(ascii: "]")) { return .array(elements) }
        }
    }

    /// Reads what follows an element: true for `bracket`; false for a comma with another element after it.
    @inline(__always)
    private mutating func closes(with bracket: UInt8) throws(JSONError) -> Bool {
        skipWhitespace()
        guard next < end else { throw error(.unexpectedEnd) }
        if next.pointee == bracket {
            next += 1
            return true
        }
        guard next.pointee == UInt8(ascii: ",") else { throw error(.unexpectedByte) }
        let comma = next
        next += 1
        skipWhitespace()
        if next < end, next.pointee == bracket { throw error(.trailingComma, at: comma) }
        return false
    }

    private mutating func literal(_ word: StaticString) throws(JSONError) {
        let length = word.utf8CodeUnitCount
        guard end - next >= length else { throw error(.invalidLiteral) }
        for index in 0..<length where next[index] != word.utf8Start[index] { throw error(.invalidLiteral) }
        next += length
    }

    @inline(__always)
    private mutating func skipWhitespace() {
        while next < end, next.pointee <= 0x20 {
            switch next.pointee {
            case 0x20, 0x09, 0x0A, 0x0D: next += 1
            default: return
            }
        }
    }

    /// Ends the reading for a value that is JSON and cannot be kept, or notes it.
    @inline(never)
    mutating func refuse(_ kind: JSONError.Kind, at place: UnsafePointer<UInt8>) throws(JSONError) {
        guard mode != .strict else { throw error(kind, at: place) }
        if mode == .objectwise { firstError = firstError ?? error(kind, at: place) }
    }

    @inline(never)
    private mutating func refuseDepth(_ depth: Int) throws(JSONError) {
        // An element counts from itself.
        try refuse(.tooDeep(limit: mode == .objectwise ? maxDepth - 2 : maxDepth), at: next)
        if depth > Self.hardMaxDepth { throw error(.tooDeep(limit: maxDepth)) }
    }

    @inline(never)
    func error(_ kind: JSONError.Kind, at place: UnsafePointer<UInt8>) -> JSONError {
        JSONError(kind, at: place - start)
    }

    func error(_ kind: JSONError.Kind) -> JSONError { error(kind, at: next) }
}
