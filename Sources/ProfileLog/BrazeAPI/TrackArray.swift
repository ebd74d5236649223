internal import ProfileLogRequests

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
    init(repeating value: Value) {
        attributes = value
        events = value
        purchases = value
    }

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
