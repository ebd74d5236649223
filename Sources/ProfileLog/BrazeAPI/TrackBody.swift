internal import ProfileLogRequests

/// The body of a track request: its three arrays, and nothing yet of what is in their objects.
struct TrackBody: Sendable {
    /// An object, or why it cannot be read.
    typealias Element = Result<AttributeValue, TrackError>

    private var objects = PerArray<[Element]>(repeating: [])
    /// Members that are not known, and the arrays that were perhaps meant.
    private(set) var misspelt: [Misspelling] = []

    /// Braze's sentence about a request without a usable object.
    static let nothingValid =
        "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields."

    /// Further members, `api_key` and `partner` among them, are ignored.
    init(_ bytes: [UInt8], _ limits: TrackLimits) throws {
        try self.init(bytes, perArray: limits.objectsPerArray, perRequest: limits.objectsPerRequest)
    }

    /// The body of a bulk request (spec/rest-api 1.2).
    init(bulk bytes: [UInt8], _ limits: TrackLimits) throws {
        guard bytes.count <= limits.bytesPerBulkRequest else {
            throw APIError.tooLarge("The body", bytes: limits.bytesPerBulkRequest)
        }
        try self.init(bytes, perArray: limits.objectsPerBulkRequest, perRequest: limits.objectsPerBulkRequest)
        var counts: [UserID: Int] = [:]
        for object in TrackArray.allCases.flatMap({ objects[$0] }) {
            guard let user = try? TrackTarget(object.get()).user else { continue }
            counts[user, default: 0] += 1
        }
        let most = counts.values.max() ?? 0
        guard most <= limits.objectsPerUserInBulk else {
            throw APIError.tooMany("one user has \(most) objects", most: limits.objectsPerUserInBulk)
        }
    }

    /// The objects of `attributes`, from another request.
    init(attributes: [AttributeValue], _ limits: TrackLimits) throws {
        objects[.attributes] = attributes.map { .success($0) }
        try check(perArray: limits.objectsPerArray, perRequest: limits.objectsPerRequest)
    }

    private init(_ bytes: [UInt8], perArray: Int, perRequest: Int) throws {
        for (array, values) in try arrays(bytes) { objects[array] = values }
        try check(perArray: perArray, perRequest: perRequest)
    }

    private func check(perArray: Int, perRequest: Int) throws {
        for array in TrackArray.allCases where objects[array].count > perArray {
            throw APIError.tooMany("'\(array.rawValue)' has \(objects[array].count) objects", most: perArray)
        }
        guard count <= perRequest else {
            throw APIError.tooMany("the request has \(count) objects", most: perRequest)
        }
        guard count > 0 else {
            throw APIError(
                status: 400, code: "nothing_valid", error: Self.nothingValid,
                remedy: "Send at least one object in one of the three arrays.")
        }
    }

    /// Objects in all arrays.
    var count: Int { TrackArray.allCases.reduce(0) { $0 + objects[$1].count } }

    subscript(array: TrackArray) -> [Element] { objects[array] }

    private mutating func arrays(_ bytes: [UInt8]) throws -> [(TrackArray, [Element])] {
        let body: AttributeValue
        var (elementErrors, bodyError): ([Name: [JSONError?]], JSONError?) = ([:], nil)
        do {
            body = try BodyObject.read(bytes)
        } catch let error as JSONError where error.isAboutAValue {
            // A value that cannot be kept refuses the object around it, if there is one.
            (body, elementErrors) = try JSON.parseObjectwise(bytes, maxDepth: BodyObject.maxDepth)
            let isElsewhere = elementErrors.contains { name, elementErrors in
                TrackArray(rawValue: name.text) == nil && elementErrors.contains { $0 != nil }
            }
            guard case .object = body, !isElsewhere else { throw error }
            bodyError = error
        }
        misspelt = Misspelling.all(in: body, among: TrackArray.allCases.map(\.rawValue))
        return try TrackArray.allCases.compactMap { array in
            let name = Name(array.rawValue)
            guard let value = body.present(name) else { return nil }
            guard case .array(let values) = value.isObject ? .array([value]) : value else {
                if let bodyError { throw bodyError }
                throw APIError.invalid(array.rawValue, "must be an array")
            }
            guard let elementErrors = elementErrors[name] else { return (array, values.map { .success($0) }) }
            return (array, zip(values, elementErrors).map { $1.map { .failure(TrackError($0)) } ?? .success($0) })
        }
    }
}

