internal import ProfileLogRequests

/// The body of a track request: its three arrays, and nothing yet of what is in their objects.
struct TrackBody: Sendable {
    /// An object, or why it cannot be read.
    typealias Element = Result<AttributeValue, TrackFault>

    private var objects = PerArray<[Element]>(repeating: [])

    /// What Braze says about a request without a usable object.
    static let nothingValid =
        "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields."

    /// Further members, `api_key` and `partner` among them, are ignored.
    init(_ bytes: [UInt8], _ limits: TrackLimits) throws {
        try self.init(bytes, perArray: limits.objectsPerArray, perRequest: limits.objectsPerRequest)
    }

    /// The body of a bulk request (spec/rest-api 1.2).
    init(bulk bytes: [UInt8], _ limits: TrackLimits) throws {
        guard bytes.count <= limits.bytesPerBulkRequest else {
            throw APIProblem.tooLarge("The body", bytes: limits.bytesPerBulkRequest)
        }
        try self.init(bytes, perArray: limits.objectsPerBulkRequest, perRequest: limits.objectsPerBulkRequest)
        var counts: [UserID: Int] = [:]
        for object in TrackArray.allCases.flatMap({ objects[$0] }) {
            guard let user = try? TrackTarget(object.get()).user else { continue }
            counts[user, default: 0] += 1
        }
        let most = counts.values.max() ?? 0
        guard most <= limits.objectsPerUserInBulk else {
            throw APIProblem.tooMany("one user has \(most) objects", most: limits.objectsPerUserInBulk)
        }
    }

    private init(_ bytes: [UInt8], perArray: Int, perRequest: Int) throws {
        for (array, values) in try Self.arrays(bytes) {
            guard values.count <= perArray else {
                throw APIProblem.tooMany("'\(array.rawValue)' has \(values.count) objects", most: perArray)
            }
            objects[array] = values
        }
        guard count <= perRequest else {
            throw APIProblem.tooMany("the request has \(count) objects", most: perRequest)
        }
        guard count > 0 else {
            throw APIProblem(
                status: 400, code: "nothing_valid", error: Self.nothingValid,
                remedy: "Send at least one object in one of the three arrays.")
        }
    }

    /// Objects in all arrays.
    var count: Int { TrackArray.allCases.reduce(0) { $0 + objects[$1].count } }

    subscript(array: TrackArray) -> [Element] { objects[array] }

    private static func arrays(_ bytes: [UInt8]) throws -> [(TrackArray, [Element])] {
        do {
            let body = try BodyObject.read(bytes)
            return try TrackArray.allCases.compactMap { array in
                guard let value = body.present(Name(array.rawValue)) else { return nil }
                switch value {
                case .array(let values): return (array, values.map { .success($0) })
                case .object: return (array, [.success(value)])  // one, without an array around it
                default: throw APIProblem.invalid(array.rawValue, "must be an array")
                }
            }
        } catch let error as JSONError where error.isAboutAValue {
            try JSONSyntax.check(bytes)
            // One value that cannot be read refuses the object that has it, if it is in one.
            guard let arrays = ObjectwiseReading(bytes, maxDepth: BodyObject.maxDepth)?.arrays else { throw error }
            return arrays
        }
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

/// The three arrays of a track request, in the order in which their objects take effect.
enum TrackArray: String, CaseIterable {
    case attributes
    case events
    case purchases

    /// The member of the answer that counts them.
    var processedKey: String { "\(rawValue)_processed" }
}

/// A value for each of the three arrays.
struct PerArray<Value> {
    private var attributes: Value
    private var events: Value
    private var purchases: Value

    /// `value` for each.
    init(repeating value: Value) { (attributes, events, purchases) = (value, value, value) }

    subscript(array: TrackArray) -> Value {
        get {
            switch array {
            case .attributes: attributes
            case .events: events
            case .purchases: purchases
            }
        }
        set {
            switch array {
            case .attributes: attributes = newValue
            case .events: events = newValue
            case .purchases: purchases = newValue
            }
        }
    }
}

extension PerArray: Sendable where Value: Sendable {}

/// The log refuses an object. The place may name an attribute.
struct RefusedByLog: Error {
    var place: String
    var reason: String
}

/// An object that was refused, as shown in `errors`.
struct TrackError: Hashable {
    var type: String
    /// The same as the log keeps it: without names that the sender chose.
    var kept: String
    var array: TrackArray
    var index: Int
}

/// What was taken from a request and not stored, as shown in `dropped`.
struct TrackDrop: Hashable {
    var reason: String
    var array: TrackArray
    var index: Int
    /// The field that was skipped; nil if it is the whole object.
    var field: Field?

    enum Field: Hashable {
        case named(String)
        /// Its place among the request's `SentNames`.
        case at(Int)
    }
}
