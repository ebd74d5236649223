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