extension AttributeValue {
    /// Tells whether an object without an array around it counts as an element.
    var isObject: Bool { if case .object = self { true } else { false } }
}

extension JSONError {
    /// Tells whether the text is well-formed as far as it was read, and has a value that we cannot keep.
    fileprivate var isAboutAValue: Bool {
        switch kind {
        case .integerTooLarge, .numberTooLarge, .loneSurrogate, .duplicateKey, .tooDeep: true
        default: false
        }
    }
}

extension TrackError {
    /// An object has a value that cannot be kept.
    fileprivate init(_ error: JSONError) {
        // Without a key that the sender chose.
        let kept: String? = if case .duplicateKey = error.kind { "a key is twice in one object" } else { nil }
        self = .object(error.kind.description, kept: kept)
    }
}

/// The JSON object that every request of the REST API has for a body.
enum BodyObject {
    /// Arrays and objects within each other: those of a value, and the ones around it.
    static let maxDepth = Limits.valueDepth + 4

    static func read(_ bytes: [UInt8]) throws -> AttributeValue {
        .object(
            try APIRequest.members(
                of: bytes, maxDepth: maxDepth, remedy: "Send a JSON object, in UTF-8, as application/json."))
    }
}

/// Members of a body, or of an object in it: nil where there is none, or `null`. `place` is where the object is, as in
/// `recipients[0].`.
extension AttributeValue {
    /// The member as `read` takes it. If that gives nil, the request is refused for `reason`.
    func member<Value>(
        _ key: Name, in place: String = "", _ reason: String, _ read: (AttributeValue) -> Value?
    ) throws -> Value? {
        guard let value = present(key) else { return nil }
        guard let read = read(value) else { throw APIError.invalid("\(place)\(key)", reason) }
        return read
    }

    func array(_ key: Name, of what: String = "") throws -> [AttributeValue]? {
        try member(key, "must be an array\(what)", \.asArray)
    }

    /// Empty text counts as none.
    func text(_ key: Name) throws -> String? {
        try member(key, "must be text", \.asText).flatMap { $0.isEmpty ? nil : $0 }
    }

    func flag(_ key: Name, in place: String = "") throws -> Bool? {
        try member(key, in: place, "must be true or false", \.asFlag)
    }

    func object(_ key: Name, in place: String = "") throws -> AttributeValue? {
        try member(key, in: place, "must be an object") { $0.isObject ? $0 : nil }
    }
}

/// Members of an object of a request that is refused alone, while the others are taken.
extension AttributeValue {
    /// The member as `read` takes it; nil where there is none, or `null`.
    func optional<Value>(
        _ key: Name, _ read: (AttributeValue) throws(TrackError) -> Value?
    ) throws(TrackError) -> Value? {
        guard let value = present(key) else { return nil }
        guard let read = try read(value) else { throw .notValid(key.text) }
        return read
    }

    func required<Value>(
        _ key: Name, _ read: (AttributeValue) throws(TrackError) -> Value?
    ) throws(TrackError) -> Value {
        guard let value = try optional(key, read) else { throw .required(key.text) }
        return value
    }
}

/// The three arrays of a track request, in the order in which their objects take effect.
enum TrackArray: String, CaseIterable {
    case attributes
    case events
    case purchases

    fileprivate var index: Int { self == .attributes ? 0 : self == .events ? 1 : 2 }

    /// The member of the answer that counts them.
    var processedKey: String { "\(rawValue)_processed" }
}

/// A value for each of the three arrays.
struct PerArray<Value> {
    private var values: InlineArray<3, Value>

    /// `value` for each.
    init(repeating value: Value) { values = InlineArray(repeating: value) }

    subscript(array: TrackArray) -> Value {
        get { values[array.index] }
        set { values[array.index] = newValue }
    }
}

extension PerArray: Sendable where Value: Sendable {}

/// The log refuses an object. The place may name an attribute.
struct LogRefusal: Error {
    var place: String
    var reason: String
}

/// An object that was refused, as shown in `errors`.
struct TrackObjectError: Hashable {
    var type: String
    /// The same as the log keeps it: without names that the sender chose.
    var kept: String
    var array: TrackArray
    var index: Int
}

/// A part of the request that was not stored, as shown in `dropped`; in `notes`, stored values that are likely to be
/// mistakes.
struct TrackRefusal: Hashable {
    var reason: String
    var array: TrackArray
    var index: Int
    /// The field that was skipped; nil if it is the whole object.
    var field: String?
}
